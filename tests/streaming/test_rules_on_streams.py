"""Random rule sets on Structured Streaming: what the definition gives, however the rows are cut and disordered.

Many rule sets share a program and many small streams share its data as keys, so that one query checks many cases.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.kit.arrival import arrivals
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import same_results
from tests.kit.many_rules import many_rules
from tests.kit.oracle import oracle
from tests.kit.seeds import for_long
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.universe import Declared, Kind
from tests.spark.one_job import KeptMessages

import inkling
from inkling.spark.streaming import query as running

RULE_SETS_IN_CI = 16
RULE_SETS_AT_LENGTH = 84
SEEDS = for_long(range(61))
DATASETS = 2
MICRO_BATCHES = 3
LATENESS = 3
WORLDS = {
    "points": [Declared("A", Kind.POINTS, True, "seq", ""), Declared("B", Kind.POINTS, True, "seq", "SINCE_CHANGE(s)")],
    "mixed": [Declared("L", Kind.INTERVALS, True, "seq", ""), Declared("V", Kind.ORDERED, True, "seq", "")],
}


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_rules_on_streams_eq_definition(
    seed: int, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, n_rule_sets = sorted(WORLDS)[(seed - 1) % 2], RULE_SETS_AT_LENGTH if seed else RULE_SETS_IN_CI
    rng = random.Random(f"streaming rules over {world}: {seed}")
    streams = WORLDS[world]
    many = many_rules(rng, streams, n_rule_sets, lateness=LATENESS)
    program = many.program
    tables = random_tables(rng)
    rows = many.rows(pack([random_rows(rng, streams, n_events=4, bad_rows=False) for _ in range(DATASETS)]))
    expected = oracle(program.plan, rows, tables)
    assert sum(map(bool, expected.values())) > n_rule_sets // 2
    given = arrow_streams(program.plan, rows)
    frames = {}
    for name, pieces in arrivals(rng, program.plan, given, MICRO_BATCHES, lateness=LATENESS).items():
        (tmp_path / name).mkdir()
        for number, piece in enumerate(pieces):
            file = tmp_path / name / f"{number:03d}.parquet"
            pq.write_table(piece, file)
            os.utime(file, (number, number))  # Spark takes files in the order of their times
        schema = spark.read.parquet(str(tmp_path / name)).schema
        frames[name] = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / name))
    kept = KeptMessages()
    monkeypatch.setattr(running, "outputs_of", kept.outputs_of)
    query = program.stream(
        spark,
        frames,
        arrow_tables(program.plan, tables),
        checkpoint=tmp_path / "checkpoint",
        to=kept,
        settings=inkling.StreamSettings(available_now=True, buckets=1 if seed % 4 else 2, unbounded=True),
    )
    query.await_end()
    query.finish()
    found = kept.rows()
    same_results(program.plan, expected, {event.name: found.get(event.name, []) for event in program.plan.events})


def test_the_number_of_rule_sets_is_what_it_says() -> None:
    assert 60 * RULE_SETS_AT_LENGTH >= 5000  # seeds 1 to 60 of `make test-long`
