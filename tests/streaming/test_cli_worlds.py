"""`inkling stream` over uncertain streams: the numbers of `inkling run` with the same worlds, and what is rejected."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive
from typer.testing import CliRunner

from inkling.cli import app

PROGRAM = """
STREAM Seen(id STRING, person STRING, room STRING, lo INT, hi INT) ID id KEY person TIME BETWEEN lo AND hi;
EVENT moved(person) AS
  PATTERN SEQ(Seen a[room = 'hall'], Seen b[room = 'lab']) WITHIN 4 TICKS PARTITION BY person SAMPLED;
"""
NUMBERED = """
STREAM Bell(id STRING, person STRING, n INT, t INT) ID id KEY person TIME t NUMBERED BY n;
EVENT twice(person) AS PATTERN SEQ(Bell a, Bell b) WITHIN 4 TICKS PARTITION BY person;
"""
ROWS = [
    {"id": f"{person}{at}", "person": person, "room": ("hall", "lab")[at % 2], "lo": 2 * at, "hi": 2 * at + 3}
    for at in range(8)
    for person in ("ada", "bob")
]
WORLDS = ("--epsilon", "0.1", "--delta", "0.1", "--seed", "7")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("seen.ink").write_text(PROGRAM)
    Path("bells.ink").write_text(NUMBERED)
    for file, rows in enumerate((ROWS[:9], ROWS[9:]), start=1):
        arrive(Path("seen"), f"{file}.jsonl", "\n".join(map(json.dumps, rows)), file)
    return tmp_path


def inkling(*words: str) -> tuple[int, list[dict[str, object]], str]:
    ran = CliRunner().invoke(app, words)
    return ran.exit_code, [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr


@pytest.mark.long
def test_the_worlds_of_a_stream_are_those_of_a_run(folder: Path, spark: SparkSession) -> None:
    source = "Seen=seen?format=jsonl&maxFilesPerTrigger=1"
    status, found, said = inkling("stream", "seen.ink", "-i", source, "-o", "-", "--finish", "--buckets", "1", *WORLDS)
    assert status == 0, said
    again = ("--runner", "local", "--exact-up-to", "0", "--budget", "1")
    _, expected, _ = inkling("run", "seen.ink", "-i", "Seen=seen", "-o", "-", *WORLDS, *again)
    assert sorted(map(_line, found)) == sorted(map(_line, expected))
    assert {row["method"] for row in found} == {"sampled"}
    assert any(0 < float(str(row["probability"])) < 1 for row in found)


def _line(row: dict[str, object]) -> str:
    return json.dumps(row, sort_keys=True)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["bells.ink", "-i", "Bell=seen"], 1, "a sequence number may be missing for any time"),
        (["seen.ink", "-i", "Seen=seen", "--epsilon", "0.001"], 3, "the limit is 32,768"),
        (["seen.ink", "-i", "Seen=seen", "--epsilon", "2"], 2, "expected epsilon to lie between 0 and 1"),
    ],
)
def test_rejections(folder: Path, spark: SparkSession, words: list[str], status: int, message: str) -> None:
    found, printed, said = inkling("stream", *words, "-o", "out")
    assert (found, printed) == (status, [])
    assert message in " ".join(said.split())
