"""`inkling stream` as a user runs it: in a process of its own, interrupted, and continued."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive
from typer.testing import CliRunner

from inkling.cli import app

PROGRAM = """
STREAM Door(id STRING, person STRING, room STRING, t TIMESTAMP) ID id KEY person TIME t LATENESS 1 MINUTES;
EVENT back(person) AS PATTERN SEQ NEXT(Door a, Door b[room = a.room]) PARTITION BY person WITHIN 1 HOURS;
"""
HIDDEN = "EVENT in_lab(person) AS PATTERN Door a[room = 'lab'] PARTITION BY person HIDDEN;"
FIRST = """id,person,room,t
d1,ada,lab,2026-03-02T10:00:00Z
d2,bob,hall,2026-03-02T10:01:00Z
d3,bob,hall,noon
"""
SECOND = """id,person,room,t
d4,ada,lab,2026-03-02T10:10:00Z
d5,bob,hall,2026-03-02T10:20:00Z
d6,eve,hall,2026-03-02T09:00:00Z
"""
THIRD = """id,person,room,t
d7,eve,hall,2026-03-02T09:30:00Z
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("doors.ink").write_text(PROGRAM)
    arrive(Path("doors"), "1.csv", FIRST, 1)
    return tmp_path


class Process:
    """`inkling stream` with what it says on stderr."""

    def __init__(self, *words: str) -> None:
        inkling = Path(sys.executable).with_name("inkling")
        command = [str(inkling), "stream", "doors.ink", "-i", "Door=doors", "--buckets", "2", *words]
        self._said = Path("said.txt")
        with self._said.open("w") as said:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True, cwd=Path.cwd())

    @property
    def said(self) -> str:
        return self._said.read_text()

    def wait_until_it_says(self, pattern: str) -> None:
        deadline = time.monotonic() + 400
        while not re.search(pattern, self.said):
            assert self._process.poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.2)

    def interrupt(self) -> int:
        os.kill(self._process.pid, signal.SIGINT)
        return self.end()

    def end(self) -> int:
        printed, _ = self._process.communicate(timeout=400)
        assert printed == ""
        return self._process.returncode


@pytest.mark.spark
@pytest.mark.long
def test_interrupted_and_continued(folder: Path) -> None:
    first = Process("-o", "out", "--metrics", "numbers.jsonl")
    first.wait_until_it_says("batch 0: 3 rows")
    arrive(Path("doors"), "2.csv", SECOND, 2)
    first.wait_until_it_says("batch 1: 3 rows")
    assert first.interrupt() == 130
    lines = first.said.splitlines()
    assert re.fullmatch(
        r"batch 0: 3 rows in [\d.]+ s \([\d,]+/s in, [\d,]+/s done\); state: 2 rows, [\d.]+ kB; "
        r"watermark: 2026-03-02T09:59:59Z, 1.0 minutes behind the latest row, [\d,.]+ days behind now; "
        r"found: back 0; 0 late, 1 rejected",
        lines[0],
    )
    assert re.search(r"watermark: 2026-03-02T10:18:59Z.*found: back 1; 1 late, 1 rejected$", lines[1])
    assert lines[2:] == [
        "back  1 result",
        "6 rows read, 1 row rejected, 1 row too late",
        "the same command resumes from here; its checkpoint is out/_checkpoint",
    ]
    numbers = [json.loads(line) for line in Path("numbers.jsonl").read_text().splitlines()]
    assert [(one["batch"], one["rows"], one["matches"], one["late"]) for one in numbers] == [
        (0, 3, {"back": 0}, 0),
        (1, 3, {"back": 1}, 1),
    ]

    arrive(Path("doors"), "3.csv", THIRD, 3)
    second = Process("-o", "out", "--finish")
    assert second.end() == 0
    assert second.said.splitlines()[-2:] == ["back  1 result", "1 row read, 1 row too late"]
    assert sorted(ids for ids in pq.read_table("out/back")["lineage"].to_pylist()) == [["d1", "d4"], ["d2", "d5"]]
    assert sorted(pq.read_table("out/late")["id"].to_pylist()) == ["d6", "d7"]
    assert pq.read_table("out/rejects")["id"].to_pylist() == ["d3"]


def stream(*words: str) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, ["stream", "doors.ink", *words])
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.mark.long
def test_to_the_terminal(folder: Path, spark: SparkSession) -> None:
    arrive(Path("doors"), "2.csv", SECOND, 2)
    Path("doors.ink").write_text(PROGRAM + HIDDEN)
    words = ["-i", "Door=doors?maxFilesPerTrigger=1", "-o", "-", "--finish", "--buckets", "1", "--hidden"]
    status, printed, said = stream(*words)
    assert status == 0
    found = [json.loads(line) for line in printed.splitlines()]
    assert [one["lineage"] for one in found if one["event"] == "back"] == [["d1", "d4"], ["d2", "d5"]]
    assert [one["lineage"] for one in found if one["event"] == "in_lab"] == [["d1"], ["d4"]]
    assert [line.partition(": ")[0] for line in said.splitlines() if line[:4] in ("late", "reje")] == [
        "rejects",
        "late",
    ]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["-i", "doors", "-o", "out"], 3, "expected `-i NAME=SOURCE`, found `doors`"),
        (["-i", "Dor=doors", "-o", "out"], 3, "write `-i Door=…`"),
        (["-o", "out", "-i", "Door=doors", "--trigger", "1 second", "--finish"], 2, "give one of them"),
        (["-i", "Door=doors", "-o", "table://found"], 2, "--checkpoint must be given"),
        (["-i", "Door=doors", "-o", "out", "-t", "x=doors"], 3, "no table called `x`"),
    ],
)
def test_errors_are_found_before_spark_starts(folder: Path, words: list[str], status: int, message: str) -> None:
    found, printed, said = stream(*words)
    assert (found, printed) == (status, "")
    assert message in said.replace("\n", " ")
