"""Forecasts and detections, event by event: the forecast after each event, and whether the event is a detection."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from inkling.errors import InputError
from inkling.model.keys import encoded

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]

NEVER = np.iinfo(np.int64).max
"""The waiting time if there is no later detection."""


@dataclass(frozen=True)
class Outcomes:
    """A row per event, sorted by run and number; a run has the events of a key from one reset to the next."""

    run: Ints
    number: Ints  # of the event in its run, from 1
    time: Ints
    detected: Booleans
    first: Ints  # events ahead; 0 without a forecast
    last: Ints
    chance: Floats  # NaN without a forecast
    judged: Booleans  # whether a forecast after this event is scored

    def __len__(self) -> int:
        return self.run.size

    @property
    def has_forecast(self) -> Booleans:
        """Events with a forecast that is scored."""
        return self.judged & ~np.isnan(self.chance)

    @cached_property
    def coming(self) -> Ints:
        """The row of the next detection after each row in its run, or -1."""
        n = len(self)
        at = np.where(self.detected, np.arange(n), n)
        following = np.append(np.minimum.accumulate(at[::-1])[::-1], n)[1:]
        there = following < n
        there[there] = self.run[following[there]] == self.run[there]
        return np.where(there, following, -1)

    @cached_property
    def previous(self) -> Ints:
        """The row of the latest detection up to each row, itself included, in its run, or -1."""
        at = np.maximum.accumulate(np.where(self.detected, np.arange(len(self)), -1))
        return np.where((at >= 0) & (self.run[at] == self.run), at, -1)

    @cached_property
    def end(self) -> Ints:
        """The number of the last event of each row's run."""
        is_last = np.append(self.run[1:] != self.run[:-1], True) if len(self) else np.empty(0, np.bool_)
        return np.repeat(self.number[is_last], np.diff(np.flatnonzero(is_last), prepend=-1))

    @property
    def wait(self) -> Ints:
        """The number of events until the next detection, or `NEVER`."""
        return np.where(self.coming >= 0, self.number[self.coming] - self.number, NEVER)

    @property
    def wait_time(self) -> Ints:
        """The time until the next detection, or `NEVER`."""
        return np.where(self.coming >= 0, self.time[self.coming] - self.time, NEVER)


def watched_outcomes(table: pa.Table, keys: Sequence[str], *, after: int | None = None) -> Outcomes:
    """Outcomes from the results of a backtest; forecasts after the time `after` are scored."""
    return _outcomes(_run_codes(table, (*keys, "life")), table, table["detected"].to_numpy(), after)


def joined_outcomes(forecasts: pa.Table, detections: pa.Table, keys: Sequence[str]) -> Outcomes:
    """Outcomes from the results of a forecast and of the forecast event.

    Results are joined by lineage: that of a forecast is the event after which it was made, that of a detection has all
    of its events, and the last one is used. So forecasts after detections are needed too (`INCLUDING FINAL`), and no
    CONFIDENCE may leave out forecasts. The end of a key is its last forecast.
    """
    detected = _is_detection(forecasts, detections)
    code = _run_codes(forecasts, keys)
    number = forecasts["event_number"].to_numpy()
    order = np.lexsort((number, _times(forecasts), code))
    falls = (np.diff(number[order], prepend=0) <= 0) & (np.diff(code[order], prepend=-1) == 0)
    life = np.empty(len(code), np.int64)
    life[order] = np.cumsum(falls)
    return _outcomes(np.unique(np.stack([code, life]), axis=1, return_inverse=True)[1], forecasts, detected, None)


def _outcomes(run: Ints, table: pa.Table, detected: Booleans, after: int | None) -> Outcomes:
    number, time = table["event_number"].to_numpy(), _times(table)
    order = np.lexsort((number, run))
    judged = np.ones(len(order), np.bool_) if after is None else time > after
    first, last = (table[name].fill_null(0).to_numpy() for name in ("first", "last"))
    chance = table["chance"].fill_null(np.nan).to_numpy()
    columns = (run, number, time, detected, first, last, chance, judged)
    return Outcomes(*(np.asarray(column)[order] for column in columns))


def _times(table: pa.Table) -> Ints:
    times: Ints = table["end"].cast(pa.int64()).to_numpy()
    return times


def _run_codes(table: pa.Table, keys: Sequence[str]) -> Ints:
    """A number for each row, the same for equal keys, in the order of the keys."""
    code = np.zeros(len(table), np.int64)
    for name in keys:
        more, values = encoded(table[name])
        _, code = np.unique(code * (len(values) + 1) + more, return_inverse=True)
    return code


def _is_detection(forecasts: pa.Table, detections: pa.Table) -> Booleans:
    found = np.zeros(len(forecasts), np.bool_)
    if not len(detections):
        return found
    made_after = pc.list_element(forecasts["lineage"].combine_chunks(), 0)
    ids = detections["lineage"].combine_chunks()
    rows = pc.index_in(pc.list_flatten(ids).cast(made_after.type), made_after).fill_null(-1).to_numpy()
    owner = pc.list_parent_indices(ids).to_numpy()[rows >= 0]
    rows = rows[rows >= 0]
    newest_last = np.lexsort((forecasts["event_number"].to_numpy()[rows], owner))
    owner, rows = owner[newest_last], rows[newest_last]
    newest = np.append(owner[1:] != owner[:-1], True) if len(owner) else np.empty(0, np.bool_)
    owner, rows = owner[newest], rows[newest]
    located = _times(forecasts)[rows] == _times(detections)[owner]
    if int(located.sum()) < len(detections):
        raise InputError.of(
            "INK0621",
            f"no forecast was made after {len(detections) - int(located.sum())} of {len(detections)} detections",
            notes=("the position of a detection is taken from the forecast that follows it",),
            helps=(
                "forecast INCLUDING FINAL and without CONFIDENCE or REMAINING, or let `inkling score` run the program",
            ),
        )
    found[rows] = True
    return found
