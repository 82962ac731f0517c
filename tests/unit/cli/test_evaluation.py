"""A demo uncertain shows what certain processing would have claimed, and how much of it is wrong."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inkling import load
from inkling.cli import app
from inkling.cli.commands.examples.data import example_program

pytestmark = pytest.mark.slow

EVENTS = ("loaded", "left_behind", "through_open_door", "loaded_at_second_try")
STREAMS = ("Seen", "Pickup", "Door")


def keys(folder: Path, event: str) -> set[tuple[str, str]]:
    program = load(example_program("mixed").with_name("certain.ink"))
    table = program.run_local({name: folder / f"{name}.parquet" for name in STREAMS}).tables[event]
    return set(zip(table["shift"].to_pylist(), table["pallet"].to_pylist(), strict=True))


def cells_of(shown: str, title: str, event: str) -> list[str]:
    line = next(line for line in shown[shown.index(title) :].splitlines() if line.startswith(f"│ {event} "))
    return [cell.strip() for cell in line.strip("│").split("│")]


@pytest.mark.parametrize("name", ["building", "cluster", "funnel", "motorway", "buses"])
def test_a_readme_shows_what_the_demo_prints(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    result = CliRunner().invoke(app, ["demo", name, "--runner", "local"])
    assert result.exit_code == 0, result.output
    tables = result.stdout[result.stdout.index("Deterministic and probabilistic results compared") :].splitlines()
    printed = "\n".join(line.rstrip() for line in tables)
    readme = example_program(name).with_name("README.md").read_text()
    (shown,) = re.findall(r"^```text\n(Deterministic and .*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert printed.startswith(shown.rstrip())


def test_claims_are_counted_against_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["demo", "mixed", "--events", "900", "--seed", "2", "--runner", "local", "--epsilon", "0.1", "-o", "data"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    for event in EVENTS:
        cells = cells_of(result.stdout, "Deterministic and probabilistic results compared", event)
        true, claimed = keys(Path("data/true"), event), keys(Path("data/naive"), event)
        assert cells[1:5] == [str(len(some)) for some in (true, claimed, claimed - true, true - claimed)]
        n_certain, n_possible = map(int, cells_of(result.stdout, "Results compared with the truth", event)[3:5])
        assert n_certain <= len(true) <= n_certain + n_possible
        n_results = n_certain + n_possible
        assert f"{n_results} results: {n_certain} certain, {n_possible} possible" in result.stdout
        assert f"calibration: data/calibration/{event}.html" in result.stdout
        assert Path(f"data/calibration/{event}.html").read_text().count('class="curve"') == 2


def test_a_demo_without_uncertainty_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["demo", "fleet", "--events", "500", "--runner", "local"])
    assert result.exit_code == 0
    assert "Deterministic and probabilistic results compared" not in result.stdout
