"""Programs over uncertain streams on Structured Streaming: the same worlds, and so the same numbers, as in one process.

Many events share a program and many small streams share its data as keys, so that one query checks many cases.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.kit.arrival import arrivals
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.episodes import one_after_the_other
from tests.kit.rows import Rows
from tests.kit.streams import pack, random_tables
from tests.kit.uncertain import UncertainCase
from tests.kit.uncertain_rows import uncertain_rows
from tests.kit.universe import Declared, Kind, Uncertain
from tests.spark.one_job import KeptRows
from tests.streaming import uncertain_bells as bells
from tests.streaming.arriving import arrive
from tests.streaming.faults import DRIVER, PATIENCE, WORKER, Faults, is_session_gone, kill_session, with_tests_on_path
from tests.streaming.packed_program import packed_program

import inkling
from inkling.errors import InputError
from inkling.evaluators.sampling import Sampling
from inkling.query import Program
from inkling.spark.streaming.query import LiveQuery

EVENTS_PER_PROGRAM = 12
DATASETS_PER_PROGRAM = 4
MICRO_BATCHES = 4
LATENESS = 2
SAMPLING = Sampling(epsilon=0.15, delta=0.1, seed=11, exact_up_to=0, budget=1)
STREAMS = {
    "times and values": [
        Declared("A", Kind.POINTS, True, "seq", "", Uncertain.WEIGHTED_TIME),
        Declared("B", Kind.POINTS, True, "seq", "x - PREV(x)", Uncertain.VALUE),
        Declared("C", Kind.POINTS, True, "seq", ""),
    ],
    "chains and losses": [
        Declared("V", Kind.ORDERED, True, "n", "SINCE_CHANGE(s)", Uncertain.LOST),
        Declared("W", Kind.ORDERED, True, "n", "", Uncertain.LOST_SEGMENTS),
        Declared("U", Kind.ORDERED, True, "seq", "", Uncertain.CHAIN),
    ],
}

Table = list[dict[str, object]]


def _data(rng: random.Random, program: Program, streams: Sequence[Declared]) -> Rows:
    """Several episodes one after the other, many times under keys of their own."""

    def dataset() -> Rows:
        cases = [
            UncertainCase(program.text, program.plan, uncertain_rows(rng, streams), {}, program, 0) for _ in range(2)
        ]
        return one_after_the_other(rng, cases).rows

    return pack(dataset() for _ in range(DATASETS_PER_PROGRAM))


def _folders(rng: random.Random, program: Program, given: Mapping[str, pa.Table], root: Path) -> dict[str, Path]:
    """A folder per stream with a file per micro-batch."""
    folders = {}
    pieces = arrivals(rng, program.plan, given, MICRO_BATCHES, lateness=LATENESS, in_step=True)
    for name, parts in pieces.items():
        folders[name] = root / name
        folders[name].mkdir()
        for number, part in enumerate(parts):
            file = folders[name] / f"{number:03d}.parquet"
            pq.write_table(part, file)
            os.utime(file, (number, number))  # Spark takes files in the order of their times
    return folders


def _frames(spark: SparkSession, folders: Mapping[str, Path]) -> dict[str, DataFrame]:
    return {
        name: spark.readStream.schema(spark.read.parquet(str(folder)).schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder))
        for name, folder in folders.items()
    }


def _lines(rows: Table) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["times and values", "chains and losses"])
def test_stream_eq_one_run(kind: str, spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(kind)
    streams = STREAMS[kind]
    program = packed_program(rng, streams, EVENTS_PER_PROGRAM, LATENESS)
    rows, facts = _data(rng, program, streams), random_tables(rng)
    given, tables = arrow_streams(program.plan, rows), arrow_tables(program.plan, facts)
    kept = KeptRows()
    query = program.stream(
        spark,
        _frames(spark, _folders(rng, program, given, tmp_path)),
        tables,
        checkpoint=tmp_path / "checkpoint",
        to=kept,
        settings=inkling.StreamSettings(available_now=True, buckets=3, unbounded=True),
        sampling=SAMPLING,
    )
    query.await_end()
    n_early = sum(len(some) for name, some in kept.rows().items() if name != "late")
    query.finish()
    heard = kept.rows()
    assert "rejects" not in heard
    late = {(row["stream"], row["id"]) for row in heard.pop("late", [])}
    assert {stream for stream, _ in late} <= {"W"}, "what was lost before the first row of a key may lie too far back"
    in_time = {
        name: table.filter(pa.array([(name, one) not in late for one in table["id"].to_pylist()]))
        for name, table in given.items()
    }
    expected = program.run_local(in_time, tables, sampling=SAMPLING).tables
    assert n_early > 10
    assert sum(0 < row["probability"] < 1 for table in expected.values() for row in table.to_pylist()) > 20
    for name, table in expected.items():
        assert _lines(heard.get(name, [])) == _lines(table.to_pylist()), name


ROOT = Path(__file__).parents[2]
LIVES = ("state-0-after", "sink-between")
"""Where the driver dies, once in each life."""


@pytest.mark.long
def test_killed_jobs_leave_what_one_run_gives(tmp_path: Path) -> None:
    """The states of worlds, and results that wait for further worlds, survive; nothing comes twice."""
    bells.write_files(tmp_path / "in")
    faults = Faults(tmp_path / "faults")
    for place in LIVES:
        faults.arm(DRIVER, place)
        faults.arm(WORKER, "state-0-before")
        assert _driver(tmp_path) == -signal.SIGKILL, _log(tmp_path)
        faults.disarm()
    assert _driver(tmp_path) == 0, _log(tmp_path)
    assert len(faults.fired()) >= len(LIVES) + 1
    expected = inkling.parse(bells.PROGRAM).run_local(bells.whole(), sampling=bells.SAMPLING)
    assert not len(expected.rejects)
    for name, table in expected.tables.items():
        written = ds.dataset(tmp_path / "out" / name, format="parquet").to_table(columns=table.column_names)
        assert _lines(written.to_pylist()) == _lines(table.to_pylist()), name
        assert len(table) > 10, f"{name} is found too seldom to tell anything"


def _driver(folder: Path) -> int:
    """One life of the job, in a session of its own, which is gone afterwards; the status with which it ends."""
    with (folder / "driver.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.streaming.uncertain_bells", folder],
            cwd=ROOT,
            env=with_tests_on_path(),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        return process.wait(PATIENCE)
    finally:
        while not is_session_gone(process.pid):
            kill_session(process.pid)
            time.sleep(0.01)
        process.wait()


def _log(folder: Path) -> str:
    return (folder / "driver.log").read_text()[-5000:]


TWO_VISITS = """
STREAM Seen(id STRING, k STRING, t INT) ID id KEY k TIME t ± 1 TICKS;
EVENT twice(k) AS PATTERN SEQ(Seen a, Seen b) WITHIN 5 TICKS PARTITION BY k;
"""


def _visits(folder: Path, file: int, *times: int) -> None:
    rows = [json.dumps({"id": f"{file}.{t}", "k": "p", "t": t}) for t in times]
    arrive(folder, f"{file}.jsonl", "\n".join(rows), file)


@pytest.mark.long
def test_a_checkpoint_keeps_its_worlds(spark: SparkSession, tmp_path: Path) -> None:
    program = inkling.parse(TWO_VISITS)
    found: list[dict[str, object]] = []

    def start(sampling: Sampling) -> LiveQuery:
        return program.stream(
            spark,
            {"Seen": f"{tmp_path / 'seen'}?format=jsonl"},
            checkpoint=tmp_path / "checkpoint",
            to=lambda _name, frame, _batch: found.extend(frame.toArrow().to_pylist()),
            settings=inkling.StreamSettings(available_now=True, buckets=1),
            sampling=sampling,
        )

    _visits(tmp_path / "seen", 1, 1, 3, 20)
    start(SAMPLING).await_end()
    _visits(tmp_path / "seen", 2, 22, 40)
    with pytest.raises(InputError) as caught:
        start(replace(SAMPLING, seed=SAMPLING.seed + 1, epsilon=0.3))
    assert caught.value.diagnostics[0].code == "INK0606"
    query = start(SAMPLING)
    query.await_end()
    query.finish()
    rows = [{"id": f"{file}.{t}", "k": "p", "t": t} for file, t in ((1, 1), (1, 3), (1, 20), (2, 22), (2, 40))]
    assert len(found) == 2
    assert _lines(found) == _lines(program.run_local({"Seen": rows}, sampling=SAMPLING).tables["twice"].to_pylist())
