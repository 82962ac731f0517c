"""A row that resets its key is no event and parts what was before it from what comes after it, however rows come."""

from __future__ import annotations

import random

import pytest
from tests.kit.oracle import bound, oracle

from inkling import Program, parse
from inkling.errors import NotSupportedYet
from inkling.model.event import Value

STREAM = """
STREAM V(id BIGINT, k STRING, t BIGINT, place BIGINT, s STRING, x DOUBLE) ID id KEY k TIME t ORDER BY place
  DERIVE before = PREV(x), same = SINCE_CHANGE(s)
  RESET WHEN s = 'R' AND x >= 1;
"""
PROGRAM = f"""{STREAM}
STREAM W(id BIGINT, k STRING, t BIGINT, place BIGINT, s STRING) ID id KEY k TIME t ORDER BY place;
EVENT pair(k) AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b']) PARTITION BY k PER END;
EVENT later(k) AS PATTERN SEQ(V[s = 'a'], V v[s = 'b']) PARTITION BY k PER END RETURN v.before AS before;
EVENT nearest(k) AS PATTERN SEQ NEXT(V[s = 'a'], V[s = 'R'], V[s = 'b']) PARTITION BY k CONSUME RESTART PER END;
EVENT run(k) AS PATTERN SEQ STRICT(V[s = 'a' OR s = 'R']{{2,}}) PARTITION BY k PER END;
EVENT anew(k) AS PATTERN SEQ STRICT(V[before IS NULL], _, V) PARTITION BY k PER END;
EVENT steady(k) AS PATTERN SEQ STRICT(V[same >= 2]) PARTITION BY k PER END;
EVENT across(k) AS PATTERN SEQ(V[s = 'a'], W[s = 'a'], V[s = 'b']) PARTITION BY k PER END;
EVENT each(v.k AS k, v.s AS s, v.before AS before, v.same AS same) AS PATTERN V v;
"""
OWN = {"event", "start", "end", "detected_at", "probability", "method", "error", "op", "lineage"}
Rows = dict[str, list[dict[str, Value]]]
Found = dict[str, list[str]]


def some_rows(seed: int, *, ties: bool) -> Rows:
    chance = random.Random(seed)
    rows: Rows = {"V": [], "W": []}
    for number in range(chance.randrange(1, 30)):
        t = number // 3
        place = t % 2 if ties and chance.random() < 0.4 else number
        row: dict[str, Value] = {"id": number, "k": chance.choice("AB"), "t": t, "place": place}
        row["s"] = chance.choice("aabbR")
        if chance.random() < 0.75:
            rows["V"].append({**row, "x": float(chance.randrange(3))})
        else:
            rows["W"].append(row)
    return rows


def by_definition(rows: Rows) -> Found:
    found = oracle(bound(PROGRAM), rows)
    return {
        name: sorted(repr((one.values, one.start, one.end, one.lineage)) for one in results)
        for name, results in found.items()
    }


def shown(results: dict[str, list[dict[str, object]]]) -> Found:
    def text(row: dict[str, object]) -> str:
        values = tuple(value for name, value in row.items() if name not in OWN)
        lineage = row["lineage"]
        assert isinstance(lineage, list)
        return repr((values, row["start"], row["end"], tuple(lineage)))

    return {name: sorted(map(text, rows)) for name, rows in results.items()}


@pytest.fixture(scope="module")
def program() -> Program:
    return parse(PROGRAM)


@pytest.mark.parametrize("seed", range(40))
def test_at_once(program: Program, seed: int) -> None:
    """With simultaneous rows that nothing distinguishes too."""
    rows = some_rows(seed, ties=seed % 2 == 1)
    found = program.run_local(rows).tables
    assert shown({name: table.to_pylist() for name, table in found.items()}) == by_definition(rows)


@pytest.mark.parametrize("seed", range(100, 125))
def test_in_pieces(program: Program, seed: int) -> None:
    rows = some_rows(seed, ties=False)
    assert pushed(program, rows, random.Random(seed)) == by_definition(rows)


def pushed(program: Program, rows: Rows, chance: random.Random) -> Found:
    """Time after time, some of them together."""
    stream = program.open(unbounded=True)
    found: dict[str, list[dict[str, object]]] = {event.name: [] for event in program.plan.events}
    waiting: Rows = {"V": [], "W": []}
    for t in range(11):
        for name, some in rows.items():
            waiting[name] += [row for row in some if row["t"] == t]
        if t == 10 or chance.random() < 0.6:
            for name, table in stream.push(waiting).tables.items():
                found[name] += table.to_pylist()
            waiting = {"V": [], "W": []}
    for name, table in stream.finish().tables.items():
        found[name] += table.to_pylist()
    return shown(found)


def test_what_a_reset_does() -> None:
    """The run of three is cut, the derived column has no predecessor, and the row that resets is nowhere."""
    letters = ["a", "a", "R", "a", "b"]
    rows: Rows = {
        "V": [{"id": n, "k": "A", "t": n, "place": n, "s": s, "x": 1.0} for n, s in enumerate(letters)],
        "W": [],
    }
    found = parse(PROGRAM).run_local(rows).tables
    assert found["run"]["end"].to_pylist() == [1]
    assert found["pair"]["end"].to_pylist() == [4]
    assert found["later"]["before"].to_pylist() == [1.0]
    assert found["each"]["before"].to_pylist() == [None, 1.0, None, 1.0]
    assert found["anew"]["end"].to_pylist() == []


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ("SEQ(V a, V b) PARTITION BY k", "PER MATCH needs more than the end times of matches"),
        ("SEQ(V a, V b) PARTITION BY s PER END", "a row of `V` resets its key, which needs PARTITION BY k"),
        ("WINDOW V w LAST 3 EVENTS PARTITION BY k RETURN COUNT(w) AS n", "a window moves with every event"),
    ],
)
def test_where_it_is_not_clear_what_a_reset_clears(event: str, reason: str) -> None:
    with pytest.raises(NotSupportedYet) as caught:
        parse(f"{STREAM} EVENT x AS PATTERN {event};")
    (told,) = caught.value.diagnostics
    assert told.code == "INK0420"
    assert reason in told.notes
