"""Functions that no kernel computes, of the columns of several events: every place that reads them eq definition."""

from __future__ import annotations

import random

import pytest
from tests.kit.conditions import place_condition, text_condition
from tests.kit.oracle import bound
from tests.kit.programs import Case
from tests.kit.rows import Rows
from tests.properties.lettered import check_local, check_pushed

import inkling
from inkling.evaluators.network import calls
from inkling.model.event import Value

STREAMS = "\n".join(
    f"STREAM {name}(id STRING, k STRING, x INT, y DOUBLE, s STRING, t BIGINT) ID id KEY k TIME t;" for name in "AB"
)
PATTERNS = (
    "SEQ({first}, {second}) WITHIN 5 TICKS",
    "SEQ NEXT({first}, {second}) WITHIN 6 TICKS",
    "SEQ STRICT({first}, {second}) WITHIN 6 TICKS PARTITION BY k",
    "SEQ NEXT({first}, {second}, B c) HAVING {last} WITHIN 6 TICKS",
    "SEQ({first}, NOT {second}, B c) WITHIN 4 TICKS",
    "SEQ({first}, NOT {second}) WITHIN 3 TICKS",
    "SEQ NEXT({first}, B b+ CHECK ({own}), A c) WITHIN 6 TICKS",
    "SEQ NEXT({first}, B b[{back}]+) WITHIN 5 TICKS",
    "SEQ({first}, B b[{back}]{{1,2}}) WITHIN 4 TICKS PARTITION BY k",
    "({first} AND {second} WITHIN 3 TICKS) HAVING {own}",
    "({first} OR B c), {second}",
    "SEQ({first}, {second}) WITHIN 9 TICKS CONSUME RECENT",
    "SEQ({first}, {second}) WITHIN 9 TICKS CONSUME CHRONOLOGICAL",
    "SEQ({first}, {second}, B c) HAVING {last} WITHIN 9 TICKS CONSUME CHRONOLOGICAL KEEPING",
    "SEQ({first}, NOT B d[{absent}], {second}) WITHIN 9 TICKS CONSUME RECENT KEEPING",
    "({first} AND {second} WITHIN 5 TICKS) HAVING {own} CONSUME CHRONOLOGICAL KEEPING",
)


CHOSEN = (
    "coalesce({one}x, {other}x, 0) > if({other}x > 1, {one}x, {other}y)",
    "coalesce({one}s, {other}s) = if({one}x >= {other}x, {other}s, 'b')",
    "(if({one}s = {other}s, {one}x, {other}x) IS NULL OR coalesce({one}y, {other}x) > 1)",
    "if({one}x > {other}x, {one}y > 0, {other}y > 1)",
    "coalesce(lower({other}s), 'b') = {one}s",
    "if({one}x = {other}x, NULL, {one}s) <> coalesce({other}s, 'none')",
)


def of_both(rng: random.Random, one: str, other: str) -> str:
    """A condition on two events; `one` and `other` are what stands before their columns."""
    x, y = rng.choice("xy"), rng.choice("xy")
    called = rng.choice((text_condition(rng, f"{one}s", f"{other}s"), place_condition(rng, one + x, other + y)))
    plain = f"{one}x {rng.choice(('<', '>=', '<>'))} {other}x"
    chosen = rng.choice(CHOSEN).format(one=one, other=other)
    return rng.choice((called, called, chosen, f"({called}) AND {plain}", f"({called}) OR {plain}"))


def random_case(rng: random.Random, pattern: str) -> Case:
    written = pattern.format(
        first="A a",
        second=f"B b[{of_both(rng, '', 'a.')}]",
        own=of_both(rng, "b.", "a."),
        last=of_both(rng, "c.", rng.choice(("a.", "b."))),
        absent=of_both(rng, "", "a."),
        back=text_condition(rng, "s", "LAST(b).s"),
    )
    if pattern.startswith("(") and "), " in pattern:
        written = f"SEQ({written})"
    text = f"{STREAMS}\nEVENT e AS PATTERN {written};"
    rows: Rows = {"A": [], "B": []}
    for number in range(14):
        s, x, y = rng.choice("abc"), rng.randrange(4), rng.choice((0.0, 0.5, 1.5, 2.0))
        values: dict[str, Value] = {"x": x, "y": y, "s": s}
        row = {"id": f"e{number}", "k": rng.choice("pq"), "t": rng.randint(1, 12), **values}
        for column in "xys":
            if rng.random() < 0.08:
                row[column] = None
        rows[rng.choice("AABBB")].append(row)
    return Case(text, bound(text), rows, {})


@pytest.mark.parametrize("seed", range(2))
def test_local_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    fruitful = dict.fromkeys(PATTERNS, 0)
    for pattern in PATTERNS * 8:
        case = random_case(rng, pattern)
        fruitful[pattern] += bool(check_local(case)["e"])
    assert all(fruitful.values())


def test_streams_eq_definition() -> None:
    rng = random.Random(5)
    for pattern in PATTERNS:
        case = random_case(rng, pattern)
        check_pushed(rng, case)


def test_what_a_call_raises_passes_through_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(calls, "value_of", interrupted)
    program = inkling.parse(f"{STREAMS}\nEVENT e AS PATTERN SEQ(A a, B b[concat(a.s, s) = 'ab']);")
    row = {"id": "e", "k": "p", "x": 1, "y": 1.0, "s": "a"}
    with pytest.raises(KeyboardInterrupt):
        program.run_local({"A": [{**row, "t": 1}], "B": [{**row, "id": "f", "t": 2}]})
