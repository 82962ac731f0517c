"""How a session is laid out for a machine, without starting one."""

import os
import sys

import pytest

from inkling.machine import memory_bytes
from inkling.spark.session import (
    driver_memory_mb,
    environment,
    java_options,
    local_cores,
    session_settings,
    worker_environment,
)


@pytest.mark.parametrize(
    ("master", "cores"),
    [("local", 1), ("local[4]", 4), ("local[3, 2]", 3), ("spark://host:7077", None), ("local-cluster[2,1,1024]", None)],
)
def test_local_cores(master: str, cores: int | None) -> None:
    assert local_cores(master) == cores


def test_star_means_the_cores_this_process_may_use() -> None:
    assert 1 <= (local_cores("local[*]") or 0) <= (os.cpu_count() or 1)


def test_partitions_follow_cores_unless_given() -> None:
    name = "spark.sql.shuffle.partitions"
    assert session_settings(master="local[3]")[name] == "3"
    assert session_settings(master="local[3]", partitions=8)[name] == "8"
    assert name not in session_settings(master="spark://host:7077")


@pytest.mark.parametrize(
    ("machine_gb", "quick", "driver_gb"),
    [(2, False, 1), (8, False, 2), (24, False, 6), (256, False, 8), (24, True, 2), (2, True, 1)],
)
def test_driver_leaves_room_for_the_rest(machine_gb: int, quick: bool, driver_gb: int) -> None:
    assert driver_memory_mb(machine_gb * 1024, quick=quick) == driver_gb * 1024


def test_memory_is_that_of_a_machine() -> None:
    assert 256 < memory_bytes() >> 20 < 64 << 20


def test_only_quick_sessions_stop_at_the_first_compiler() -> None:
    assert "-XX:TieredStopAtLevel=1" in java_options(quick=True)
    assert "-XX:TieredStopAtLevel=1" not in java_options(quick=False)


def test_environment_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "before")
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    with environment({"JAVA_HOME": "during", "PYSPARK_PYTHON": "python"}):
        assert (os.environ["JAVA_HOME"], os.environ["PYSPARK_PYTHON"]) == ("during", "python")
    assert os.environ["JAVA_HOME"] == "before"
    assert "PYSPARK_PYTHON" not in os.environ


def test_local_workers_run_this_python_and_a_cluster_its_own() -> None:
    assert worker_environment("local[2]")["PYSPARK_PYTHON"] == sys.executable
    assert worker_environment("spark://host:7077") == {}
