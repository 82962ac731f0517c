"""`inkling chances` on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inkling.cli import app

PROGRAM = """\
STREAM At(who STRING, room STRING, t BIGINT) KEY who TIME t PROBABILITY p;
EVENT seen(who) AS PATTERN At a[room = 'lab'] PARTITION BY who PER END;
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.ink").write_text(PROGRAM)
    (tmp_path / "At.csv").write_text("who,room,t,p\nann,lab,1,0.5\nann,lab,2,0.5\nann,hall,2,0.5\n")
    return tmp_path


def chances(folder: Path, *spans: str, status: int = 0) -> str:
    options = [word for span in spans for word in ("--during", span)]
    result = CliRunner().invoke(app, ["chances", str(folder / "p.ink"), "seen", "-i", str(folder), "-q", *options])
    assert result.exit_code == status, result.output
    return result.output


def test_a_row_for_each_span(folder: Path) -> None:
    lines = chances(folder, "1..1", "1..2").splitlines()
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    assert [row for row in cells if row[0] == "'ann'"] == [
        ["'ann'", "1", "1", "0.5", "'exact'", "0"],
        ["'ann'", "1", "2", "0.75", "'exact'", "0"],
    ]


def test_a_file(folder: Path) -> None:
    output = folder / "found.jsonl"
    result = CliRunner().invoke(
        app, ["chances", str(folder / "p.ink"), "seen", "-i", str(folder), "-q", "--during", "1..2", "-o", str(output)]
    )
    assert result.exit_code == 0
    (row,) = [json.loads(line) for line in output.read_text().splitlines()]
    assert (row["who"], row["since"], row["until"], row["probability"]) == ("ann", 1, 2, 0.75)


@pytest.mark.parametrize("span", ["1", "..2", "1.."])
def test_no_span(folder: Path, span: str) -> None:
    assert "is not a span" in chances(folder, span, status=2)


def test_spans_of_another_clock(folder: Path) -> None:
    assert "INK0657" in chances(folder, "2026-01-01..2026-01-02", status=3)
