"""Facts that follow from rules: what ends, what does not, and what changes with the tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import inkling
from inkling.errors import InputError
from inkling.knowledge import materialize
from inkling.knowledge import materialize as relations
from inkling.knowledge.materialize import known
from inkling.model.time import Clock, TimeUnit

TICKS = TimeUnit(Clock.TICKS)
LINKS = """STREAM S(a INTEGER, b INTEGER) TIME t;
TABLE link(a INTEGER, b INTEGER) FROM 'link.csv';
RULE reach(a, b) IF link(a, b);
RULE reach(a, c) IF reach(a, b) AND link(b, c);
EVENT there AS PATTERN S p WHERE reach(p.a, p.b);
"""


def links(*pairs: tuple[int, int]) -> pa.Table:
    columns = zip(*pairs, strict=True) if pairs else ((), ())
    return pa.table([pa.array(column, pa.int64()) for column in columns], ["a", "b"])


def test_closure_of_a_long_chain() -> None:
    chain = links(*[(n, n + 1) for n in range(200)])
    facts = known(inkling.parse(LINKS).plan, {"link": chain}, TICKS)["reach"]
    assert len(facts) == 200 * 201 // 2


def test_closure_of_a_random_graph_is_that_of_matrices() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(2, 12))
        matrix = rng.random((n, n)) < 0.2
        closed = matrix.copy()
        for middle in range(n):
            closed |= closed[:, [middle]] & closed[[middle], :]
        table = links(*[(int(a), int(b)) for a, b in zip(*np.nonzero(matrix), strict=True)])
        facts = known(inkling.parse(LINKS).plan, {"link": table}, TICKS)["reach"]
        wanted = {(int(a), int(b)) for a, b in zip(*np.nonzero(closed), strict=True)}
        assert {(row["a"], row["b"]) for row in facts.to_pylist()} == wanted


def test_rules_that_call_each_other() -> None:
    text = """STREAM S(a INTEGER) TIME t;
    TABLE link(a INTEGER, b INTEGER) FROM 'link.csv';
    RULE even(0); RULE even(b) IF odd(a) AND link(a, b);
    RULE odd(b) IF even(a) AND link(a, b);
    EVENT found AS PATTERN S p WHERE even(p.a);"""
    facts = known(inkling.parse(text).plan, {"link": links(*[(n, n + 1) for n in range(6)])}, TICKS)
    assert sorted(facts["even"].column(0).to_pylist()) == [0, 2, 4, 6]
    assert sorted(facts["odd"].column(0).to_pylist()) == [1, 3, 5]


def test_values_that_are_bounded_come_to_an_end() -> None:
    text = """STREAM S(a INTEGER) TIME t;
    RULE upto(1); RULE upto(n + 1) IF upto(n) AND n < 50;
    EVENT found AS PATTERN S p WHERE upto(p.a);"""
    facts = known(inkling.parse(text).plan, {}, TICKS)["upto"]
    assert sorted(facts.column(0).to_pylist()) == list(range(1, 51))


def test_values_without_bound_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(materialize, "MAX_ROUNDS", 200)
    text = """STREAM S(a INTEGER) TIME t;
    RULE upto(1); RULE upto(n + 1) IF upto(n);
    EVENT found AS PATTERN S p WHERE upto(p.a);"""
    with pytest.raises(InputError, match="INK0349"):
        known(inkling.parse(text).plan, {}, TICKS)


def test_too_many_facts_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relations, "MAX_FACTS", 1000)
    text = """STREAM S(a INTEGER) TIME t;
    TABLE link(a INTEGER, b INTEGER) FROM 'link.csv';
    RULE pair(a, c) IF link(a, _) AND link(c, _);
    EVENT found AS PATTERN S p WHERE pair(p.a, 1);"""
    with pytest.raises(InputError, match="INK0348"):
        known(inkling.parse(text).plan, {"link": links(*[(n, n) for n in range(40)])}, TICKS)


def test_division_by_zero_is_null_and_fails_every_comparison() -> None:
    text = """STREAM S(a INTEGER) TIME t;
    RULE ratio(a, r) IF r = 10 / a;
    RULE high(a) IF ratio(a, r) AND r > 1;
    RULE low(a) IF ratio(a, r) AND r <= 1;
    EVENT is_high AS PATTERN S p WHERE high(p.a);
    EVENT is_low AS PATTERN S p WHERE low(p.a);
    EVENT neither AS PATTERN S p WHERE NOT high(p.a) AND NOT low(p.a);"""
    found = inkling.parse(text).run_local({"S": [{"a": a, "t": a} for a in (0, 5, 20)]}).tables
    assert [found[name]["start"].to_pylist() for name in ("is_high", "is_low", "neither")] == [[5], [20], [0]]


def test_rules_without_arguments() -> None:
    text = """STREAM S(a INTEGER) TIME t;
    TABLE link(a INTEGER, b INTEGER) FROM 'link.csv';
    RULE alarm() IF link(1, _);
    RULE always();
    RULE alarm() IF alarm() AND always();
    RULE noted(a) IF link(a, _) AND alarm();
    RULE quiet(a) IF link(a, _) AND NOT alarm();
    EVENT loud AS PATTERN S p WHERE alarm() AND always();
    EVENT not_loud AS PATTERN S p WHERE NOT alarm();
    EVENT is_noted AS PATTERN S p WHERE noted(p.a);
    EVENT is_quiet AS PATTERN S p WHERE quiet(p.a);"""
    program = inkling.parse(text)

    def found(*pairs: tuple[int, int]) -> list[str]:
        tables = program.run_local({"S": [{"a": 2, "t": 0}]}, {"link": links(*pairs)}).tables
        return [name for name, table in tables.items() if len(table)]

    assert found((1, 2), (2, 3), (1, 3)) == ["loud", "is_noted"]
    assert found((2, 3)) == ["not_loud", "is_quiet"]


def test_facts_change_while_a_stream_runs() -> None:
    stream = inkling.parse(LINKS).open({"link": links((1, 2), (2, 3))})

    def ends_of(*asked: tuple[int, int, int]) -> list[int]:
        """What is found once a later row has shown that nothing else comes at that time."""
        rows = [{"a": a, "b": b, "t": t} for a, b, t in asked]
        rows.append({"a": 9, "b": 9, "t": asked[-1][2] + 1})
        found: list[int] = stream.push({"S": rows})["there"]["end"].to_pylist()
        return found

    assert ends_of((1, 4, 0), (1, 3, 1)) == [1]
    stream.replace_tables({"link": links((1, 2), (2, 3), (3, 4))})
    assert ends_of((1, 4, 10)) == [10]
    stream.replace_tables({"link": links((1, 2), (3, 4))})
    assert ends_of((1, 4, 20), (3, 4, 21)) == [21]


@pytest.mark.parametrize("kind", ["STRING", "INTEGER", "DOUBLE", "LONG"])
@pytest.mark.parametrize("denied", ["", "NOT "])
def test_pairs_of_events_that_a_rule_links(kind: str, denied: str) -> None:
    text = f"""STREAM S(v {kind}) TIME t;
    TABLE link(a {kind}, b {kind}) FROM 'link.csv';
    RULE reach(a, b) IF link(a, b);
    RULE reach(a, c) IF reach(a, b) AND link(b, c);
    EVENT pair AS PATTERN SEQ(S p, S q) WHERE {denied}reach(p.v, q.v) WITHIN 6 TICKS;"""
    rng = np.random.default_rng(3)
    spell = {"STRING": str, "INTEGER": int, "LONG": lambda v: v + 2**60, "DOUBLE": lambda v: v / 2}[kind]

    def value() -> object:
        return None if rng.random() < 0.1 else spell(int(rng.integers(0, 8)))

    rows = [{"v": value(), "t": time} for time in range(60)]
    table = [{"a": value(), "b": value()} for _ in range(7)]
    program = inkling.parse(text)
    reach = {tuple(row.values()) for row in known(program.plan, _typed(table, kind), TICKS)["reach"].to_pylist()}
    wanted = [
        (one["t"], other["t"])
        for one in rows
        for other in rows
        if 0 < other["t"] - one["t"] <= 6  # type: ignore[operator]
        and (None not in (one["v"], other["v"]) and (one["v"], other["v"]) in reach) == (denied == "")
    ]
    found = program.run_local({"S": rows}, _typed(table, kind)).tables["pair"]
    assert sorted(zip(found["start"].to_pylist(), found["end"].to_pylist(), strict=True)) == sorted(wanted)


def _typed(rows: list[dict[str, object]], kind: str) -> dict[str, pa.Table]:
    arrow = {"STRING": pa.string(), "INTEGER": pa.int64(), "LONG": pa.int64(), "DOUBLE": pa.float64()}[kind]
    return {"link": pa.table({name: pa.array([row[name] for row in rows], arrow) for name in ("a", "b")})}
