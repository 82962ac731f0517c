"""Damaged files among Spark's own logs are named, with what can be done."""

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive

import inkling
from inkling.errors import InklingError
from inkling.spark.streaming.checkpoint.logs import damaged_log
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder

METADATA = '{"id":"4c1e"}'
LOG = 'v1\n{"batchWatermarkMs":0}\n{"logOffset":0}\n-\n'
FILES = {
    "metadata": METADATA,
    "offsets/3": LOG,
    "offsets/4": LOG,
    "offsets/5": LOG,
    "commits/3": 'v1\n{"nextBatchWatermarkMs":0}',
    "commits/4": 'v1\n{"nextBatchWatermarkMs":0}',
    "sources/0/4.compact": 'v1\n{"path":"a","timestamp":1,"batchId":4}',
    "sources/0/5": 'v1\n{"path":"b","timestamp":1,"batchId":5}',
}
DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) * 2 // 3],
    "garbage": lambda data: b"\x00\xff{" * 9,
}
IS_REPEATED = ("offsets/5", "commits/4")


@pytest.fixture
def logs(spark: SparkSession, tmp_path: Path) -> CheckpointFolder:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return CheckpointFolder(spark, str(tmp_path))


def test_intact_logs(logs: CheckpointFolder, spark: SparkSession, tmp_path: Path) -> None:
    assert damaged_log(logs) is None
    assert damaged_log(CheckpointFolder(spark, str(tmp_path / "new"))) is None


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("name", [name for name in FILES if name not in ("offsets/3", "commits/3")])
def test_damage_is_named(name: str, how: str, logs: CheckpointFolder, tmp_path: Path) -> None:
    place = tmp_path / name
    place.write_bytes(DAMAGE[how](place.read_bytes()))
    found = damaged_log(logs)
    assert found is not None
    assert (found.code, f"`{place}`" in found.message) == ("INK0611", True)
    assert ("move this file away" in found.helps[0]) == (name in IS_REPEATED)


def test_missing_files(logs: CheckpointFolder, tmp_path: Path) -> None:
    (tmp_path / "metadata").rename(tmp_path / "elsewhere")
    found = damaged_log(logs)
    assert found is not None
    assert "metadata" in found.message
    (tmp_path / "elsewhere").rename(tmp_path / "metadata")
    (tmp_path / "offsets" / "4").unlink()
    (tmp_path / "offsets" / "5").unlink()
    found = damaged_log(logs)
    assert found is not None
    assert "offsets/4" in found.message


PROGRAM = inkling.parse("""
STREAM R(id STRING, k STRING, t INT) ID id KEY k TIME t;
EVENT pair AS PATTERN SEQ NEXT(R a, R b) PARTITION BY k WITHIN 100 TICKS;
""")


@pytest.mark.long
def test_a_commit_that_is_moved_away_is_repeated(spark: SparkSession, tmp_path: Path) -> None:
    def run(*, finish: bool) -> None:
        query = PROGRAM.stream(
            spark,
            f"{tmp_path}/in?maxFilesPerTrigger=1",
            checkpoint=tmp_path / "checkpoint",
            to=tmp_path / "out",
            settings=inkling.StreamSettings(available_now=True, buckets=2),
        )
        query.await_end()
        if finish:
            query.finish()

    for number in range(2):
        rows = "".join(f"r{t},a,{t}\n" for t in range(4 * number, 4 * number + 4))
        arrive(tmp_path / "in", f"{number}.csv", f"id,k,t\n{rows}", number)
    run(finish=False)
    commits = tmp_path / "checkpoint" / "spark" / "commits"
    last = commits / str(max(int(path.name) for path in commits.iterdir() if path.name.isdigit()))
    whole = last.read_bytes()
    last.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InklingError, match=rf"INK0611.*{last}.*\n[^$]*move this file away"):
        run(finish=False)
    shutil.move(last, tmp_path / "damaged")
    (last.parent / f".{last.name}.crc").unlink(missing_ok=True)
    run(finish=True)
    found = [row["lineage"] for row in spark.read.parquet(f"{tmp_path}/out/pair").collect()]
    assert sorted(map(tuple, found)) == [(f"r{t}", f"r{t + 1}") for t in range(7)]
