"""Learning and forecasting on Spark: what they give in this process, whatever the number of partitions."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession
from tests.kit.naive_forecasts import RESET, STREAM, some_asked, some_rows

import inkling
from inkling import FitSettings, InputError, parse

N_FORECASTS = 5


@pytest.mark.long
def test_models_and_forecasts_do_not_depend_on_the_runner(spark: SparkSession) -> None:
    chance = random.Random("forecasts on Spark")
    asked = [some_asked(chance, number, resets=True) for number in range(N_FORECASTS)]
    program = parse(STREAM.format(reset=RESET) + "".join(one.text for one in asked))
    past, rows = some_rows(chance, 200, resets=True), some_rows(chance, 80, resets=True)
    for partitions, settings in ((1, FitSettings(order=2, until=120)), (5, FitSettings(order=2, share=0.25))):
        here = program.fit({"V": past}, settings=settings)
        there = program.fit({"V": past}, settings=settings, spark=spark, partitions=partitions)
        assert there.keys() == here.keys()
        assert all(there[name].to_arrow().equals(here[name].to_arrow()) for name in here)
    wanted = program.run_local({"V": rows}, here).tables
    found = program.run(spark, {"V": rows}, here, partitions=3).collect().tables
    assert sum(table.num_rows for table in wanted.values()) > 50
    for name, table in wanted.items():
        assert sorted(map(repr, found[name].to_pylist())) == sorted(map(repr, table.to_pylist()))


def test_what_is_wrong_with_a_model_is_said_before_anything_runs(spark: SparkSession) -> None:
    text = "STREAM V(s STRING, t BIGINT) TIME t ORDER BY t; FORECAST ab WITHIN 2 EVENTS;"
    text += "EVENT ab AS PATTERN SEQ STRICT(V[s = 'a'], V[s = 'b']) PER END;"
    rows = [{"s": letter, "t": t} for t, letter in enumerate("abacabab")]
    models = parse(text).fit({"V": rows}, settings=inkling.FitSettings(order=1))
    with pytest.raises(InputError, match="INK0631"):
        parse(text.replace("'b'", "'c'")).run(spark, {"V": rows}, models)
