"""`inkling generate`, `demo` and `bench`: examples from nothing."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

from inkling import load
from inkling.cli import app
from inkling.cli.commands.examples.data import example_program
from inkling.cli.commands.examples.truth import notes_on_sums
from inkling.cli.commands.examples.withdrawals import KEYS, withdrawals
from inkling.examples import FOLDER, NAMES
from inkling.scenarios import SCENARIOS, generate

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
        assert re.search(rf"^{event} +{count:,} result", result.stdout, re.MULTILINE)
    assert result.stdout.count("━━┓") == 4
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "report: out/demo/fleet/report.html" in result.stdout
    assert Path("out/demo/fleet/report.html").stat().st_size > 10_000


def test_bench_prints_one_line_per_run() -> None:
    result = call("bench", "building", "--events", "300", "--repeat", "2", "--runner", "local")
    lines = result.stdout.splitlines()
    assert len(lines) == 2
    assert all("rows/s" in line and "seed 0" in line for line in lines)


@pytest.mark.slow
def test_what_is_left_of_a_stream_is_what_a_run_over_files_finds() -> None:
    program = load(example_program("trades"))
    counts, withdrawn = withdrawals(program, "trades", events=60, seed=0)
    parts = list(generate("trades", events=60, keys=KEYS, seed=0))
    inputs = {name: pa.Table.from_batches([part[name] for part in parts]) for name in parts[0]}
    tables = program.run_local(inputs).tables
    left = {event: n_left for event, _, _, n_left in counts.rows}
    assert left["big_trade"] == tables["big_trade"].num_rows > 0
    assert left["buy"] == tables["buy"].num_rows > 0
    assert {event for event, *_ in withdrawn.rows} == {event for event, _, n_withdrawn, _ in counts.rows if n_withdrawn}
    assert all(emitted == n_left + gone for _, emitted, gone, n_left in counts.rows)


def test_sums_of_independent_times_are_explained() -> None:
    program = load(example_program("building"))
    (note,) = notes_on_sums(program, [SimpleNamespace(event=event.name) for event in program.plan.shown])
    assert note.startswith("Expected is no estimate of true for coffee_now and stays_now: without GIVEN")
