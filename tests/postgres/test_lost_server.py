"""A database that goes away under `inkling stream` and comes back: tried again, and every result is there once."""

import signal
import subprocess
from pathlib import Path

import pytest
from tests.postgres.server import running_server
from tests.streaming.arriving import arrive
from tests.streaming.test_cli_failures import command, wait

pytestmark = [pytest.mark.long, pytest.mark.spark]

PROGRAM = """STREAM Door(person STRING, t INT) KEY person TIME t;
EVENT seen(person) AS PATTERN Door d PARTITION BY person;
"""


def test_results_wait_for_a_database_that_comes_back(tmp_path: Path) -> None:
    (tmp_path / "seen.ink").write_text(PROGRAM)
    arrive(tmp_path / "in", "1.csv", "person,t\nada,1\nbob,2\n", 1)
    with running_server() as server, (tmp_path / "said.txt").open("w") as said:

        def found() -> list[tuple[object, ...]]:
            if not server.run("SELECT 1 FROM pg_tables WHERE tablename = 'seen'"):
                return []
            return sorted(server.run("SELECT person FROM seen"))

        words = ["stream", "seen.ink", "-i", "Door=in?format=csv", "-o", server.address(), "--checkpoint", "checkpoint"]
        process = subprocess.Popen(command(*words, "--buckets", "1"), cwd=tmp_path, stderr=said)
        wait(lambda: found() == [("ada",)], process)
        server.stop()
        arrive(tmp_path / "in", "2.csv", "person,t\ncy,3\n", 2)
        wait(lambda: "trying again in 5 s (2 of 3)" in (tmp_path / "said.txt").read_text(), process)
        server.start()
        wait(lambda: found() == [("ada",), ("bob",)], process)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    told = (tmp_path / "said.txt").read_text()
    assert "INK0571" in told or "INK0610" in told
    assert "INK09" not in told
    assert "sesame" not in told, "a password is shown"
