"""Scores of forecasts on Spark, which collects nothing but sums, are those of this process."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from inkling import parse

PROGRAM = """
STREAM V(key STRING, s STRING, t BIGINT) KEY key TIME t ORDER BY t;
EVENT ab AS PATTERN SEQ STRICT(V[s = 'A'], V[s <> 'A']) PARTITION BY key PER END CONSUME RESTART;
FORECAST soon OF ab WITHIN 2 EVENTS;
FORECAST later OF ab INTERVAL SHORTEST CONFIDENCE >= 0.6 HORIZON 20;
"""
DEMO = "AABAAACCCBBCCCCAAAACABCAACAABBCABBCACBBCCCACBCACCBABCBBAAACCACCAACCCABACBBBBBCBCCCBABBBAABCAABCCABBA"
ROWS = [
    {"key": key, "s": letter, "t": number}
    for key in "xyz"
    for number, letter in enumerate(DEMO[ord(key) - ord("x") :], 1)
]


@pytest.mark.spark
def test_sums_are_the_same(spark: SparkSession) -> None:
    program = parse(PROGRAM)
    here = program.score({"V": ROWS}, orders=[1], until=60)
    there = program.score({"V": ROWS}, orders=[1], until=60, spark=spark)
    assert here.keys() == there.keys()
    for name, scores in here.items():
        expected = {row["name"]: row for row in scores.to_table().to_pylist()}
        found = {row["name"]: row for row in there[name].to_table().to_pylist()}
        assert {"order 1"} <= found.keys() <= expected.keys()
        for way, row in found.items():
            assert row == {
                column: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
                for column, value in expected[way].items()
            }
    assert [card.name for card in there["soon"].cards] == [card.name for card in here["soon"].cards]
    assert here["soon"].card("order 1").tally.n_forecasts > 50
