"""`inkling generate`, `demo` and `bench`: examples from nothing."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from inkling.cli import app
from inkling.examples import FOLDER, NAMES
from inkling.scenarios import SCENARIOS

pytestmark = pytest.mark.slow


def call(*words: str) -> Result:
    return CliRunner().invoke(app, words)


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_example_has_a_scenario_and_a_program_of_its_name() -> None:
    assert sorted(NAMES) == sorted(path.parent.name for path in FOLDER.glob("*/scenario.py"))
    programs = [path for suffix in (".ink", ".epsparql") for path in FOLDER.glob(f"*/*{suffix}")]
    assert sorted(NAMES) == sorted(path.stem for path in programs if path.stem == path.parent.name)
    assert list(SCENARIOS) == list(NAMES)


def test_generate_writes_streams_tables_and_truth() -> None:
    result = call("generate", "building", "-o", "data", "--events", "500", "--keys", "3", "--seed", "5")
    assert result.exit_code == 0
    truth = json.loads(Path("data/truth.json").read_text())
    assert (truth["scenario"], truth["seed"], truth["keys"]) == ("building", 5, 3)
    assert "Reading 500 rows" in result.stderr


@pytest.mark.parametrize("command", [["generate", "bilding", "-o", "x"], ["demo", "bilding"], ["bench", "bilding"]])
def test_an_unknown_scenario_is_named(command: list[str]) -> None:
    result = call(*command)
    assert result.exit_code == 3
    assert "write `building`" in result.stderr


def test_a_demo_finds_what_was_put_in() -> None:
    result = call("demo", "fleet", "--events", "5000", "--runner", "local")
    assert result.exit_code == 0
    truth = json.loads(Path("out/demo/fleet/truth.json").read_text())
    for event, count in truth["matches"].items():
        assert f"{event}: {count}" in result.stdout
    assert "report: out/demo/fleet/report.html" in result.stdout
    assert Path("out/demo/fleet/report.html").stat().st_size > 10_000


def test_bench_prints_one_line_per_run() -> None:
    result = call("bench", "building", "--events", "300", "--repeat", "2", "--runner", "local")
    lines = result.stdout.splitlines()
    assert len(lines) == 2
    assert all("rows/s" in line and "seed 0" in line for line in lines)
