"""`inkling why` on the command line."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from inkling.cli import app

PROGRAM = """\
STREAM Temp(id STRING, v BIGINT, t BIGINT) ID id TIME t;
EVENT m(v) AS PATTERN Temp t WHERE v = t.v PER INTERVAL;
EVENT m(v) AS PATTERN SEQ(m p, Temp t) WHERE t.v > p.v AND v = t.v PER INTERVAL;
EVENT high(x.v AS v) AS PATTERN SEQ(m x, Temp b[v > 10]);
"""
ROWS = "id,v,t\nt1,5,1\nt2,3,2\nt3,7,3\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.ink").write_text(PROGRAM)
    (tmp_path / "Temp.csv").write_text(ROWS)
    return tmp_path


def why(folder: Path, *arguments: str, status: int = 0) -> list[str]:
    result = CliRunner().invoke(app, ["why", str(folder / "p.ink"), *arguments, "-i", str(folder), "-q"])
    assert result.exit_code == status, result.output
    return result.output.splitlines()


def test_how_far_it_got(folder: Path) -> None:
    assert why(folder, "high") == [
        "                  rows  candidates  matches",
        "m x                  5           5        5",
        "Temp b[b.v > 10]     3           0        0",
        "PER MATCH                                 0",
        "",
        "no `Temp b[b.v > 10]` happens, whatever comes before or after",
    ]


def test_each_declaration(folder: Path) -> None:
    lines = why(folder, "m")
    assert [line for line in lines if line.endswith(":")] == ["declaration 1:", "declaration 2:"]
    assert lines[-1] == "m: 5 results"


def test_tree(folder: Path) -> None:
    expected = [
        "m(v=7) at 1 to 3",
        "├─ p: m(v=5) at 1",
        "│  └─ t: Temp #t1(id='t1', v=5, t=1) at 1",
        "└─ t: Temp #t3(id='t3', v=7, t=3) at 3",
    ]
    assert why(folder, "m", "--result", "t3,t1") == expected
    assert why(folder, "m", "--result-number", "3") == expected


def test_no_such_result(folder: Path) -> None:
    assert why(folder, "m", "--result", "t9", status=3)[0] == "error[INK0562]: `m` has no result that rests on t9"
    assert why(folder, "m", "--result-number", "9", status=3)[0] == "error[INK0562]: `m` has no result number 9"


def test_no_such_event(folder: Path) -> None:
    assert why(folder, "hih", status=3) == [
        "error[INK0561]: the program has no event called `hih`",
        "   = note: its events are m, high",
        "   = help: ask for `high`",
    ]


def test_ids_or_number(folder: Path) -> None:
    why(folder, "m", "--result", "t1", "--result-number", "1", status=2)
