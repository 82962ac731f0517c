"""Results as alarms: precision and recall of the results above a threshold."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from inkling.forecasting.calibration.pairs import column_of, incomparable, keys_of, probabilities
from inkling.io import Data, read_table

Matching: TypeAlias = Literal["many", "one"]
Places: TypeAlias = npt.NDArray[np.int64]
THRESHOLDS = (0.0, 0.01, 0.02, 0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5)


@dataclass(frozen=True, slots=True)
class Quality:
    """The alarms at one threshold; undefined ratios are None."""

    threshold: float
    n_alarms: int
    n_right: int  # of the alarms
    n_happened: int
    n_found: int  # of what happened

    @property
    def precision(self) -> float | None:
        return self.n_right / self.n_alarms if self.n_alarms else None

    @property
    def recall(self) -> float | None:
        return self.n_found / self.n_happened if self.n_happened else None

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where nothing is right."""
        precision, recall = self.precision or 0.0, self.recall or 0.0
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def quality(
    results: Data,
    truth: Data,
    *,
    within: int | timedelta,
    on: Sequence[str] = (),
    time: str = "end",
    thresholds: Sequence[float] = THRESHOLDS,
    matching: Matching = "many",
    merge: int | timedelta | None = None,
) -> tuple[Quality, ...]:
    """Precision and recall at each threshold.

    A result is an alarm if its probability is larger than the threshold. It is right if the truth has a row of the same
    key (the columns `on`) at most `within` away in the column `time`. With `matching="one"` each row of the truth
    makes one alarm right, the first that can have it; with `merge`, alarms of a key that are at most so far from
    the one before are one alarm, at the time of the most probable.

    Examples
    --------
    >>> detected = [{"end": 5, "probability": 0.4}, {"end": 7, "probability": 0.1}, {"end": 90, "probability": 0.3}]
    >>> (one,) = quality(detected, [{"end": 6}], within=2, thresholds=[0.2])
    >>> one.precision, one.recall
    (0.5, 1.0)
    """
    if matching not in ("many", "one"):
        raise ValueError(f"expected matching 'many' or 'one', found {matching!r}")
    distance, gap = _length(within), None if merge is None else _length(merge)
    tables = {"results": read_table(results, what="results"), "truth": read_table(truth, what="truth")}
    prob, _ = probabilities(tables["results"])
    detected, happened = _places(tables, on, time, distance + (gap or 0))
    order = np.argsort(detected, kind="stable")
    detected, prob = detected[order], prob[order]
    return tuple(
        _judged(threshold, _alarms(detected, prob, threshold, gap), np.sort(happened), distance, matching)
        for threshold in thresholds
    )


def _alarms(detected: Places, prob: npt.NDArray[np.float64], threshold: float, gap: int | None) -> Places:
    high = prob > threshold
    alarms, chance = detected[high], prob[high]
    if gap is None or not alarms.size:
        return alarms
    group = np.concatenate([[0], np.cumsum(np.diff(alarms) > gap)])
    best = np.lexsort((alarms, -chance, group))
    first = np.concatenate([[True], np.diff(group[best]) > 0])
    peaks: Places = alarms[best[first]]
    return peaks


def _judged(threshold: float, alarms: Places, happened: Places, distance: int, matching: Matching) -> Quality:
    if matching == "many":
        right = _n_near(alarms, happened, distance)
        return Quality(threshold, alarms.size, right, happened.size, _n_near(happened, alarms, distance))
    n_pairs = at = 0
    for alarm in alarms.tolist():
        while at < happened.size and happened[at] < alarm - distance:
            at += 1
        if at < happened.size and happened[at] <= alarm + distance:
            n_pairs, at = n_pairs + 1, at + 1
    return Quality(threshold, alarms.size, n_pairs, happened.size, n_pairs)


def _n_near(places: Places, others: Places, distance: int) -> int:
    """The number of places with one of the others within a distance; both are sorted."""
    first = np.searchsorted(others, places - distance, side="left")
    last = np.searchsorted(others, places + distance, side="right")
    return int(np.count_nonzero(last > first))


def _places(tables: dict[str, pa.Table], on: Sequence[str], time: str, reach: int) -> tuple[Places, Places]:
    """Times on one axis, on which keys are further apart than the largest distance."""
    times = {what: _times(table, time, what) for what, table in tables.items()}
    together = np.concatenate(list(times.values()))
    if not together.size:
        return together, together
    origin, span = int(together.min()), int(together.max() - together.min()) + reach + 1
    names = keys_of(tables, on) if on else {what: [()] * len(table) for what, table in tables.items()}
    numbers: dict[tuple[object, ...], int] = {}
    detected, happened = (
        np.array([numbers.setdefault(key, len(numbers)) for key in names[what]], np.int64) * span + times[what] - origin
        for what in ("results", "truth")
    )
    return detected, happened


def _times(table: pa.Table, name: str, what: str) -> Places:
    column = column_of(table, name, what)
    if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type)):
        raise incomparable(f"`{name}` of the {what} has the type {column.type}, expected times without gaps")
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz))
    times: Places = column.cast(pa.int64()).to_numpy()
    return times


def _length(given: int | timedelta) -> int:
    length = given // timedelta(microseconds=1) if isinstance(given, timedelta) else given
    if length < 0:
        raise ValueError(f"expected a distance of zero or more, found {given!r}")
    return length
