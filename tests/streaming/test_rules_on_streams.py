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
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.universe import Declared, Kind
from tests.spark.one_job import KeptRows

import inkling

RULE_SETS_PER_PROGRAM = 10
RULE_SETS_AT_LENGTH = 52
DATASETS = 4
MICRO_BATCHES = 3
LATENESS = 3
WORLDS = {
    "points": [Declared("A", Kind.POINTS, True, "seq", ""), Declared("B", Kind.POINTS, True, "seq", "SINCE_CHANGE(s)")],
    "mixed": [Declared("L", Kind.INTERVALS, True, "seq", ""), Declared("V", Kind.ORDERED, True, "seq", "")],
}


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_rules_on_streams_eq_definition(world: str, spark: SparkSession, tmp_path: Path) -> None:
    _check(world, RULE_SETS_PER_PROGRAM, spark, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_rules_on_streams_eq_definition_at_length(world: str, spark: SparkSession, tmp_path: Path) -> None:
    """What every event finds in every micro-batch is unpacked by itself, which takes its time."""
    _check(world, RULE_SETS_AT_LENGTH, spark, tmp_path)


def _check(world: str, n_rule_sets: int, spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(f"streaming rules over {world}")
    streams = WORLDS[world]
    program = many_rules(rng, streams, n_rule_sets, lateness=LATENESS)
    tables = random_tables(rng)
    packed = pack([random_rows(rng, streams, n_events=4, bad_rows=False) for _ in range(DATASETS)])
    expected = oracle(program.plan, packed, tables)
    assert sum(map(bool, expected.values())) > n_rule_sets // 2
    given = arrow_streams(program.plan, packed)
    frames = {}
    for name, pieces in arrivals(rng, program.plan, given, MICRO_BATCHES, lateness=LATENESS).items():
        folder = tmp_path / name
        folder.mkdir()
        for number, piece in enumerate(pieces):
            file = folder / f"{number:03d}.parquet"
            pq.write_table(piece, file)
            os.utime(file, (number, number))  # Spark takes files in the order of their times
        schema = spark.read.parquet(str(folder)).schema
        frames[name] = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    kept = KeptRows()
    query = program.stream(
        spark,
        frames,
        arrow_tables(program.plan, tables),
        checkpoint=tmp_path / "checkpoint",
        to=kept,
        settings=inkling.StreamSettings(available_now=True, buckets=2, unbounded=True),
    )
    query.await_end()
    query.finish()
    found = kept.rows()
    assert not found.keys() - expected.keys(), "rows were late or rejected"
    same_results(program.plan, expected, {event.name: found.get(event.name, []) for event in program.plan.events})


def test_there_are_a_hundred_rule_sets_at_length() -> None:
    assert len(WORLDS) * RULE_SETS_AT_LENGTH >= 100
