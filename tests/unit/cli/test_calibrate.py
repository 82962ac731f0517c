"""`inkling calibrate`: scores in the terminal, a page beside them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from inkling.cli import app


def call(*words: str) -> Result:
    return CliRunner().invoke(app, words)


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["event,key,probability"]
    rows += [f"seen,k{number},{0.25 if number < 40 else 0.75}" for number in range(80)]
    rows += [f"lost,k{number},0.5" for number in range(10)]
    Path("results.csv").write_text("\n".join(rows) + "\n")
    happened = [f"seen,k{number}" for number in (*range(10), *range(40, 70))]
    Path("truth.csv").write_text("\n".join(["event,key", *happened, "lost,k1"]) + "\n")
    Path("naive.csv").write_text("event,key,probability\n" + "".join(f"seen,k{n},1\n" for n in range(40, 80)))


def score(result: Result, name: str) -> list[str]:
    (line,) = [line for line in result.stdout.splitlines() if line.startswith(f"│ {name}")]
    return [cell.strip() for cell in line.strip("│").split("│")][1:]


def test_scores_of_one_event() -> None:
    result = call("calibrate", "results.csv", "truth.csv", "--on", "key", "--event", "seen")
    assert result.exit_code == 0
    assert "0.20 to 0.30 │      40 │ 0.250 │    0.250" in result.stdout
    assert score(result, "Brier score") == ["0.1875"]
    assert score(result, "expected calibration error") == ["0.0000"]
    assert score(result, "verdict") == ["on the diagonal"]


def test_results_are_compared_among_the_same_candidates() -> None:
    words = ("calibrate", "results.csv", "truth.csv", "--on", "key", "--event", "seen", "--against", "naive.csv")
    result = call(*words, "-o", "page.html")
    assert result.exit_code == 0
    assert score(result, "results and candidates") == ["80", "80"]
    assert score(result, "happened without a result") == ["0", "10"]
    assert score(result, "Brier score") == ["0.1875", "0.2500"]
    assert score(result, "certainties that failed") == ["0", "20"]
    assert score(result, "verdict") == ["on the diagonal", "off the diagonal"]
    assert "page: page.html" in result.stderr
    page = Path("page.html").read_text()
    assert "Calibration of seen" in page
    assert page.count('class="curve"') == 2


def test_the_truth_can_be_a_column() -> None:
    Path("labeled.csv").write_text("probability,happened\n0.8,true\n0.2,false\n")
    result = call("calibrate", "labeled.csv", "happened")
    assert score(result, "Brier score") == ["0.0400"]


def test_what_is_wrong_is_said() -> None:
    result = call("calibrate", "results.csv", "truth.csv", "--on", "kee", "--event", "seen")
    assert result.exit_code == 3
    assert "the results have no column `kee`" in result.stderr
    assert "write `key`" in result.stderr
    assert call("calibrate", "none.csv", "truth.csv", "--on", "key").exit_code == 3
