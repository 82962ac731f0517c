"""`inkling score`, and the example that it is shown with."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from inkling import InputError, load
from inkling.cli import app
from inkling.cli.commands.models.score import orders_of
from inkling.forecasting.learning import load_model

PROGRAM = Path(__file__).parents[3] / "examples" / "approach" / "approach.ink"


def call(*words: str) -> Result:
    return CliRunner().invoke(app, words)


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_scores_of_a_program_and_a_page() -> None:
    assert call("generate", "approach", "-o", "data", "--events", "4000", "--keys", "10", "-q").exit_code == 0
    result = call(
        *("score", str(PROGRAM), "-i", "data", "--runner", "local", "-o", "deep/page.html"),
        *("--train-until", "2024-01-08T04:00:00", "--order", "0,2", "--kind", "full", "--threshold", "0.4"),
    )
    assert result.exit_code == 0, result.output
    assert "soon: approaching_port within 5 events; positive from 0.4" in result.stdout
    assert "precision" in result.stdout
    assert "recall" in result.stdout
    assert "best by log loss: order 2" in result.stdout
    assert "arrival: approaching_port the shortest interval of at least 75%" in result.stdout
    for row in ("order 0", "order 2", "share of positives", "mean waiting time", "last interval"):
        assert row in result.stdout
    assert "page: deep/page.html" in result.stderr
    page = Path("deep/page.html").read_text()
    assert "rows until 2024-01-08 04:00:00" in page
    assert "://" not in page, "it loads nothing"


def test_models_that_are_there_are_judged_on_all_rows() -> None:
    assert call("generate", "approach", "-o", "data", "--events", "2000", "--keys", "4", "-q").exit_code == 0
    told = ("-i", "data", "--runner", "local")
    assert call("fit", str(PROGRAM), *told, "-o", "models", "--order", "2").exit_code == 0
    for models in ("models", "models/approach.parquet"):
        result = call("score", str(PROGRAM), *told, "--models", models)
        assert result.exit_code == 0, result.output
        assert "order 2" in result.stdout
        assert "order 1" not in result.stdout
    program = load(PROGRAM)
    rows = pq.read_table("data/Position.parquet")
    scores = program.score({"Position": rows}, models={"approach": load_model("models/approach.parquet")})
    judged = scores["soon"].card("order 2").tally.n_forecasts
    said = program.run_local({"Position": rows}, {"approach": "models/approach.parquet"}).tables["soon"]
    assert judged == said.num_rows
    assert call("score", str(PROGRAM), *told, "--models", "models", "--train-share", "0.5").exit_code == 2
    deep = call("score", str(PROGRAM), *told, "--models", "models", "--order", "3")
    assert "the model has at most order 2" in deep.stderr
    with pytest.raises(InputError, match="the model `approach` is missing"):
        program.score({"Position": rows}, models={})


def test_a_share_that_leaves_nothing_to_judge() -> None:
    assert call("generate", "approach", "-o", "data", "--events", "500", "--keys", "2", "-q").exit_code == 0
    result = call("score", str(PROGRAM), "-i", "data", "--runner", "local", "--train-share", "1")
    assert "learn from fewer rows, with a smaller share" in result.stderr


@pytest.mark.parametrize("order", ["", "x", "1..", "2..1", "1,1", "-1"])
def test_orders_that_make_no_sense(order: str) -> None:
    result = call("score", str(PROGRAM), "-i", ".", "--order", order, "--runner", "local")
    assert result.exit_code == 2
    assert "order" in result.stderr


def test_orders() -> None:
    assert orders_of("0..2") == (0, 1, 2)
    assert orders_of("4") == (4,)


def test_the_demo_learns_forecasts_and_judges() -> None:
    result = call("demo", "approach", "--events", "6000", "--runner", "local")
    assert result.exit_code == 0, result.output
    folder = Path("out/demo/approach")
    assert {"approach.parquet", "law.csv", "report.html", "scores.html"} <= {path.name for path in folder.iterdir()}
    assert "order 5" in result.stdout
    assert "scores: out/demo/approach/scores.html" in result.stdout


def test_the_example_can_be_timed() -> None:
    result = call("bench", "approach", "--events", "3000", "--repeat", "1", "--runner", "local")
    assert result.exit_code == 0, result.output
    assert "3,000 rows" in result.stdout
