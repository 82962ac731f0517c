"""A cluster loses machines in mid-stream: the job continues, and what it leaves is what it should leave."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.streaming.cluster import cluster
from tests.streaming.doors import check_outputs, random_pieces, write_files
from tests.streaming.faults import EXECUTOR, OTHERS, PATIENCE, Faults, is_session_gone, kill_session, with_tests_on_path

ROOT = Path(__file__).parents[2]
JOB = "c-1-4"
N_FILES = 4


@pytest.mark.spark
@pytest.mark.long
def test_killed_workers_lose_nothing(tmp_path: Path) -> None:
    pieces = random_pieces(0, N_FILES)
    write_files(pieces, tmp_path / "in")
    faults = Faults(tmp_path / "faults")
    with cluster(tmp_path, workers=1) as machines:
        doomed = machines.start_worker("doomed")
        # a whole machine is gone when its part of the results is computed but not delivered
        faults.arm(OTHERS, "sink-begins", doomed)
        # later, when state has changed but is not saved, an executor is
        faults.arm(EXECUTOR, "state-1-after")
        with (tmp_path / "driver.log").open("wb") as log:
            driver = subprocess.Popen(
                [sys.executable, "-m", "tests.streaming.crashing_driver", tmp_path, JOB, machines.master],
                cwd=ROOT,
                env=with_tests_on_path() | {"PYSPARK_PYTHON": sys.executable},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            assert driver.wait(PATIENCE) == 0, (tmp_path / "driver.log").read_text()[-5000:]
        finally:
            kill_session(driver.pid)
        assert is_session_gone(doomed)
    assert sorted(faults.fired()) == ["executor state-1-after", "others sink-begins"]
    check_outputs(tmp_path / JOB, pieces)
