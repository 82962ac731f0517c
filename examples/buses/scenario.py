"""Buses on one line: pings with the nearest stop, and doors that open and close at stops, mostly unrecorded.

Every bus reports the nearest stop every 20 seconds. So it is known between which pings it called at which stops
(`windows_of`), and marks state the number of door events by that time. Some buses also have counters in their doors,
whose messages sometimes get lost. The record is generated first: it states how many times the doors of a bus opened
and closed between two marks; the true times are then drawn from exactly the gaps that the program declares. Days are
independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.imprecise import View
from ..generators.numbering import Column, Numbering, prefixed
from ..generators.randomness import BlockRandom, Booleans, Integers, drawn_below
from ..generators.readings import TIMESTAMP, start_us
from ..generators.segments import MARK


class Windows(NamedTuple):
    """Consecutive stretches of journeys, from the first ping nearest to a stop to the first one at a later stop."""

    journey: Integers
    start: Integers
    end: Integers
    stop: Integers  # place in the schedule of the first stop
    n_stops: Integers  # how many were called at: that one, and those that no ping was near to


def windows_of(journey: Integers, stop: Integers, time: Integers) -> Windows:
    """Windows of pings in the order of journey and time; `stop` is a place in the schedule.

    A ping nearest to an earlier stop of the journey is a positioning error and is ignored. The stretch after the last
    border is not a window, because its stops are unknown.

    >>> jitter = windows_of(np.zeros(6, int), np.array([1, 1, 2, 1, 2, 4]), np.arange(0, 120, 20))
    >>> jitter.start.tolist(), jitter.end.tolist(), jitter.n_stops.tolist()
    ([0, 40], [40, 100], [1, 2])
    """
    span = int(stop.max(initial=0)) + 1
    furthest = np.maximum.accumulate(journey * span + stop)
    border = np.flatnonzero(np.diff(furthest, prepend=-1) > 0)
    follows = np.diff(journey[border]) == 0
    first, last = border[:-1][follows], border[1:][follows]
    return Windows(journey[first], time[first], time[last], stop[first], stop[last] - stop[first])


SECOND_US = 1_000_000
PING_US = 20 * SECOND_US
DAY_US = 86_400 * SECOND_US
FIRST_MORNING = datetime(2024, 9, 2, 6)

N_STOPS = 12
TERMINUS = N_STOPS + 1
LEAST_PINGS, MORE_PINGS = 3, 5  # near a stop, before the next one is nearer
PASSED_UNSEEN = 0.12  # stops that no ping is near to, where positions are missing
JITTER = 0.1  # of pings, nearest to the stop before
HEADWAY_US = 150 * SECOND_US
SHAPE = 2  # of the gaps between what doors do, and from there to a mark
COUNTED, LOSS = 1 / 3, 0.4  # buses with counters, and what gets lost of these

_TEXT = pa.string()
_BUS = [("id", _TEXT), ("day", _TEXT), ("journey", _TEXT), ("stop", _TEXT)]
RECORDED = {
    "Ping": pa.schema([*_BUS, ("t", TIMESTAMP)]),
    "Doors": pa.schema([*_BUS, ("role", _TEXT), ("n", pa.int64()), ("t", TIMESTAMP)]),
}
CERTAIN = {"Doors": pa.schema([*_BUS, ("role", _TEXT), ("t", TIMESTAMP)])}


@dataclass(frozen=True, slots=True)
class _Pings:
    """Pings of a day, by journey and time; `stop` counts from 1, and the terminus is one more than the last."""

    journey: Integers
    stop: Integers
    t: Integers


@dataclass(frozen=True, slots=True)
class _Doors:
    """Door events of all buses in their windows, by journey and number."""

    journey: Integers
    number: Integers
    t: Integers
    expected: Integers  # where it would be if all gaps of its window were alike
    is_recorded: Booleans


class Buses:
    """Journeys of one line day by day; a few minutes after each other, and sometimes together."""

    def __init__(
        self, *, events: int, keys: int | None, seed: int, start: datetime | int | None, view: View = "recorded"
    ) -> None:
        self.events = events
        self.seed = seed
        self.keys = keys or max(2, min(24, events // 60))
        self.view = view
        self.main: str = "Ping" if view == "recorded" else "Doors"
        self.streams: Mapping[str, pa.Schema] = RECORDED if view == "recorded" else CERTAIN
        self._start = start
        self._start_us = start_us(start, FIRST_MORNING)
        self._out = Numbering(self.streams)
        self._names = prefixed("bus", np.arange(self.keys), width=2)
        self._stops = pa.concat_arrays([prefixed("stop", np.arange(1, N_STOPS + 1), width=2), pa.array(["terminus"])])
        longest = 2 * HEADWAY_US * self.keys + N_STOPS * (LEAST_PINGS + MORE_PINGS) * PING_US
        self._period_us = DAY_US * (1 + longest // DAY_US)
        self._n_pings = 0
        self._counts = {"windows": 0, "calls": 0, "recorded_door_events": 0}

    def tables(self) -> dict[str, pa.Table]:
        """The stop of the nth door event of a bus."""
        number = np.arange(1, 2 * N_STOPS + 1)
        return {"schedule": pa.table({"n": number, "stop": self._stop_names((number + 1) // 2)})}

    def variants(self) -> dict[str, Buses]:
        """All door events with true times, and with times that divide each window evenly."""
        views: tuple[View, View] = ("true", "naive")
        return {
            view: Buses(events=self.events, keys=self.keys, seed=self.seed, start=self._start, view=view)
            for view in views
        }

    def truth(self) -> Truth:
        return Truth("buses", self.seed, self.keys, dict(self._out.rows), dict(self._counts))

    def blocks(self) -> Iterator[Streams]:
        day = 0
        while self._n_pings < self.events:
            begin = self._start_us + day * self._period_us
            random = BlockRandom(self.seed, "buses", day)
            pings = _cut(_pinged(self.keys, begin, random), self.events - self._n_pings)
            self._n_pings += pings.t.size
            windows = windows_of(pings.journey, pings.stop, pings.t)
            doors = _opened(windows, self.keys, random)
            self._counts["windows"] += windows.stop.size
            self._counts["calls"] += int(windows.n_stops.sum())
            self._counts["recorded_door_events"] += int(doors.is_recorded.sum())
            yield self._told(pings, windows, doors, str(_date(begin)))
            day += 1

    def _told(self, pings: _Pings, windows: Windows, doors: _Doors, day: str) -> Streams:
        told = {"Doors": self._batch("Doors", day, self._door_rows(pings, windows, doors))}
        if self.view == "recorded":
            columns: dict[str, Column] = {"journey": pings.journey, "stop": pings.stop, "t": pings.t}
            told["Ping"] = self._batch("Ping", day, columns)
        return {name: told[name] for name in self.streams}

    def _door_rows(self, pings: _Pings, windows: Windows, doors: _Doors) -> dict[str, Column]:
        kept = doors.is_recorded if self.view == "recorded" else np.ones(doors.t.size, np.bool_)
        t = doors.expected if self.view == "naive" else doors.t
        columns: dict[str, Column] = {
            "journey": doors.journey[kept],
            "stop": (doors.number[kept] + 1) // 2,
            "t": t[kept],
            "n": doors.number[kept],
            "role": np.where(doors.number[kept] % 2 == 1, "open", "close"),
        }
        if self.view != "recorded":
            return columns
        marks = _marks(pings, windows)
        return {name: np.concatenate([column, marks[name]]) for name, column in columns.items()}

    def _batch(self, stream: str, day: str, columns: dict[str, Column]) -> pa.RecordBatch:
        """Rows in the order of time, with the names of what is numbered."""
        order = np.argsort(np.asarray(columns["t"]), kind="stable")
        rows = {name: np.asarray(column)[order] for name, column in columns.items()}
        named: dict[str, Column] = {**rows}
        named["journey"] = self._names.take(pa.array(rows["journey"]))
        named["stop"] = self._stop_names(rows["stop"])
        named["day"] = pa.array([day] * order.size, _TEXT)
        if "role" in rows:
            named["role"] = pa.array(rows["role"].tolist(), _TEXT)
        return self._out.batch(stream, named)

    def _stop_names(self, stop: Integers) -> pa.Array:
        return self._stops.take(pa.array(stop - 1))


def _pinged(n_journeys: int, begin: int, random: BlockRandom) -> _Pings:
    """All pings of a day; some stops are never the nearest one, and some pings are nearest to the stop before."""
    shape = (n_journeys, N_STOPS)
    n_pings = LEAST_PINGS + drawn_below(MORE_PINGS + 1, random.unit(shape))
    is_seen = random.unit(shape) >= PASSED_UNSEEN
    is_seen[:, 0] = True
    # where positions are missing, the last one that was there stays near for longer
    near = np.maximum.accumulate(np.where(is_seen, np.arange(1, N_STOPS + 1), 0), axis=1)
    per_journey = n_pings.sum(axis=1) + 1
    headway = (2 * HEADWAY_US * random.unit((n_journeys,))).astype(np.int64)
    first = begin + np.cumsum(headway) + (PING_US * random.unit((n_journeys,))).astype(np.int64)
    journey = np.repeat(np.arange(n_journeys), per_journey)
    nth = np.arange(journey.size) - np.repeat(np.cumsum(per_journey) - per_journey, per_journey)
    at_terminus = nth == per_journey[journey] - 1
    stop = np.full(journey.size, TERMINUS)
    stop[~at_terminus] = np.repeat(near.ravel(), n_pings.ravel())
    starts = np.diff(stop, prepend=0) != 0
    is_jitter = (random.unit(stop.shape) < JITTER) & ~starts & ~at_terminus & (stop > 1)
    return _Pings(journey, stop - is_jitter, first[journey] + PING_US * nth)


def _cut(pings: _Pings, at_most: int) -> _Pings:
    kept = np.sort(np.argsort(pings.t, kind="stable")[:at_most])
    return _Pings(pings.journey[kept], pings.stop[kept], pings.t[kept])


def _opened(windows: Windows, n_journeys: int, random: BlockRandom) -> _Doors:
    """True door events: every second point of uniform draws from each window."""
    m = 2 * windows.n_stops
    hidden = m + (m + 1) * (SHAPE - 1)
    window = np.repeat(np.arange(m.size), hidden)
    share = (random.bits(window.shape) + (random.bits(window.shape) + 0.5) / 65536) / 65536
    share = share[np.lexsort((share, window))]
    nth = np.arange(window.size) - np.repeat(np.cumsum(hidden) - hidden, hidden) + 1
    chosen = nth % SHAPE == 0
    window, share, nth = window[chosen], share[chosen], nth[chosen] // SHAPE
    length = (windows.end - windows.start)[window]
    journey = windows.journey[window]
    is_counted = random.unit((n_journeys,)) < COUNTED
    return _Doors(
        journey,
        2 * (windows.stop[window] - 1) + nth,
        windows.start[window] + 1 + (share * (length - 2)).astype(np.int64),
        windows.start[window] + length * nth // (m[window] + 1),
        is_counted[journey] & (random.unit(journey.shape) >= LOSS),
    )


def _marks(pings: _Pings, windows: Windows) -> dict[str, Integers]:
    """The number of door events by the borders of windows; for a bus without windows, by its first ping."""
    is_last = np.diff(windows.journey, append=-1) != 0
    begun = np.flatnonzero(np.diff(pings.journey, prepend=-1) != 0)
    alone = begun[~np.isin(pings.journey[begun], windows.journey)]
    journey = np.concatenate([windows.journey, windows.journey[is_last], pings.journey[alone]])
    stop = np.concatenate([windows.stop, (windows.stop + windows.n_stops)[is_last], pings.stop[alone]])
    t = np.concatenate([windows.start, windows.end[is_last], pings.t[alone]])
    return {"journey": journey, "stop": stop, "t": t, "n": 2 * (stop - 1), "role": np.full(t.size, MARK)}


def _date(us: int) -> date:
    return (datetime(1970, 1, 1) + timedelta(microseconds=us)).date()
