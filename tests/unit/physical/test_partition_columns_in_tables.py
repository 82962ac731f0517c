"""A column of PARTITION BY as the argument of a table: the value of the event at hand."""

from __future__ import annotations

import inkling

PROGRAM = """
STREAM G(id STRING, driver STRING, t BIGINT) ID id KEY driver TIME t;
TABLE drivers(driver STRING, rank BIGINT) FROM 'drivers.csv';
EVENT ranked(driver, rank) AS PATTERN G g WHERE drivers(driver, rank) PARTITION BY driver;
"""


def test_a_table_is_asked_for_the_key() -> None:
    rows = {"G": [{"id": "a", "driver": "x", "t": 1}, {"id": "b", "driver": "y", "t": 2}]}
    facts = {"drivers": [{"driver": "x", "rank": 3}, {"driver": "z", "rank": 4}]}
    found = inkling.parse(PROGRAM).run_local(rows, facts).tables["ranked"]
    assert [(row["driver"], row["rank"], row["lineage"]) for row in found.to_pylist()] == [("x", 3, ["a"])]
