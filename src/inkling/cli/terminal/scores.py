"""Scores of forecasts as tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from inkling.forecasting.scoring.scorecard import Scores

PROBABILITY_COLUMNS = {
    "forecasts": "n",
    "base_rate": "base\nrate",
    "brier_score": "Brier",
    "log_loss": "log\nloss",
    "auc": "AUC",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "mcc": "MCC",
}
INTERVAL_COLUMNS = {
    "forecasts": "n",
    "coverage": "coverage",
    "mean_spread": "mean\nspread",
    "interval_score": "interval\nscore",
    "rmse": "RMSE",
    "loss": "loss",
}
"""The scores that fit a terminal of 80 columns; the page has all of them."""


def print_scores(scores: Mapping[str, Scores]) -> None:
    from rich.console import Console

    console = Console()
    for name, one in scores.items():
        at = "" if one.has_intervals else f"; positive from {one.threshold:g}"
        console.print(f"{name}: {one.asked}{at}", highlight=False)
        console.print(_table(one))
        best = best_order(one)
        if best is not None:
            console.print(best, highlight=False)
        console.print()


def best_order(scores: Scores) -> str | None:
    """The order with the lowest log loss, the lowest order of equals; None if fewer than two orders have one."""
    losses = [(card.tally.log_loss, card.order) for card in scores.models if card.tally.log_loss is not None]
    if scores.has_intervals or len(losses) < 2:
        return None
    return f"best by log loss: order {min(losses)[1]}"


def _table(scores: Scores) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    columns = INTERVAL_COLUMNS if scores.has_intervals else PROBABILITY_COLUMNS
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=0)
    table.add_column("", no_wrap=True)
    for title in columns.values():
        table.add_column(title, justify="right", vertical="bottom")
    for row in scores.to_table().to_pylist():
        table.add_row(row["name"], *(_cell(row[column]) for column in columns))
    return table


def _cell(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
