"""Forecasts over a stream of alternatives on Spark: what one process says."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession

import inkling

pytestmark = pytest.mark.spark

STREAM = "STREAM R(id STRING, k STRING, s STRING, t BIGINT) ID id KEY k TIME t"
ASKED = """
    EVENT ab(k) AS PATTERN SEQ STRICT(R[s = 'a'], R[s = 'b']) PARTITION BY k PER END;
    FORECAST f OF ab WITHIN 3 EVENTS INCLUDING FINAL RETURN DISTRIBUTION;
    FORECAST g OF ab INTERVAL SHORTEST CONFIDENCE >= 0.2 HORIZON 5;
"""


@pytest.mark.long
def test_forecasts_on_beliefs(spark: SparkSession) -> None:
    rng = random.Random(1)
    past = [{"id": str(t), "k": "x", "s": rng.choice("aabc"), "t": t} for t in range(200)]
    models = inkling.parse(f"{STREAM} ORDER BY t;{ASKED}").fit({"R": past}, settings=inkling.FitSettings(order=2))
    program = inkling.parse(f"{STREAM} PROBABILITY p;{ASKED}")
    rows = [
        {"id": f"{k}{t}{s}", "k": k, "s": s, "t": t, "p": p}
        for k in "xyz"
        for t in range(20)
        for s, p in zip(rng.sample("abc", 2), (0.5, 0.3), strict=True)
    ]
    here = program.run_local({"R": rows}, models).tables
    results = program.run(spark, {"R": rows}, models, partitions=2)
    for name in ("ab", "f", "g"):
        found = sorted(results[name].toArrow().to_pylist(), key=lambda row: (row["k"], row["end"]))
        wanted = sorted(here[name].to_pylist(), key=lambda row: (row["k"], row["end"]))
        assert len(wanted) > 20
        for one, other in zip(found, wanted, strict=True):
            assert one["probability"] == pytest.approx(other["probability"], abs=1e-12)
            assert all(one[key] == other[key] for key in ("k", "end", "method", "lineage"))
            if name != "ab":
                assert one["event_number"] == other["event_number"]
                assert (one["first"], one["last"]) == (other["first"], other["last"])
