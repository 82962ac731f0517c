"""Several calibrations side by side, in one table and one plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import pyarrow as pa

from inkling.calibrate.calibration import Calibration

MOST = 6
"""Curves that can still be told apart in one plot."""


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
        """Write a page with all curves in one plot; it loads nothing."""
        from inkling.calibrate.page import write_page

        return write_page(self.calibrations, path, title=title)


def compare(calibrations: Mapping[str, Calibration]) -> Comparison:
    """Calibrations to be looked at together, such as those of a program and of a simpler way."""
    return Comparison(dict(calibrations))
