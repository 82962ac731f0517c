"""The calibration of probabilities: reliability curve, scores, and the test of the diagonal.

>>> results = [{"probability": 0.8, "happened": True}, {"probability": 0.2, "happened": False}]
>>> round(calibrate(results, "happened").brier_score, 3)
0.04
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import pyarrow as pa

from inkling.errors import InputError
from inkling.forecasting.calibration.diagonal import DiagonalTest, diagonal_test
from inkling.forecasting.calibration.pairs import Pairs, joined, labeled
from inkling.forecasting.calibration.reliability import (
    Bin,
    brier_score,
    brier_skill,
    expected_calibration_error,
    log_loss,
    reliability,
)
from inkling.io import Data

BIN_COLUMNS = pa.schema(
    [
        ("lo", pa.float64()),
        ("hi", pa.float64()),
        ("n", pa.int64()),
        ("mean_probability", pa.float64()),
        ("share", pa.float64()),
        ("share_lo", pa.float64()),
        ("share_hi", pa.float64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Probabilities compared with outcomes."""

    n: int  # pairs of a probability and an outcome
    n_missed: int  # of these, outcomes without a result
    base_rate: float
    bins: tuple[Bin, ...]
    n_bins: int  # empty ones included
    brier_score: float
    brier_skill: float | None
    expected_calibration_error: float
    log_loss: float | None
    diagonal: DiagonalTest

    @classmethod
    def of(cls, pairs: Pairs, bins: int = 10) -> Calibration:
        """The calibration of pairs, of which there is at least one."""
        curve = reliability(pairs, bins)
        return cls(
            n=len(pairs),
            n_missed=pairs.n_missed,
            base_rate=pairs.base_rate,
            bins=curve,
            n_bins=bins,
            brier_score=brier_score(pairs),
            brier_skill=brier_skill(pairs),
            expected_calibration_error=expected_calibration_error(curve),
            log_loss=log_loss(pairs),
            diagonal=diagonal_test(pairs),
        )

    @property
    def mean_probability(self) -> float:
        """The mean stated probability; it should equal `base_rate`."""
        return sum(one.n * one.mean_probability for one in self.bins) / self.n

    @property
    def bias(self) -> float:
        """The mean probability minus the base rate."""
        return self.mean_probability - self.base_rate

    def lies_on_diagonal(self, significance: float = 0.01) -> bool:
        """Whether random variation explains the distance from the diagonal; right probabilities fail at this rate."""
        return self.diagonal.p_value >= significance

    def to_table(self) -> pa.Table:
        """The reliability curve, a row per bin that is not empty."""
        rows = [
            {
                "lo": one.lo,
                "hi": one.hi,
                "n": one.n,
                "mean_probability": one.mean_probability,
                "share": one.share,
                "share_lo": one.interval[0],
                "share_hi": one.interval[1],
            }
            for one in self.bins
        ]
        return pa.Table.from_pylist(rows, schema=BIN_COLUMNS)

    def to_html(self, path: str | PathLike[str], *, title: str = "Calibration") -> Path:
        """Writes a self-contained HTML page with the plot and the numbers."""
        return compare({"": self}).to_html(path, title=title)


def calibrate(
    results: Data, truth: Data, *, on: Sequence[str] | None = None, among: Data | None = None, bins: int = 10
) -> Calibration:
    """Compare stated probabilities with what really happened.

    Parameters
    ----------
    results
        A table with a column `probability`, and `error` if probabilities are estimates: a path, a pandas, polars or
        Arrow table, or a list of rows.
    truth
        Without `on`: the name of a column of the results that says whether each happened. With `on`: a table of
        what happened. Results without a partner in it did not happen; truths without a result count as probability 0.
    on
        The columns that identify a result, in all tables.
    among
        What could have happened: of these, what has no result counts as probability 0. Scores of two ways to compute
        probabilities can be compared only among the same candidates.
    bins
        Into how many bins of equal width the probabilities are divided.
    """
    if on is None:
        if not isinstance(truth, str):
            raise InputError.of(
                "INK0558",
                "there is no column to join results and truth on",
                helps=("name some, such as `on=['key']`, or name the column of the results that holds the truth",),
            )
        pairs = labeled(results, truth)
    else:
        pairs = joined(results, truth, [on] if isinstance(on, str) else list(on), among)
    return Calibration.of(pairs, bins)


MOST = 6
"""The most curves in one plot."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Calibrations by name."""

    calibrations: Mapping[str, Calibration]

    def __post_init__(self) -> None:
        if not 1 <= len(self.calibrations) <= MOST:
            raise ValueError(f"expected one to {MOST} calibrations, found {len(self.calibrations)}")

    def to_table(self) -> pa.Table:
        """A row of scores per calibration."""
        rows = [
            {
                "name": name,
                "n": one.n,
                "missed": one.n_missed,
                "mean_probability": one.mean_probability,
                "base_rate": one.base_rate,
                "brier_score": one.brier_score,
                "brier_skill": one.brier_skill,
                "expected_calibration_error": one.expected_calibration_error,
                "log_loss": one.log_loss,
                "p_value": one.diagonal.p_value,
            }
            for name, one in self.calibrations.items()
        ]
        scores = ("brier_score", "brier_skill", "expected_calibration_error", "log_loss", "p_value")
        floats = ("mean_probability", "base_rate", *scores)
        counts = [("n", pa.int64()), ("missed", pa.int64())]
        return pa.Table.from_pylist(
            rows, schema=pa.schema([("name", pa.string()), *counts, *((name, pa.float64()) for name in floats)])
        )

    def to_html(self, path: str | PathLike[str], *, title: str = "Calibration") -> Path:
        """Writes a self-contained HTML page with all curves in one plot."""
        from inkling.forecasting.calibration import plot
        from inkling.pages import templates, written

        template = templates("inkling.forecasting.calibration").get_template("calibration.html.j2")
        series = plot.drawn(self.calibrations)
        return written(template.render(title=title, calibrations=self.calibrations, series=series, plot=plot), path)


def compare(calibrations: Mapping[str, Calibration]) -> Comparison:
    """Calibrations to compare, such as those of a program and of a baseline."""
    return Comparison(dict(calibrations))
