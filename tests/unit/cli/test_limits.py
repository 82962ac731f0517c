"""`--memory` ends a run whose matches outgrow it; `--keep-complete` keeps the results of the other events."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from inkling.cli import app
from inkling.evaluators.memory import VARIABLE

PROGRAM = """STREAM A(k INT, t INT) TIME t;
EVENT pairs AS PATTERN SEQ(A a, A b);
EVENT later AS PATTERN SEQ NEXT(pairs p, A a);
EVENT even AS PATTERN A a[k % 2 = 0];
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "")  # restored afterwards
    Path("bomb.ink").write_text(PROGRAM)
    Path("A.csv").write_text("k,t\n" + "".join(f"{t},{t}\n" for t in range(300_000)))


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["run", "bomb.ink", "-i", "A=A.csv", "-o", "found.parquet", *words])


@pytest.mark.slow
def test_nothing_is_written_of_a_run_that_is_too_large() -> None:
    result = run("--memory", "3GB", "--runner", "local")
    assert result.exit_code == 3
    assert "warning[INK0398]: the number of matches of `pairs` grows" in result.stderr
    assert "error[INK0590]: `pairs` needs more memory" in result.stderr
    assert not Path("found.parquet").exists()


@pytest.mark.slow
def test_what_is_complete_is_kept() -> None:
    result = run("--memory", "3GB", "--runner", "local", "--keep-complete")
    assert (result.exit_code, "INK0590" in result.stderr) == (3, True)
    found = pq.read_table("found.parquet")
    assert set(found["event"].to_pylist()) == {"even"}
    assert found.num_rows == 150_000


@pytest.mark.long
@pytest.mark.spark
def test_the_same_on_spark() -> None:
    result = run("--memory", "3GB", "--master", "local[2]", "--keep-complete")
    assert (result.exit_code, "INK0590" in result.stderr) == (3, True)
    assert pq.read_table("found.parquet").num_rows == 150_000


@pytest.mark.parametrize("size", ["much", "-1", "0", "nan"])
def test_a_size_is_a_number_with_a_unit(size: str) -> None:
    result = run("--memory", size)
    assert result.exit_code == 2
    assert "4GB" in result.stderr
