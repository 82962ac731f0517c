"""A motorway in the morning: speeds that vehicles report, by sector, and messages about congested sectors.

A sector is congested while the mean of its last three reports is below 20 km/h. Its controller sends numbered
messages when congestion begins and ends; some of them get lost. Every twenty minutes it also states the number of
messages so far. Mornings are independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa

from inkling.scenarios.scenario import Streams, Truth

from ..generators.imprecise import View
from ..generators.numbering import Column, Numbering, prefixed
from ..generators.randomness import BlockRandom, Booleans, Floats, Integers
from ..generators.readings import TIMESTAMP, start_us
from ..generators.segments import MARK, of_counts, pairs_of, shared

SECOND_US = 1_000_000
STEP_US = 20 * SECOND_US
N_STEPS = 360
DAY_US = 86_400 * SECOND_US
FIRST_MORNING = datetime(2024, 3, 4, 7)

CONGESTED_KMH = 20.0
SLOW_KMH, FREE_KMH = (5.0, 15.0), (65.0, 110.0)
N_MEAN = 3  # reports whose mean counts; a free one among them lifts it above the threshold

BUSY = 0.5  # the share of sectors that get congested off and on in a morning
SLOWS, FREES = 1 / 26, 1 / 30  # per step; congested and free stretches are about equally long, because that takes three
CALM_STEPS = 5  # at both ends of a morning
LOSS = 0.2
MARK_US = 1_200 * SECOND_US

_TEXT = pa.string()
_SECTOR = [("day", _TEXT), ("sector", _TEXT)]
RECORDED = {
    "Report": pa.schema([("id", pa.int64()), *_SECTOR, ("speed", pa.float64()), ("t", TIMESTAMP)]),
    "Congestion": pa.schema([("id", _TEXT), *_SECTOR, ("role", _TEXT), ("n", pa.int64()), ("t", TIMESTAMP)]),
}
CERTAIN = {"Congestion": RECORDED["Congestion"].remove(RECORDED["Congestion"].get_field_index("n"))}


@dataclass(frozen=True, slots=True)
class _Morning:
    """Reports in the order of time, and the messages about congestions that end before the last of them."""

    sector: Integers
    speed: Floats
    t: Integers
    until: int  # to where it is known
    whose: Integers  # of each message, by sector and time
    number: Integers
    said: Integers
    is_lost: Booleans


class Motorway:
    """Two hours each morning, a report of every sector every 20 seconds."""

    def __init__(
        self, *, events: int, keys: int | None, seed: int, start: datetime | int | None, view: View = "recorded"
    ) -> None:
        self.events = events
        self.seed = seed
        self.keys = keys or max(2, min(200, events // (2 * N_STEPS)))
        self.view = view
        self.main: str = "Report" if view == "recorded" else "Congestion"
        self.streams: Mapping[str, pa.Schema] = RECORDED if view == "recorded" else CERTAIN
        self._start = start
        self._start_us = start_us(start, FIRST_MORNING)
        self._names = prefixed("S", np.arange(self.keys), width=3)
        self._out = Numbering(self.streams)
        self._n_reports = 0
        self._counts = {"congested": 0, "jammed_together": 0}

    def tables(self) -> dict[str, pa.Table]:
        return {}

    def variants(self) -> dict[str, Motorway]:
        """All messages, and the recorded messages as if they were complete."""
        views: tuple[View, View] = ("true", "naive")
        return {
            view: Motorway(events=self.events, keys=self.keys, seed=self.seed, start=self._start, view=view)
            for view in views
        }

    def truth(self) -> Truth:
        counts = dict(self._counts)
        return Truth("motorway", self.seed, self.keys, dict(self._out.rows), counts, counts)

    def blocks(self) -> Iterator[Streams]:
        day = 0
        while self._n_reports < self.events:
            begin = self._start_us + day * DAY_US
            morning = _drawn(self.keys, self.events - self._n_reports, begin, BlockRandom(self.seed, "motorway", day))
            self._n_reports += morning.t.size
            self._count(morning)
            yield self._told(morning, begin, str(_date(begin)))
            day += 1

    def _count(self, morning: _Morning) -> None:
        counts = np.bincount(morning.whose, minlength=self.keys)
        points = of_counts(counts, morning.said)
        ones, others = pairs_of(self.keys)
        self._counts["congested"] += morning.said.size // 2
        self._counts["jammed_together"] += int((shared(points, points, ones, others) >= 2).sum())

    def _told(self, morning: _Morning, begin: int, day: str) -> Streams:
        messages = self._messages(morning, begin)
        told = {"Congestion": self._batch("Congestion", day, messages)}
        if self.view == "recorded":
            reports: dict[str, Column] = {"sector": morning.sector, "speed": morning.speed, "t": morning.t}
            told["Report"] = self._batch("Report", day, reports)
        return {name: told[name] for name in self.streams}

    def _messages(self, morning: _Morning, begin: int) -> dict[str, Column]:
        """The messages of a view; the record also has marks, which state the number of messages so far."""
        kept = ~morning.is_lost if self.view != "true" else np.ones(morning.said.size, np.bool_)
        sector, number, t = morning.whose[kept], morning.number[kept], morning.said[kept]
        role = np.where(number % 2 == 1, "open", "close")
        if self.view == "recorded":
            marked = np.unique([*range(begin, morning.until, MARK_US), morning.until])
            at, whose = np.tile(marked, self.keys), np.repeat(np.arange(self.keys), marked.size)
            so_far = _places(whose, at, begin, morning) - _places(whose, np.full_like(at, begin), begin, morning)
            sector, number, t = (np.concatenate(both) for both in ((sector, whose), (number, so_far), (t, at)))
            role = np.concatenate([role, np.full(at.size, MARK)])
        order = np.argsort(t, kind="stable")
        return {"sector": sector[order], "n": number[order], "t": t[order], "role": role[order].tolist()}

    def _batch(self, stream: str, day: str, columns: dict[str, Column]) -> pa.RecordBatch:
        sector = self._names.take(pa.array(columns["sector"]))
        n_rows = len(sector)
        return self._out.batch(stream, {**columns, "sector": sector, "day": pa.array([day] * n_rows, _TEXT)})


def _drawn(n_sectors: int, at_most: int, begin: int, random: BlockRandom) -> _Morning:
    shape = (N_STEPS, n_sectors)
    is_slow = _slow(n_sectors, random)
    low, high = (np.where(is_slow, slow, free) for slow, free in zip(SLOW_KMH, FREE_KMH, strict=True))
    speed = np.round(low + (high - low) * random.unit(shape), 1)
    t = begin + STEP_US * np.arange(N_STEPS)[:, None] + (STEP_US * _fine(shape, random)).astype(np.int64)
    order = np.argsort(t, axis=None, kind="stable")[:at_most]
    is_whole = order.size == t.size
    until = begin + N_STEPS * STEP_US if is_whole else int(t.ravel()[order[-1]])
    whose, said = _turns(speed, t, until)
    number = np.arange(said.size) - np.searchsorted(whose, whose) + 1
    is_lost = random.unit((said.size,)) < LOSS
    return _Morning(order % n_sectors, speed.ravel()[order], t.ravel()[order], until, whose, number, said, is_lost)


def _fine(shape: tuple[int, int], random: BlockRandom) -> Floats:
    """Numbers in [0, 1) on a grid so fine that hardly any two reports are simultaneous."""
    return random.unit(shape) + random.unit(shape) / 65536.0


def _places(sector: Integers, t: Integers, begin: int, morning: _Morning) -> Integers:
    """How many messages of this and of earlier sectors there were by a time."""
    places: Integers = np.searchsorted(
        morning.whose * DAY_US + (morning.said - begin), sector * DAY_US + (t - begin), side="right"
    )
    return places


def _slow(n_sectors: int, random: BlockRandom) -> Booleans:
    """Steps at which vehicles are slow: off and on all morning, in busy sectors."""
    step = np.arange(N_STEPS)[:, None]
    may_be_slow = (random.unit((n_sectors,)) < BUSY) & (step >= CALM_STEPS) & (step < N_STEPS - CALM_STEPS)
    draws = random.unit((N_STEPS, n_sectors))
    slow = np.zeros((N_STEPS, n_sectors), np.bool_)
    now = np.zeros(n_sectors, np.bool_)
    for place in range(N_STEPS):
        now = (now ^ (draws[place] < np.where(now, FREES, SLOWS))) & may_be_slow[place]
        slow[place] = now
    return slow


def _turns(speed: Floats, t: Integers, until: int) -> tuple[Integers, Integers]:
    """When sectors get congested and free again, by sector and time; what does not end by then is left out."""
    mean = np.full(speed.shape, np.inf)
    mean[N_MEAN - 1 :] = sum(speed[place : len(speed) - N_MEAN + 1 + place] for place in range(N_MEAN)) / N_MEAN
    congested = mean < CONGESTED_KMH
    turns = np.diff(congested, axis=0, prepend=False)
    sector, step = np.nonzero(turns.T)
    said = t[step, sector]
    ended = np.repeat(said[1::2] <= until, 2)
    return sector[ended], said[ended]


def _date(us: int) -> date:
    return (datetime(1970, 1, 1) + timedelta(microseconds=us)).date()
