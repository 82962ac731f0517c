"""Consumption policies in every world: simultaneous events come in the order of the ids that their stream gives."""

from __future__ import annotations

import pytest

import inkling

PROGRAM = """
STREAM A(id STRING, t BIGINT, p DOUBLE) ID id KEY id TIME t PROBABILITY p;
STREAM B(id STRING, t BIGINT, p DOUBLE) ID id KEY id TIME t PROBABILITY p;
EVENT x AS PATTERN SEQ(A a, B b) CONSUME RECENT;
"""


@pytest.mark.parametrize(("one", "other"), [("B4", "x"), ("x", "B4"), ("q", "p"), ("k17", "k2"), ("z9", "Q1")])
def test_the_first_of_two_simultaneous_events_takes_what_is_stored(one: str, other: str) -> None:
    """The first is paired if it and the stored event are there; the second only if the first is not."""
    rows = {"A": [{"id": "a", "t": 1, "p": 0.5}], "B": [{"id": one, "t": 2, "p": 0.5}, {"id": other, "t": 2, "p": 0.5}]}
    found = inkling.parse(PROGRAM).run_local(rows).tables["x"].to_pylist()
    first, second = sorted((one, other))
    assert {row["lineage"][1]: row["probability"] for row in found} == {first: 0.25, second: 0.125}
