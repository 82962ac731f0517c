"""Options about uncertain streams: they reach the run, errors in them are errors of the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from inkling import Sampling
from inkling.cli import app
from inkling.cli.options import PrecisionOptions, SamplingOptions

PROGRAM = """
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;

EVENT coffee(who) AS
  PATTERN SEQ(Seen a[room = 'hall'], Seen b[room = 'kitchen'])
  WITHIN 10 TICKS
  PARTITION BY who
  PER VALUES;
"""
ROWS = "id,who,room,t,p\ns1,ada,hall,1,0.5\ns2,ada,kitchen,2,0.25\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("seen.ink").write_text(PROGRAM)
    Path("Seen.csv").write_text(ROWS)


def run(*words: str) -> Result:
    command = ["run", "seen.ink", "-i", "Seen=Seen.csv", "-o", "-", "--runner", "local"]
    return CliRunner().invoke(app, [*command, *words])


def test_few_worlds_are_counted_and_the_summary_says_so() -> None:
    result = run()
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["probability"], found["method"], found["error"]) == (0.125, "exact", 0.0)
    assert result.stderr.splitlines()[-1] == "probabilities: 1 part enumerated (4 worlds)"


def test_settings_reach_the_run() -> None:
    result = run("--epsilon", "0.05", "--delta", "0.05", "--exact-up-to", "3", "--seed", "7")
    found = json.loads(result.stdout)
    assert found["method"] == "sampled"
    assert found["error"] <= 0.05
    assert abs(found["probability"] - 0.125) <= found["error"]
    assert result.stderr.splitlines()[-1] == "probabilities: 1 part sampled in 448 worlds each"
    again = run("--epsilon", "0.05", "--delta", "0.05", "--exact-up-to", "3", "--seed", "7")
    assert again.stdout == result.stdout
    other = run("--epsilon", "0.05", "--delta", "0.05", "--exact-up-to", "3", "--seed", "8")
    assert other.stdout != result.stdout


@pytest.mark.parametrize(
    "words", [("--epsilon", "0"), ("--epsilon", "1"), ("--delta", "2"), ("--budget", "0"), ("--exact-up-to", "-1")]
)
def test_values_that_make_no_sense_are_errors_of_the_command_line(words: tuple[str, str]) -> None:
    result = run(*words)
    assert result.exit_code == 2
    assert words[0].strip("-") in result.stderr


def test_explain_takes_the_settings() -> None:
    command = ["explain", "seen.ink", "--stage", "verdicts", "--epsilon", "0.05", "--delta", "0.05"]
    said = CliRunner().invoke(app, command).stdout
    assert "448 sampled worlds give ± 0.05 with confidence 0.95" in said


def test_commands_and_python_agree_on_what_is_usual() -> None:
    assert SamplingOptions().sampling() == PrecisionOptions().sampling() == Sampling()
    for command in ("run", "demo", "explain"):
        shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).stdout
        assert "0.01" in shown
        assert "1024" in shown


def test_a_report_tells_of_the_uncertainty() -> None:
    assert run("--report", "report.html").exit_code == 0
    page = Path("report.html").read_text()
    assert "Probabilities: 1 part enumerated (4 worlds)" in page
    assert 'id="least-probability"' in page
