"""A checkpoint belongs to one query at a time, of this process or another one; what happens to inputs that change."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive

import inkling
from inkling.errors import InklingError
from inkling.spark.streaming.checkpoint import lease
from inkling.spark.streaming.checkpoint.in_use import Claim
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.query import LiveQuery

PROGRAM = inkling.parse("""
STREAM Door(id STRING, person STRING, t INT) ID id KEY person TIME t;
EVENT seen AS PATTERN Door d;
""")
CLAIMING = """
import sys
from inkling.spark.streaming.checkpoint.in_use import Claim
Claim.to(sys.argv[1])
print("claimed", flush=True)
sys.stdin.read()
"""


def start(spark: SparkSession, folder: Path, *, now: bool = False) -> LiveQuery:
    settings = inkling.StreamSettings(buckets=1, available_now=now)
    return PROGRAM.stream(
        spark, f"{folder}/in?format=csv", checkpoint=folder / "checkpoint", to=folder / "out", settings=settings
    )


def seen(spark: SparkSession, folder: Path) -> list[str]:
    return sorted(row["lineage"][0] for row in spark.read.parquet(f"{folder}/out/seen").collect())


def test_a_killed_process_has_no_claim(tmp_path: Path) -> None:
    words = [sys.executable, "-c", CLAIMING, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "claimed\n"
        with pytest.raises(InklingError, match=rf"INK0581.*`{tmp_path}` is in use by process {other.pid} on"):
            Claim.to(str(tmp_path))
        other.send_signal(signal.SIGKILL)
    claim = Claim.to(str(tmp_path))
    with pytest.raises(InklingError, match="INK0581"):
        Claim.to(str(tmp_path))
    claim.release()
    Claim.to(str(tmp_path)).release()


def on_other_storage(spark: SparkSession, folder: Path) -> str:
    """A place whose files Spark reaches by name of their storage only, as on HDFS: there are no locks."""
    (folder / "storage").mkdir()
    spark.conf.set("fs.viewfs.mounttable.cluster.link./jobs", f"file://{folder}/storage")
    return "viewfs://cluster/jobs/checkpoint"


@pytest.mark.slow
def test_a_lease_where_files_have_no_locks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "RENEWED_EVERY_S", 0.1)
    monkeypatch.setattr(lease, "WATCHED_S", 1.5)
    monkeypatch.setattr(lease, "SETTLED_S", 0.05)
    place = on_other_storage(spark, tmp_path)
    folder = CheckpointFolder(spark, f"{place}/inkling")
    first = Claim.to(place, spark)
    with pytest.raises(InklingError, match=r"INK0581.*is in use by process"):
        Claim.to(place, spark)
    first.release()
    assert not folder.has(lease.FILE)

    folder.overwrite(lease.FILE, b'{"owner": "process 1 on another machine, 1", "renewed": 7}')
    second, stopped = Claim.to(place, spark), Event()  # nobody renews that one
    second.when_lost(stopped.set)
    folder.overwrite(lease.FILE, b'{"owner": "process 2 on another machine, 2", "renewed": 1}')
    assert stopped.wait(60)
    with pytest.raises(InklingError, match=r"INK0581.*process 2 on another machine"):
        second.require()
    second.release()
    assert folder.has(lease.FILE), "the lease of another process stays"


@pytest.mark.long
def test_a_stream_on_other_storage(spark: SparkSession, tmp_path: Path) -> None:
    place = on_other_storage(spark, tmp_path)
    arrive(tmp_path / "in", "1.csv", "id,person,t\nd1,ada,1\n", 1)

    def begin(*, now: bool) -> LiveQuery:
        settings = inkling.StreamSettings(buckets=1, available_now=now)
        return PROGRAM.stream(
            spark, f"{tmp_path}/in?format=csv", checkpoint=place, to=tmp_path / "out", settings=settings
        )

    first = begin(now=False)
    with pytest.raises(InklingError, match="INK0581"):
        begin(now=True)
    first.stop()
    begin(now=True).finish()
    assert seen(spark, tmp_path) == ["d1"]


@pytest.mark.long
def test_a_second_query_is_rejected_until_the_first_has_stopped(spark: SparkSession, tmp_path: Path) -> None:
    arrive(tmp_path / "in", "1.csv", "id,person,t\nd1,ada,1\n", 1)
    first = start(spark, tmp_path)
    with pytest.raises(InklingError, match="INK0581"):
        start(spark, tmp_path)
    first.stop()
    start(spark, tmp_path, now=True).query.awaitTermination()
    last = start(spark, tmp_path, now=True)  # the one before has ended, which nobody waited for
    last.finish()
    assert seen(spark, tmp_path) == ["d1"]


@pytest.mark.long
def test_a_file_that_is_rewritten_is_not_read_again(spark: SparkSession, tmp_path: Path) -> None:
    arrive(tmp_path / "in", "1.csv", "id,person,t\nd1,ada,1\n", 1)
    start(spark, tmp_path, now=True).await_end()
    arrive(tmp_path / "in", "1.csv", "id,person,t\nd1,ada,1\nd2,ada,2\n", 2)
    arrive(tmp_path / "in", "2.csv", "id,person,t\nd3,ada,3\n", 3)
    start(spark, tmp_path, now=True).finish()
    assert seen(spark, tmp_path) == ["d1", "d3"]


@pytest.mark.long
def test_a_folder_that_vanishes_is_waited_for_or_named(spark: SparkSession, tmp_path: Path) -> None:
    arrive(tmp_path / "in", "1.csv", "id,person,t\nd1,ada,1\n", 1)
    start(spark, tmp_path, now=True).await_end()
    shutil.rmtree(tmp_path / "in")
    with pytest.raises(InklingError, match=r"INK0550.*no file or folder"):
        start(spark, tmp_path, now=True)
    arrive(tmp_path / "in", "2.csv", "id,person,t\nd3,ada,3\n", 3)
    start(spark, tmp_path, now=True).finish()
    assert seen(spark, tmp_path) == ["d1", "d3"]
