"""What a stream that stops by itself says, and that it continues from there once the cause is mended."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.stateful_processor import ValueState

import inkling
from inkling.errors import InklingError
from inkling.spark.streaming import query as streaming
from inkling.spark.streaming.operator import BucketOperator
from inkling.spark.streaming.processor import BucketProcessor

MESSAGES = Path(__file__).parents[1] / "errors" / "running"
PROGRAM = """
STREAM Door(id BIGINT, person STRING, room STRING) ID id KEY person TIME t;
EVENT visit(d.id AS id, person) AS PATTERN Door d[room = 'lab'] PARTITION BY person;
EVENT crowd(room, x.person AS one, y.person AS other) AS PATTERN
    SEQ(Door x, Door y[person <> x.person]) WITHIN 2 TICKS PARTITION BY room;
"""
N_FILES, ROWS_PER_FILE = 3, 20
SCHEMA = "id bigint, person string, room string, t bigint"


class Job:
    """A program on a folder of files, one file to a micro-batch."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self.files, self.checkpoint, self.out = folder / "in", folder / "checkpoint", folder / "out"
        self.files.mkdir()
        for number in range(N_FILES):
            rows = [_row(number * ROWS_PER_FILE + place) for place in range(ROWS_PER_FILE)]
            pq.write_table(pa.Table.from_pylist(rows), self.file(number))
            os.utime(self.file(number), (number + 1, number + 1))  # Spark takes files in the order of their times

    def file(self, number: int) -> Path:
        return self.files / f"{number}.parquet"

    def run(self, to: Any = None) -> None:
        frame = self._spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(self.files))
        query = inkling.parse(PROGRAM).stream(
            self._spark,
            {"Door": frame},
            checkpoint=self.checkpoint,
            to=to or self.out,
            settings=inkling.StreamSettings(available_now=True, buckets=2),
        )
        query.await_end()

    def rejected(self, case: str, accept: bool, to: Any = None) -> None:
        """Run, fail, and say what stands in a file."""
        with pytest.raises(InklingError) as caught:
            self.run(to)
        said = f"{caught.value}\n".replace(str(self._folder), "/job")
        golden = MESSAGES / f"{case}.txt"
        if accept:
            golden.write_text(said, encoding="utf-8")
        assert said == golden.read_text(encoding="utf-8")

    def visits(self) -> list[int]:
        """What the sink holds, as far as time is complete."""
        return sorted(ds.dataset(self.out / "visit", format="parquet").to_table()["id"].to_pylist())


ALL_VISITS = [number for number in range(N_FILES * ROWS_PER_FILE - 1) if number % 3 == 0]
"""The last row's own time is still open when files end."""


def _row(number: int) -> dict[str, object]:
    return {"id": number, "person": "abcd"[number % 4], "room": ("lab", "hall", "hall")[number % 3], "t": number}


@pytest.fixture
def job(spark: SparkSession, tmp_path: Path) -> Job:
    return Job(spark, tmp_path)


@pytest.mark.long
def test_full_disk(job: Job, tmp_path: Path, accept: bool) -> None:
    job.out.mkdir()
    small = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(job.out)]
    if subprocess.run(small, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk takes rights that this user lacks")
    try:
        job.rejected("full_disk", accept)
        subprocess.run(["mount", "-o", "remount,size=1m", str(job.out)], check=True)
        job.run()
        assert job.visits() == ALL_VISITS
    finally:
        subprocess.run(["umount", "--lazy", str(job.out)], check=True)


@pytest.mark.long
def test_sink_fails_once(job: Job, accept: bool) -> None:
    found: dict[int, list[int]] = {}
    failures = iter([True])

    def keep(name: str, frame: DataFrame, batch: int) -> None:
        if batch == 1 and next(failures, False):
            raise ConnectionError("the database does not answer")
        if name == "visit":
            found[batch] = frame.toArrow()["id"].to_pylist()

    job.rejected("sink_fails", accept, keep)
    job.run(keep)
    assert sorted(number for batch in found.values() for number in batch) == ALL_VISITS


@pytest.mark.long
def test_file_is_deleted_before_its_turn(job: Job, tmp_path: Path, accept: bool) -> None:
    def deletes(name: str, frame: DataFrame, batch: int) -> None:
        frame.write.mode("overwrite").parquet(f"{job.out}/{name}/batch={batch}")
        if job.file(1).exists() and batch == 0:
            job.file(1).rename(tmp_path / "away")

    job.rejected("deleted_file", accept, deletes)
    (tmp_path / "away").rename(job.file(1))
    job.run()
    assert job.visits() == ALL_VISITS


@pytest.mark.long
def test_damaged_checkpoint(job: Job, tmp_path: Path, accept: bool) -> None:
    job.run()
    shutil.copytree(job.checkpoint, tmp_path / "copy")
    for file in (job.checkpoint / "spark" / "offsets").iterdir():
        file.write_text("garbage")
    job.rejected("damaged_log", accept)
    shutil.rmtree(job.checkpoint)
    shutil.copytree(tmp_path / "copy", job.checkpoint)
    shutil.rmtree(job.checkpoint / "inkling")
    job.rejected("lost_program", accept)
    shutil.copytree(tmp_path / "copy" / "inkling", job.checkpoint / "inkling", dirs_exist_ok=True)
    shutil.rmtree(job.checkpoint / "spark" / "state")
    pq.write_table(pa.Table.from_pylist([_row(99)]), job.file(9))
    job.rejected("lost_state", accept)


class PoisonedOperator(BucketOperator):
    def _handled(self, bucket: int, rows: Iterator[Row], kept: ValueState) -> Iterator[Row]:
        if self._number == 1:
            raise ValueError("no such thing as 3.5 persons")
        yield from super()._handled(bucket, rows, kept)


class Poisoned(BucketProcessor):
    """Fails in the second stage."""

    def _operator(self) -> BucketOperator:
        return PoisonedOperator(*pickle.loads(self._packed))


class Dying(BucketProcessor):
    """As when memory runs out."""

    def _operator(self) -> BucketOperator:
        os.kill(os.getpid(), signal.SIGKILL)
        return super()._operator()


@pytest.mark.long
def test_stage_fails(job: Job, monkeypatch: pytest.MonkeyPatch, accept: bool) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(streaming, "BucketProcessor", Poisoned)
        job.rejected("stage_fails", accept)
        patched.setattr(streaming, "BucketProcessor", Dying)
        job.rejected("worker_dies", accept)
    job.run()
    assert job.visits() == ALL_VISITS
