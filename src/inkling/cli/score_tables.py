"""Scores of forecasts as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from inkling.scoring.scorecard import Scores

CHANCES = {
    "forecasts": "n",
    "base_rate": "came true",
    "brier_score": "Brier",
    "log_loss": "log loss",
    "auc": "AUC",
    "f1": "F1",
    "mcc": "MCC",
}
INTERVALS = {
    "forecasts": "n",
    "coverage": "hold",
    "mean_spread": "spread",
    "interval_score": "score",
    "rmse": "RMSE",
    "loss": "loss",
}
"""What fits a terminal of 80 columns; the page has the rest."""


def print_scores(scores: Mapping[str, Scores]) -> None:
    from rich.console import Console

    console = Console()
    for name, one in scores.items():
        console.print(_table(name, one))


def _table(name: str, scores: Scores) -> Table:
    from rich.table import Table

    columns = INTERVALS if scores.has_intervals else CHANCES
    at = "" if scores.has_intervals else f"; yes from {scores.threshold:g} on"
    table = Table(title=f"{name}: {scores.asked}{at}", title_justify="left")
    table.add_column("", no_wrap=True)
    for told in columns.values():
        table.add_column(told, justify="right")
    for row in scores.to_table().to_pylist():
        table.add_row(row["name"], *(_cell(row[column]) for column in columns))
    return table


def _cell(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
