"""The plots of scores in SVG units: axes, and lines with points."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inkling.forecasting.scoring.scorecard import Scorecard, Scores

LEFT, TOP, ACROSS, UP = 72.0, 12.0, 340.0, 250.0
WIDTH, HEIGHT = LEFT + ACROSS + 16, TOP + UP + 44
N_COLORS = 6
MOST_STEPS = 200
"""The most points of a curve over thresholds."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of an axis with its ticks."""

    title: str
    lo: float
    hi: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        return (value - self.lo) / (self.hi - self.lo)


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with an optional error bar."""

    x: float
    y: float
    tooltip: str
    y_lo: float | None = None
    y_hi: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line; `color` is the number of its color, None for gray."""

    name: str
    path: str
    color: int | None = None
    is_dashed: bool = False
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    note: str = ""

    def across(self, value: float) -> float:
        return LEFT + ACROSS * self.x.share(value)

    def up(self, value: float) -> float:
        return TOP + UP * (1 - self.y.share(value))


RELIABILITY_NOTE = (
    "Only forecasts that neither overlap nor reach past the end. Bars: 95 % intervals. "
    "Calibrated chances lie on the dashed line."
)
UNIT_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def plots_of(scores: Scores) -> tuple[Plot, ...]:
    """The plots that are not empty."""
    models = [card for card in scores.models if card.tally.n_forecasts]
    drawn = [reliability_plot(models)]
    if scores.has_intervals:
        drawn += [coverage_plot(models), spread_plot(models)]
    else:
        drawn += [threshold_plot(models, "F1"), threshold_plot(models, "MCC"), roc_plot(models)]
        drawn += [by_order(scores, "Brier score"), by_order(scores, "log loss")]
    return tuple(plot for plot in drawn if any(line.color is not None for line in plot.lines))


def reliability_plot(cards: Sequence[Scorecard]) -> Plot:
    frame = Plot("Reliability", _unit("stated chance"), _unit("share that came true"), ())
    lines = [Line("", _path([(frame.across(0), frame.up(0)), (frame.across(1), frame.up(1))]), None, True)]
    for number, card in enumerate(cards):
        curve = card.calibration()
        if curve is None:
            continue
        marks = []
        for one in curve.bins:
            lo, hi = one.interval
            x, y = frame.across(one.mean_probability), frame.up(one.share)
            marks.append(Mark(x, y, f"{card.name}: {one.describe('came true')}", frame.up(lo), frame.up(hi)))
        lines.append(_marked(card.name, number, marks))
    return _with(frame, lines, RELIABILITY_NOTE)


def threshold_plot(cards: Sequence[Scorecard], score: str) -> Plot:
    """A score of classification by the threshold of positive forecasts."""
    y = _unit(score)
    if score == "MCC":
        y = Axis(score, -0.2, 1.0, (-0.2, *UNIT_TICKS))
    frame = Plot(f"{score} by threshold", _unit("threshold"), y, ())
    lines = []
    for number, card in enumerate(cards):
        sweep = card.tally.sweep()
        every = max(1, len(sweep) // MOST_STEPS)
        found = list(zip(sweep.threshold.tolist(), sweep.confusions(), strict=True))[::every]
        steps = []
        # the score is constant between two neighboring chances
        for (threshold, one), below in zip(found, [*(lower for lower, _ in found[1:]), 0.0], strict=True):
            value = frame.up((one.f1 if score == "F1" else one.mcc) or 0.0)
            steps += [(frame.across(threshold), value), (frame.across(below), value)]
        lines.append(Line(card.name, _path(steps), number % N_COLORS if steps else None))
    return _with(frame, lines)


def roc_plot(cards: Sequence[Scorecard]) -> Plot:
    frame = Plot("ROC", _unit("false positive rate"), _unit("recall"), ())
    lines = [Line("", _path([(frame.across(0), frame.up(0)), (frame.across(1), frame.up(1))]), None, True)]
    for number, card in enumerate(cards):
        across, up = card.tally.sweep().roc()
        if across:
            path = _path([(frame.across(x), frame.up(y)) for x, y in zip(across, up, strict=True)])
            lines.append(Line(card.name, path, number % N_COLORS))
    return _with(frame, lines)


def by_order(scores: Scores, score: str) -> Plot:
    """A score of chances by the order of the model; baselines are dashed."""
    models = [(card, _chance_score(card, score)) for card in scores.models]
    rules = [(card, _chance_score(card, score)) for card in scores.cards if card.order is None]
    values = [value for _, value in (*models, *rules) if value is not None]
    frame = Plot(f"{score} by order", _orders(scores.models), _fitting(score, values), ())
    lines = [
        Line(card.name, _path([(LEFT, frame.up(value)), (LEFT + ACROSS, frame.up(value))]), None, True)
        for card, value in rules
        if value is not None
    ]
    marks = [
        Mark(frame.across(card.order or 0), frame.up(value), f"{card.name}: {value:.4f}")
        for card, value in models
        if value is not None
    ]
    listed = ", ".join(f"{card.name} {value:.4f}" for card, value in rules if value is not None)
    return _with(
        frame,
        [*lines, _marked(score, 0, marks)],
        f"Lower is better. Dashed: {listed}." if listed else "Lower is better.",
    )


def coverage_plot(cards: Sequence[Scorecard]) -> Plot:
    frame = Plot("Coverage by order", _orders(cards), _unit("share of intervals"), ())
    found, stated = [], []
    for card in cards:
        if card.intervals is None or card.intervals.coverage is None or card.intervals.mean_chance is None:
            continue
        x, coverage, chance = frame.across(card.order or 0), card.intervals.coverage, card.intervals.mean_chance
        found.append(Mark(x, frame.up(coverage), f"{card.name}: {coverage:.3f} contain the next detection"))
        stated.append(Mark(x, frame.up(chance), f"{card.name}: stated {chance:.3f} on average"))
    lines = [_marked("contain the next detection", 0, found), _marked("stated", 1, stated)]
    return _with(
        frame, lines, "Forecasts that were followed by a detection; forecasts still open at the end are not counted."
    )


def spread_plot(cards: Sequence[Scorecard]) -> Plot:
    known = [(card, card.intervals.mean_spread) for card in cards if card.intervals is not None]
    spreads = [spread for _, spread in known if spread is not None]
    frame = Plot("Spread by order", _orders(cards), _fitting("events from first to last", [0.0, *spreads]), ())
    marks = [
        Mark(frame.across(card.order or 0), frame.up(spread), f"{card.name}: {spread:.2f}")
        for card, spread in known
        if spread is not None
    ]
    return _with(frame, [_marked("mean spread", 0, marks)])


def _chance_score(card: Scorecard, score: str) -> float | None:
    return card.tally.brier_score if score == "Brier score" else card.tally.log_loss


def _with(frame: Plot, lines: Sequence[Line], note: str = "") -> Plot:
    return Plot(frame.title, frame.x, frame.y, tuple(lines), note)


def _unit(title: str) -> Axis:
    return Axis(title, 0.0, 1.0, UNIT_TICKS)


def _orders(cards: Sequence[Scorecard]) -> Axis:
    orders = sorted(card.order for card in cards if card.order is not None) or [0]
    return Axis("order", orders[0] - 0.5, orders[-1] + 0.5, tuple(map(float, orders)))


def _fitting(title: str, values: Sequence[float]) -> Axis:
    """An axis that covers all values, with round ticks."""
    lo, hi = (min(values), max(values)) if values else (0.0, 1.0)
    wide = max(hi - lo, 1e-3)
    step = 10.0 ** np.floor(np.log10(wide))
    step *= next(factor for factor in (0.2, 0.5, 1.0, 2.0) if wide / (step * factor) <= 6 or factor == 2.0)
    first, last = np.floor(lo / step), np.ceil(hi / step)
    ticks = tuple(float(round(n * step, 10)) for n in np.arange(first, last + 1))
    return Axis(title, ticks[0], max(ticks[-1], ticks[0] + step), ticks)


def _marked(name: str, number: int, marks: Sequence[Mark]) -> Line:
    color = number % N_COLORS if marks else None
    return Line(name, _path([(mark.x, mark.y) for mark in marks]), color, marks=tuple(marks))


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
