"""What a stream keeps is bounded: nothing stays of keys about which nothing more can become known."""

from __future__ import annotations

import pytest
from tests.kit.oracle import oracle

import inkling
from inkling.evaluators.stage import member

STREAM = "STREAM E(id INT, k INT, kind STRING, t INT) ID id KEY k TIME t ORDER BY id LATENESS 5 TICKS;\n"
PROGRAMS = {
    "window": "EVENT e AS PATTERN SEQ (E a[kind = 'a'], E b[kind = 'b']) WITHIN 20 TICKS PARTITION BY k;",
    "absence": "EVENT e AS PATTERN SEQ (E a[kind = 'a'], NOT E b[kind = 'b']) WITHIN 20 TICKS PARTITION BY k;",
    "timeout": "EVENT e AS PATTERN SEQ (E a[kind = 'a'], E b[kind = 'b']) WITHIN 20 TICKS PARTITION BY k ON TIMEOUT o;",
    "automaton": "EVENT e AS PATTERN SEQ NEXT (E a[kind = 'a'], E b[kind = 'b']) PARTITION BY k PER END;",
}
ROUNDS = 30
KEYS_PER_ROUND = 100


def _rows(number: int) -> list[dict[str, object]]:
    """New keys every round; each opens a match, and closes it one round later."""
    rows: list[dict[str, object]] = []
    for key in range(KEYS_PER_ROUND):
        rows.append({"k": number * KEYS_PER_ROUND + key, "kind": "a"})
        if number:
            rows.append({"k": (number - 1) * KEYS_PER_ROUND + key, "kind": "b"})
    first = number * 2 * KEYS_PER_ROUND
    return [{"id": first + place, "t": 10 * number, **row} for place, row in enumerate(rows)]


@pytest.mark.parametrize("kind", PROGRAMS)
def test_state_does_not_grow_with_keys_that_come_and_go(kind: str) -> None:
    stream = inkling.parse(STREAM + PROGRAMS[kind]).open()
    sizes = []
    for number in range(ROUNDS):
        stream.push({"E": _rows(number)})
        sizes.append(len(stream.snapshot()))
    assert max(sizes[ROUNDS // 2 :]) <= 1.2 * max(sizes[5 : ROUNDS // 2])


@pytest.mark.parametrize("kind", PROGRAMS)
def test_nothing_is_kept_after_the_end(kind: str) -> None:
    program = inkling.parse(STREAM + PROGRAMS[kind])
    empty = len(_finished(program, 1))
    assert len(_finished(program, ROUNDS)) <= 1.2 * empty


def test_an_earlier_match_with_the_same_end_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of matches that end together the first to start is the result, also when a later one is known much later."""
    monkeypatch.setattr(member, "SPARE_ROWS", 0)
    pattern = "SEQ ANY (_*, E v[kind = 'a'], NOT E w[kind = 'b']) WITHIN 2 TICKS PER END"
    program = inkling.parse(f"{STREAM.replace(' LATENESS 5 TICKS', '')} EVENT e AS PATTERN {pattern};")
    rows = [{"id": t, "k": 1, "kind": kind, "t": t} for t, kind in ((0, "c"), (2, "a"), (3, "c"), (9, "c"))]
    stream = program.open()
    found = [row for one in rows for row in stream.push({"E": [one]})["e"].to_pylist()]
    found += stream.finish()["e"].to_pylist()
    assert [(row["start"], row["end"]) for row in found] == [(0, 2)]
    assert [(one.start, one.end) for one in oracle(program.plan, {"E": rows})["e"]] == [(0, 2)]


def _finished(program: inkling.Program, rounds: int) -> bytes:
    stream = program.open()
    for number in range(rounds):
        stream.push({"E": _rows(number)})
    closing = [{"id": 10**6 + key, "k": key, "kind": "b", "t": 10 * rounds} for key in range(rounds * KEYS_PER_ROUND)]
    stream.push({"E": closing})
    stream.finish()
    return stream.snapshot()
