"""The plot of calibrations in SVG units: reliability curves above, a histogram of probabilities below."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from inkling.forecasting.calibration.calibration import Calibration
from inkling.forecasting.calibration.reliability import Bin

LEFT, TOP, SIDE = 52.0, 12.0, 420.0
GAP, HISTOGRAM = 44.0, 96.0
RIGHT_MARGIN, BOTTOM_MARGIN = 20.0, 44.0
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

FLOOR = TOP + SIDE + GAP + HISTOGRAM
WIDTH = LEFT + SIDE + RIGHT_MARGIN
HEIGHT = FLOOR + BOTTOM_MARGIN


class PlotPoint(NamedTuple):
    """A bin of a curve, with its error bar."""

    x: float
    y: float
    y_lo: float
    y_hi: float
    radius: float
    tooltip: str


class Bar(NamedTuple):
    """A bin of a histogram."""

    x: float
    y: float
    width: float
    height: float
    tooltip: str


@dataclass(frozen=True, slots=True)
class Series:
    """The curve and the histogram of one calibration; `color` is the number of its color."""

    name: str
    color: int
    points: tuple[PlotPoint, ...]
    bars: tuple[Bar, ...]

    @property
    def line(self) -> str:
        return " ".join(f"{point.x:.1f},{point.y:.1f}" for point in self.points)


def across(share: float) -> float:
    return LEFT + SIDE * share


def up(share: float) -> float:
    return TOP + SIDE * (1 - share)


def drawn(calibrations: Mapping[str, Calibration]) -> tuple[Series, ...]:
    tallest = max(one.n for calibration in calibrations.values() for one in calibration.bins)
    return tuple(
        Series(
            name,
            color,
            tuple(_point(one) for one in calibration.bins),
            tuple(_bar(one, color, len(calibrations), tallest) for one in calibration.bins),
        )
        for color, (name, calibration) in enumerate(calibrations.items())
    )


def _point(one: Bin) -> PlotPoint:
    lo, hi = one.interval
    radius = 3.2 if one.n < 30 else 4.4
    return PlotPoint(across(one.mean_probability), up(one.share), up(lo), up(hi), radius, one.describe("happened"))


def _bar(one: Bin, place: int, n_series: int, tallest: int) -> Bar:
    """Bars of several calibrations share the width of a bin."""
    inner = (one.hi - one.lo) * SIDE - 3
    width = inner / n_series
    height = max(1.0, HISTOGRAM * one.n / tallest)
    tooltip = f"{one.n:,} with probability {one.lo:g} to {one.hi:g}"
    return Bar(across(one.lo) + 1.5 + place * width, FLOOR - height, width, height, tooltip)
