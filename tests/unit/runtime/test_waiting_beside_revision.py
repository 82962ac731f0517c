"""Streams that are waited for, in programs in which others are corrected."""

from __future__ import annotations

from typing import Any

import pytest

import inkling
from inkling.runtime.revision import replay

JOINED = """
TABLE price(x INT, paid INT) FROM 'price.csv';
STREAM A(id STRING, k STRING, x INT, t INT) ID id KEY k TIME t LATENESS 20 TICKS;
STREAM S(id STRING, g INT, t INT) ID id KEY g TIME t LATENESS 20 TICKS SPECULATIVE;
EVENT paid(k, paid) AS PATTERN A a WHERE price(a.x, paid) PARTITION BY k;
EVENT twice(g) AS PATTERN SEQ(S s, S r) WITHIN 3 TICKS PARTITION BY g;
"""
PRICES = [{"x": x, "paid": 10 * x} for x in (3, 4, 5)]


def test_the_least_of_rows_with_one_id_takes_the_place_of_others_that_wait() -> None:
    program = inkling.parse(JOINED)
    assert len(program.physical.stages) == 2
    rows = [{"id": "a", "k": "p", "x": x, "t": 1} for x in (5, 3, 4)]
    stream = program.open({"price": PRICES})
    found = [*(stream.push({"A": [row]}) for row in rows), stream.finish()]
    told = [row["paid"] for one in found for row in one.tables["paid"].to_pylist()]
    over_tables = program.run_local({"A": rows, "S": []}, tables={"price": PRICES})
    assert told == over_tables.tables["paid"]["paid"].to_pylist() == [30]
    assert sum(len(one.rejects) for one in found) == 2


IDLE = """
STREAM A(id STRING, k STRING, t INT) ID id KEY k TIME t LATENESS {wait};
STREAM S(id STRING, t INT) ID id TIME t LATENESS 2 TICKS SPECULATIVE;
EVENT alone(k) AS PATTERN SEQ(A a, NOT A b) WITHIN 8 TICKS PARTITION BY k;
EVENT then AS PATTERN SEQ(alone a, S s) WITHIN 400 TICKS;
"""


@pytest.mark.parametrize("wait", ["10 TICKS", "10 TICKS SPECULATIVE"])
def test_what_was_held_back_while_a_stream_was_idle_is_told_afterwards(
    wait: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second stage continued with S and has forgotten how things stood; what A brings counts from then on."""
    monkeypatch.setattr(replay, "SPARE_ROWS", 0)
    stream = inkling.parse(IDLE.format(wait=wait)).open()
    stream.push({"A": [{"id": "a", "k": "p", "t": 5}]})
    stream.idle("A")
    for time in (100, 200):
        stream.push({"S": [{"id": f"s{time}", "t": time}]})
    found = [stream.push({"A": [{"id": "b", "k": "p", "t": 300}]})]
    found += [stream.push({"S": [{"id": "s310", "t": 310}]}), stream.finish()]
    assert lineages(found, "alone") == [["a"], ["b"]]
    assert ["a", "s310"] in lineages(found, "then")
    assert ["b", "s310"] in lineages(found, "then")


def lineages(found: list[Any], event: str) -> list[list[str]]:
    return [row["lineage"] for one in found for row in one.tables[event].to_pylist() if row["op"] == "+"]


def test_delays_after_the_end_are_counted_from_the_last_row() -> None:
    text = "STREAM A(id STRING, t INT) ID id TIME t OP op FOR 9 TICKS; EVENT e AS PATTERN A a;"
    stream = inkling.parse(text).open()
    stream.push({"A": [{"id": "a", "t": 100, "op": "+"}]})
    stream.finish()
    rows = [{"id": "b", "t": 97, "op": "+"}, {"id": "a", "t": None, "op": "-"}]
    late = stream.push({"A": rows}).late.to_pylist()
    assert {row["id"]: row["delay"] for row in late} == {"a": 0, "b": 3}
