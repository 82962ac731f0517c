"""Scorecards: all scores of one forecaster, and a table of several forecasters of one event."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import pyarrow as pa

from inkling.forecasting.calibration import Calibration
from inkling.forecasting.scoring.classification import Confusion
from inkling.forecasting.scoring.intervals import IntervalScores
from inkling.forecasting.scoring.tally import Tally

TABLE = pa.schema(
    [
        ("name", pa.string()),
        ("order", pa.int64()),
        ("forecasts", pa.int64()),
        *(
            (name, pa.float64())
            for name in ("base_rate", "brier_score", "brier_skill", "log_loss", "auc", "calibration_error")
        ),
        *((name, pa.int64()) for name in ("tp", "tn", "fp", "fn")),
        *(
            (name, pa.float64())
            for name in ("precision", "recall", "specificity", "npv", "accuracy", "f1", "informedness", "mcc")
        ),
        *(
            (name, pa.float64())
            for name in ("coverage", "mean_spread", "interval_score", "rmse", "mae", "mare", "loss")
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The scores of one forecaster: a model of some order, or a baseline."""

    name: str
    tally: Tally
    apart: Tally  # only forecasts that do not overlap and end before the end of their key
    order: int | None = None  # of a model; None for a baseline
    intervals: IntervalScores | None = None

    def at(self, threshold: float) -> Confusion:
        return self.tally.at(threshold)

    def calibration(self, bins: int = 10) -> Calibration | None:
        """The calibration of forecasts that do not overlap; None without forecasts."""
        return Calibration.of(self.apart.pairs, bins) if self.apart.n_forecasts else None


@dataclass(frozen=True, slots=True)
class Scores:
    """The scorecards of several forecasters of one event, over the same events."""

    event: str
    asked: str  # the kind of forecast in words
    threshold: float
    cards: tuple[Scorecard, ...]
    learned_from: str = ""  # in words: which part of the data
    has_intervals: bool = False

    def card(self, name: str) -> Scorecard:
        return next(card for card in self.cards if card.name == name)

    @property
    def models(self) -> tuple[Scorecard, ...]:
        return tuple(card for card in self.cards if card.order is not None)

    def to_table(self) -> pa.Table:
        """A row per forecaster."""
        return pa.Table.from_pylist([_row(card, self.threshold) for card in self.cards], schema=TABLE)


def write_scores(
    scores: Mapping[str, Scores], path: str | PathLike[str], *, title: str = "Scores of forecasts"
) -> Path:
    """Writes a self-contained HTML page with the scores of all forecasts of a program."""
    from inkling.forecasting.scoring.page import write_page

    return write_page(scores, path, title=title)


def _row(card: Scorecard, threshold: float) -> dict[str, object]:
    tally, found, intervals = card.tally, card.at(threshold), card.intervals
    curve = card.calibration()
    row: dict[str, object] = {
        "name": card.name,
        "order": card.order,
        "forecasts": tally.n_forecasts,
        "base_rate": tally.base_rate,
        "brier_score": tally.brier_score,
        "brier_skill": tally.brier_skill,
        "log_loss": tally.log_loss,
        "auc": tally.sweep().auc,
        "calibration_error": None if curve is None else curve.expected_calibration_error,
        "npv": found.negative_predictive_value,
    }
    row |= {
        name: getattr(found, name)
        for name in ("tp", "tn", "fp", "fn", "precision", "recall", "specificity", "accuracy", "f1", "informedness")
    }
    row["mcc"] = found.mcc
    if intervals is not None:
        names = ("coverage", "mean_spread", "interval_score", "rmse", "mae", "mare", "loss")
        row |= {name: getattr(intervals, name) for name in names}
    return row
