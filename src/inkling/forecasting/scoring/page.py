"""The page of scores: plots and tables for each forecast, in one self-contained HTML file."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from inkling.forecasting.scoring import plots
from inkling.forecasting.scoring.scorecard import Scores
from inkling.pages import templates, written

CHANCES = {
    "forecasts": "forecasts",
    "base_rate": "came true",
    "brier_score": "Brier score",
    "brier_skill": "Brier skill",
    "log_loss": "log loss",
    "auc": "AUC",
    "calibration_error": "calibration error",
}
YES_OR_NO = {
    "tp": "TP",
    "tn": "TN",
    "fp": "FP",
    "fn": "FN",
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "npv": "NPV",
    "accuracy": "accuracy",
    "f1": "F1",
    "informedness": "informedness",
    "mcc": "MCC",
}
INTERVALS = {
    "forecasts": "forecasts",
    "coverage": "coverage",
    "mean_spread": "mean spread",
    "interval_score": "interval score",
    "rmse": "RMSE",
    "mae": "MAE",
    "mare": "MARE",
    "loss": "loss",
}
"""The columns of the tables, and their titles."""


def build_page(scores: Mapping[str, Scores], *, title: str = "Scores of forecasts") -> str:
    tables = {name: one.to_table().to_pylist() for name, one in scores.items()}
    # the style of figures is that of calibrations
    template = templates("inkling.forecasting.scoring", "inkling.forecasting.calibration").get_template(
        "scores.html.j2"
    )
    return template.render(
        title=title,
        scores=scores,
        tables=tables,
        plots={name: plots.plots_of(one) for name, one in scores.items()},
        size=plots,
        chances=CHANCES,
        yes_or_no=YES_OR_NO,
        intervals=INTERVALS,
    )


def write_page(scores: Mapping[str, Scores], path: str | PathLike[str], *, title: str = "Scores of forecasts") -> Path:
    """Writes the page, and creates its folder if needed."""
    return written(build_page(scores, title=title), path)
