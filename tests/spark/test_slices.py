"""Work without a key is cut by time: no cut may part a result from what it depends on."""

from __future__ import annotations

from pyspark.sql import SparkSession

import inkling

PROGRAM = """
STREAM A(id STRING, k STRING, t INT) ID id KEY k TIME t;
STREAM B(id STRING, k STRING, t INT) ID id KEY k TIME t;
EVENT d AS PATTERN SEQ (A a, NOT B b) WITHIN 300 TICKS PARTITION BY k;
EVENT e AS PATTERN SEQ (d x, A y) WITHIN 5 TICKS;
"""


def test_a_derived_event_may_be_known_long_after_it_ended(spark: SparkSession) -> None:
    """The absence of B settles at 301, far from the A at 3 that completes the match."""
    given = {
        "A": [{"id": f"a{time}", "k": "p", "t": time} for time in (1, 3, 500, 2000)],
        "B": [{"id": "b400", "k": "p", "t": 400}],
    }
    results = inkling.parse(PROGRAM).run(spark, given)
    assert [row["lineage"] for row in results["e"].collect()] == [["a1", "a3"]]
    phases = list[str]()
    assert len(results.collect(on_phase=phases.append)["e"]) == 1
    assert [one for one in phases if " tasks" not in one] == ["reading A", "reading B", "computing d", "computing e"]
    results.close()
