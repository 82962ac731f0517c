"""The page of calibrations: a plot, scores and the numbers of the curve, in one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path

from jinja2 import Environment

from inkling.forecasting.calibration import plot
from inkling.forecasting.calibration.calibration import Calibration
from inkling.pages import templates, written


def build_page(calibrations: Mapping[str, Calibration], *, title: str = "Calibration") -> str:
    """The page as text; a single calibration needs no name."""
    series = plot.drawn(calibrations)
    return (
        _environment()
        .get_template("calibration.html.j2")
        .render(title=title, calibrations=calibrations, series=series, plot=plot)
    )


def write_page(
    calibrations: Mapping[str, Calibration], path: str | PathLike[str], *, title: str = "Calibration"
) -> Path:
    """Writes the page, and creates its folder if needed."""
    return written(build_page(calibrations, title=title), path)


@cache
def _environment() -> Environment:
    folder = files("inkling.forecasting.calibration") / "templates"
    environment = templates(lambda name: (folder / name).read_text(encoding="utf-8"))
    environment.filters["score"] = lambda value: "–" if value is None else f"{value:.4f}"
    environment.filters["count"] = lambda number: f"{number:,}"
    return environment
