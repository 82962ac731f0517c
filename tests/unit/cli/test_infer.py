"""`inkling infer`: streams from files of readings, with a summary."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from inkling import infer
from inkling.cli import app
from inkling.infer.model import Model
from inkling.io import read_table

TABLES = ("--readings", "readings.csv", "--movement", "movement.csv", "--sensors", "readers.csv")


def call(*words: str) -> Result:
    return CliRunner().invoke(app, ["infer", *words])


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("movement.csv").write_text("previous,state,p\nO,O,0.75\nO,H,0.25\nH,O,0.5\nH,H,0.5\n")
    Path("readers.csv").write_text("reader,state,p\nr,H,0.6\n")
    Path("readings.csv").write_text("who,t,reader\njoe,1,r\njoe,3,\nsue,2,r\n")


@pytest.mark.parametrize(
    ("command", "make"),
    [
        (("filter",), lambda r, m: infer.filtered(r, m, key="who")),
        (("smooth", "--prune", "0.1"), lambda r, m: infer.smoothed(r, m, key="who", prune=0.1)),
        (("path",), lambda r, m: infer.viterbi(r, m, key="who")),
        (("path", "--kind", "mle"), lambda r, m: infer.mle(r, m, key="who")),
        (("particles", "-n", "50", "--seed", "3"), lambda r, m: infer.particles(r, m, key="who", n=50, seed=3)),
    ],
)
def test_a_file_holds_what_the_function_returns(command: tuple[str, ...], make: object) -> None:
    result = call(*command, *TABLES, "--key", "who", "-o", "out.parquet")
    assert result.exit_code == 0, result.output
    expected = make("readings.csv", Model.of("movement.csv", "readers.csv"))
    assert read_table("out.parquet", what="out").equals(expected)
    assert f"3 readings of 2 keys: {len(expected)} rows" in result.stderr
    assert ("left out at most" in result.stderr) == ("--prune" in command)


def test_learning_writes_the_tables_of_a_model() -> None:
    result = call("learn", *TABLES, "--key", "who", "--rounds", "3", "-o", "learned")
    assert result.exit_code == 0, result.output
    assert "3 rounds: log-likelihood from" in result.stderr
    learned = Model.of(*(f"learned/{name}.csv" for name in ("movement", "readers", "prior")))
    expected = infer.learn("readings.csv", Model.of("movement.csv", "readers.csv"), rounds=3, key="who").model
    assert abs(learned.chance - expected.chance).max() < 1e-12
    assert abs(learned.moves.chance - expected.moves.chance).max() < 1e-12


def test_errors_are_told() -> None:
    result = call("filter", *TABLES, "-o", "out.parquet")
    assert result.exit_code == 3
    assert "INK0664" in result.stderr
    assert call("filter", *TABLES, "--key", "who", "-o", "out.xyz").exit_code == 3
    assert "INK0669" in call("filter", *TABLES, "--key", "who", "--every", "0", "-o", "-").stderr
