"""Random programs on Structured Streaming: what the definition gives, however the rows are cut and disordered.

Many events share a program and many small streams share its data as keys, so that one query checks many cases.
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
from tests.kit.oracle import oracle
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.universe import Declared, Kind
from tests.spark.one_job import KeptRows
from tests.streaming.packed_program import packed_program

import inkling

EVENTS_PER_PROGRAM = 17
STREAMS_PER_PROGRAM = 3
MICRO_BATCHES = 5
WORLDS = {
    "points": [Declared(name, Kind.POINTS, True, "seq", "") for name in "AB"],
    "ordered": [
        Declared("V", Kind.ORDERED, True, "seq", "SINCE_CHANGE(s)"),
        Declared("W", Kind.ORDERED, True, "seq", ""),
    ],
    "mixed": [Declared("A", Kind.POINTS, True, "seq", "x - PREV(x)"), Declared("L", Kind.INTERVALS, True, "seq", "")],
    "policies": [Declared("A", Kind.POINTS, True, "seq", ""), Declared("L", Kind.INTERVALS, True, "seq", "")],
}
FEATURES = {"policies": frozenset({"CONSUME RECENT", "CONSUME CHRONOLOGICAL"})}
"""One of these is in every event of a world."""


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_stream_eq_definition(world: str, spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(f"{world} streams")
    streams = WORLDS[world]
    program = packed_program(rng, streams, EVENTS_PER_PROGRAM, 3, FEATURES.get(world, frozenset()))
    datasets = [random_rows(rng, streams, n_events=5, bad_rows=False) for _ in range(STREAMS_PER_PROGRAM)]
    tables = random_tables(rng)
    packed = pack(datasets)
    expected = oracle(program.plan, packed, tables)
    assert sum(map(len, expected.values())) > 20, "these programs find too little to tell anything"
    kept = KeptRows()
    given = arrow_streams(program.plan, packed)
    frames = {}
    for name, pieces in arrivals(rng, program.plan, given, MICRO_BATCHES, lateness=3).items():
        folder = tmp_path / name
        folder.mkdir()
        for number, piece in enumerate(pieces):
            file = folder / f"{number:03d}.parquet"
            pq.write_table(piece, file)
            os.utime(file, (number, number))  # Spark takes files in the order of their times
        schema = spark.read.parquet(str(folder)).schema
        frames[name] = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    query = program.stream(
        spark,
        frames,
        arrow_tables(program.plan, tables),
        checkpoint=tmp_path / "checkpoint",
        to=kept,
        settings=inkling.StreamSettings(available_now=True, buckets=3, unbounded=True),
    )
    query.await_end()
    query.finish()
    found = kept.rows()
    assert not found.keys() - expected.keys(), "rows were late or rejected"
    same_results(program.plan, expected, {event.name: found.get(event.name, []) for event in program.plan.events})


def test_there_are_fifty_programs() -> None:
    assert len(WORLDS) * EVENTS_PER_PROGRAM >= 50
