"""Scores of forecasts on Spark, which collects nothing but sums, are those of this process."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import inkling
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
    here = program.score({"V": ROWS}, settings=inkling.ScoreSettings(order=[1], train_until=60))
    there = program.score({"V": ROWS}, settings=inkling.ScoreSettings(order=[1], train_until=60), spark=spark)
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


@pytest.mark.spark
def test_models_that_are_there_and_rejected_rows(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    program = parse(PROGRAM.replace("FORECAST later", "-- FORECAST later"))
    models = program.fit({"V": ROWS}, settings=inkling.FitSettings(order=1))
    rows = [*({**row, "t": str(row["t"])} for row in ROWS), {"key": "x", "s": "A", "t": "soon"}]
    here, there = (program.score({"V": rows}, models=models, spark=one)["soon"].to_table() for one in (None, spark))
    assert [record.getMessage().split(";")[0] for record in caplog.records] == ["1 row rejected: bad time in V (1)"] * 2
    said = program.run_local({"V": ROWS}, models).tables["soon"]
    for expected, found in zip(here.to_pylist(), there.to_pylist(), strict=True):
        assert found["name"] == expected["name"]
        assert found["forecasts"] == expected["forecasts"] == said.num_rows
        assert found["log_loss"] == pytest.approx(expected["log_loss"], rel=1e-9)
