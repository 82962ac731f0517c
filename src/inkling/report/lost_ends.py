"""Where the lost ends of segments may lie, and with which probability (SimpMatch, sections 3.2 and 3.8).

Of m points lost between two recorded ones, the j-th is an order statistic of m uniform draws, so it lies in the first
part p of the gap with probability I(p; j, m + 1 - j), the regularized incomplete beta function. Without a recorded
point on the other side, its distance is the sum of j exponential gaps.
"""

from __future__ import annotations

import numpy as np

from inkling.evaluators.relation.intensity import CumulativeIntensity
from inkling.evaluators.relation.points import NEITHER, PointLists
from inkling.model.batch import Floats, Ints, Mask
from inkling.report.data import EndRow

N_STEPS = 32
"""A range is divided into so many steps of equal length."""

MOST_SHAPED = 200
"""The most lost ends of a key with distributions; more cannot be distinguished."""

LEAST_LIKELY = 0.01
"""A range without a border contains an event with probability 1 minus this."""


def ends_of(lists: PointLists, key: int, axis: CumulativeIntensity | None) -> list[EndRow]:
    """The points of a key; those that were lost have the range and the distribution of their times."""
    mine = slice(lists.begins[key], lists.begins[key + 1])
    time, lost = lists.time[mine].astype(np.int64), lists.lost[mine].astype(bool)
    low, high = time.copy(), time.copy()
    passed: dict[int, tuple[float, ...]] = {}
    has_shapes = np.count_nonzero(lost & (lists.turn[mine] != NEITHER)) <= MOST_SHAPED
    for first, last in _gaps(lost):
        rates = float(lists.head[key]), float(lists.tail[key])
        low[first:last], high[first:last] = borders = _borders(time, first, last, rates)
        if has_shapes and borders[0] < borders[1]:
            places = np.arange(1, last - first + 1)
            shares = _passed(time, first, last, rates, places[:, None], np.linspace(*borders, N_STEPS + 1), axis)
            passed |= {first + place: tuple(row) for place, row in enumerate(shares.round(3).tolist())}
    columns = zip(low.tolist(), high.tolist(), lost.tolist(), strict=True)
    return [EndRow(*end, passed.get(place, ())) for place, end in enumerate(columns)]


def _gaps(lost: Mask) -> list[tuple[int, int]]:
    """Stretches of lost points, as first places and places after the last."""
    changes = np.flatnonzero(np.diff(np.concatenate([[False], lost, [False]]).astype(np.int8)))
    return [(int(first), int(last)) for first, last in changes.reshape(-1, 2)]


def _borders(time: Ints, first: int, last: int, rates: tuple[float, float]) -> tuple[int, int]:
    """Between which times the points of a gap lie, almost certainly if it has only one recorded neighbor."""
    from scipy.special import gammaincinv  # imported late: a large library that most reports do not need

    head, tail = rates
    if first > 0 and last < len(time):
        return int(time[first - 1]), int(time[last])
    if first > 0 and tail > 0:
        low = int(time[first - 1])
        return low, low + int(np.ceil(gammaincinv(last - first, 1 - LEAST_LIKELY) / tail))
    if last < len(time) and head > 0:
        high = int(time[last])
        return high - int(np.ceil(gammaincinv(last - first, 1 - LEAST_LIKELY) / head)), high
    near = int(time[first - 1]) if first > 0 else int(time[last]) if last < len(time) else 0
    return near, near


def _passed(
    time: Ints,
    first: int,
    last: int,
    rates: tuple[float, float],
    place: Ints,
    moments: Floats,
    axis: CumulativeIntensity | None,
) -> Floats:
    """Per point of a gap, counted from 1, the probability that it was before each moment."""
    from scipy.special import betainc, gammainc, gammaincc

    n = last - first
    if first == 0:
        return np.asarray(gammaincc(n + 1 - place, (time[last] - moments) * rates[0]))
    if last == len(time):
        return np.asarray(gammainc(place, (moments - time[first - 1]) * rates[1]))
    along = moments if axis is None else axis(moments)
    return np.asarray(betainc(place, n + 1 - place, (along - along[0]) / (along[-1] - along[0])))
