"""A demo in doubt shows what certain processing would have claimed, and how much of it is wrong."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from inkling import load
from inkling.cli import app
from inkling.cli.examples import example_program

EVENTS = ("loaded", "left_behind", "through_open_door", "loaded_at_second_try")
STREAMS = ("Seen", "Pickup", "Door")


def keys(folder: Path, event: str) -> set[tuple[str, str]]:
    program = load(example_program("mixed").with_name("certain.ink"))
    table = program.run_local({name: folder / f"{name}.parquet" for name in STREAMS}).tables[event]
    return set(zip(table["shift"].to_pylist(), table["pallet"].to_pylist(), strict=True))


def test_claims_are_counted_against_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["demo", "mixed", "--events", "900", "--seed", "2", "--runner", "local", "--epsilon", "0.1", "-o", "data"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    shown = result.stdout[result.stdout.index("Taken for certain") :]
    for event in EVENTS:
        (line,) = [line for line in shown.splitlines() if line.startswith(f"│ {event} ")]
        cells = [cell.strip() for cell in line.strip("│").split("│")]
        true, claimed = keys(Path("data/true"), event), keys(Path("data/naive"), event)
        assert cells[1:5] == [str(len(some)) for some in (true, claimed, claimed - true, true - claimed)]
        assert f"calibration: data/calibration/{event}.html" in result.stdout
        assert Path(f"data/calibration/{event}.html").read_text().count('class="curve"') == 2


def test_a_demo_without_doubt_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["demo", "building", "--events", "500", "--runner", "local"])
    assert result.exit_code == 0
    assert "Taken for certain" not in result.stdout
