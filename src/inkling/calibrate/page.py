"""Calibrations in, one HTML page out: a plot, the scores and the numbers behind the curve; it loads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined

from inkling.calibrate import plot
from inkling.calibrate.calibration import Calibration


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
    """Write the page, making its folder when there is none."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(build_page(calibrations, title=title), encoding="utf-8", newline="\n")
    return target


@cache
def _environment() -> Environment:
    def read(name: str) -> str:
        return (files("inkling.calibrate") / "templates" / name).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(read), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["score"] = _score
    environment.filters["count"] = lambda number: f"{number:,}"
    return environment


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
