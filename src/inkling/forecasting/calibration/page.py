"""The page of calibrations: a plot, scores and the numbers of the curve, in one self-contained HTML file."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from inkling.forecasting.calibration import plot
from inkling.forecasting.calibration.calibration import Calibration
from inkling.pages import templates, written


def build_page(calibrations: Mapping[str, Calibration], *, title: str = "Calibration") -> str:
    """The page as text; a single calibration needs no name."""
    template = templates("inkling.forecasting.calibration").get_template("calibration.html.j2")
    return template.render(title=title, calibrations=calibrations, series=plot.drawn(calibrations), plot=plot)


def write_page(
    calibrations: Mapping[str, Calibration], path: str | PathLike[str], *, title: str = "Calibration"
) -> Path:
    """Writes the page, and creates its folder if needed."""
    return written(build_page(calibrations, title=title), path)
