"""Rules of ETALIS on the command line: whatever takes a program takes them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import inkling
from inkling.cli import app

RULES = """\
:- stream(price(company: string, value: double)).

rise(C, P2) <- (price(C, P1) SEQ price(C, P2)).7 WHERE P2 > 1.5 * P1, not banned(C).

banned(acme).
"""
PRICES = "company,value,t\nx,100,0\nx,160,5\nx,300,9\nacme,1,9\nacme,3,10\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.ele").write_text(RULES)
    (tmp_path / "price.csv").write_text(PRICES)
    return tmp_path


def said(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_run(folder: Path) -> None:
    text = said(
        "run", str(folder / "rules.ele"), "-i", f"price={folder / 'price.csv'}", "-o", "-", "--runner", "local", "-q"
    )
    rows = [json.loads(line) for line in text.splitlines()]
    assert [(row["event"], row["C"], row["P2"], row["start"], row["end"]) for row in rows] == [
        ("rise", "x", 160.0, 0, 5),
        ("rise", "x", 300.0, 5, 9),
    ]


def test_arithmetic(folder: Path) -> None:
    (folder / "rules.ele").write_text("e(Y) <- price(_, X) WHERE Y is X ** 2 + X mod 7 - sqrt(X), X =:= 9.")
    rows = [{"a1": "x", "a2": 9.0, "t": 1}, {"a1": "x", "a2": 8.0, "t": 2}]
    found = inkling.load(folder / "rules.ele").run_local({"price": rows}).tables["e"]
    assert found["Y"].to_pylist() == [81 + 2 - 3]


def test_check(folder: Path) -> None:
    assert said("check", str(folder / "rules.ele")).endswith("OK (1 event, 1 stream)\n")


def test_check_points_into_the_rules(folder: Path) -> None:
    (folder / "rules.ele").write_text(RULES.replace("banned(acme)", "baned(acme)"))
    result = CliRunner().invoke(app, ["check", str(folder / "rules.ele")])
    assert result.exit_code == 1
    column = RULES.splitlines()[2].index("banned") + 1
    assert f"rules.ele:3:{column}\n" in result.stderr


def test_explain(folder: Path) -> None:
    assert "rise" in said("explain", str(folder / "rules.ele"))


def test_fmt_keeps_rules(folder: Path) -> None:
    assert said("fmt", str(folder / "rules.ele")) == RULES


def test_fmt_to_ink_prints_an_equal_program(folder: Path) -> None:
    text = said("fmt", "--to", "ink", str(folder / "rules.ele"))
    assert inkling.parse(text).syntax == inkling.load(folder / "rules.ele").syntax


def test_fmt_to_ink_does_not_rewrite_files(folder: Path) -> None:
    result = CliRunner().invoke(app, ["fmt", "--to", "ink", "--write", str(folder / "rules.ele")])
    assert result.exit_code == 2


def test_pushed_rows(folder: Path) -> None:
    stream = inkling.load(folder / "rules.ele").open()
    found = [
        stream.push({"price": [{"company": "x", "value": 1.0, "t": 1}]}),
        stream.push({"price": [{"company": "x", "value": 2.0, "t": 3}]}),
        stream.finish(),
    ]
    rows = [row for some in found for row in some["rise"].to_pylist()]
    assert [(row["C"], row["start"], row["end"]) for row in rows] == [("x", 1, 3)]
