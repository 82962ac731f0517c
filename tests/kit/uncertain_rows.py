"""Random rows of small uncertain streams: intervals of times, alternatives, chains of them, and gaps in numbers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.kit.rows import Rows
from tests.kit.streams import LAST_TIME, random_row
from tests.kit.universe import KEYS, Declared, Kind, Uncertain

from inkling.model.event import Value

Row = dict[str, Value]
State = tuple[Value, Value, Value]

CHANCES: tuple[tuple[float, ...], ...] = (
    (1.0,),
    (0.5,),
    (0.9,),
    (0.3,),
    (0.3, 0.7),
    (0.25, 0.5),
    (0.6, 0.1),
    (0.5, 0.0),
    (0.1, 0.2, 0.7),
    (1 / 3, 1 / 3, 1 / 3),
)
"""Probabilities of alternatives; what is missing from 1 is that nothing happens."""
WEIGHTS = (0, 1, 1, 2, 3, 0.5)
SILENT = 4
"""After so many ticks without a row, a key with a timeout is closed."""


def lost_tables() -> Rows:
    """What streams with lost events may look up: what some of these were, and how fast they come."""
    known: list[Row] = [
        {"n": number, "k": key, "x": None if number == 3 else number % 3}
        for number in range(1, 9)
        for key in KEYS
        if (number, key) != (2, "q")
    ]
    rates: list[Row] = [{"since": since, "rate": rate} for since, rate in ((2, 1.0), (4, 2.5), (6, 0.5), (41, 3.0))]
    return {"plan": known, "busy": rates}


def uncertain_rows(rng: random.Random, streams: Sequence[Declared], far: int = 0) -> Rows:
    """A few events per key and stream, some of which are later than others by `far`."""
    places = iter(rng.sample(range(-200, 200), 400))
    rows: Rows = {}
    for stream in streams:
        made: list[Row] = []
        for key in KEYS:
            if rng.random() < 0.85:
                maker = _Maker(rng, stream, key, places, len(made), far)
                made += maker.rows()
        rng.shuffle(made)
        rows[stream.name] = made
    return rows


@dataclass(slots=True)
class _Maker:
    """Makes the rows of one key of a stream."""

    rng: random.Random
    stream: Declared
    key: str
    places: Iterator[int]
    n_before: int
    far: int
    made: list[Row] = field(default_factory=list)

    def rows(self) -> list[Row]:
        match self.stream.uncertain:
            case Uncertain.NOTHING:
                for _ in range(self.rng.randint(1, 3)):
                    self._later(self._row())
            case Uncertain.TIME | Uncertain.WEIGHTED_TIME | Uncertain.READING:
                for _ in range(self.rng.randint(1, 2)):
                    self._later(self._imprecise())
            case Uncertain.VALUE:
                times = (time + self.rng.choice((0, self.far)) for time in self._times(self.rng.randint(1, 2)))
                for time in dict.fromkeys(times):
                    self._alternatives(time)
            case Uncertain.CHAIN:
                self._chain()
            case Uncertain.LOST | Uncertain.LOST_SEGMENTS:
                self._numbered()
            case _:
                self._marked()
        return self.made

    def _row(self) -> Row:
        number = self.n_before + len(self.made)
        row = random_row(self.rng, self.stream, number, self.key, next(self.places))
        self.made.append(row)
        return row

    def _later(self, row: Row) -> None:
        """Put an event far away, sometimes."""
        if self.rng.random() < 0.5:
            for column in ("t", "begun", "ended", "lo", "hi"):
                time = row.get(column)
                if isinstance(time, int):
                    row[column] = time + self.far

    def _imprecise(self) -> Row:
        row = self._row()
        lo = self.rng.randint(0, LAST_TIME)
        hi = lo + self.rng.choice((0, 1, 1, 2, 3))
        weights = [self.rng.choice(WEIGHTS) for _ in range(lo, hi + 1)]
        if not any(weights):
            weights[0] = 1
        if self.stream.uncertain is Uncertain.READING:
            row["off"] = (hi - lo) // 2
            row["t"] = lo + (hi - lo) // 2
            return row
        del row["t"]
        row["lo"], row["hi"] = lo, hi
        row["weights"] = None if self.rng.random() < 0.2 else weights  # type: ignore[assignment]
        return row

    def _times(self, n: int) -> list[int]:
        return sorted(self.rng.sample(range(LAST_TIME + 1), n))

    def _times_together(self, n: int) -> list[int]:
        later = self.rng.choice((0, self.far))
        return [time + later for time in self._times(n)]

    def _at(self, time: int) -> Row:
        row = self._row()
        if self.stream.kind is Kind.INTERVALS:
            row["begun"], row["ended"] = time, time + self.rng.randint(0, 4)
        else:
            row["t"] = time
        return row

    def _alternatives(self, time: int) -> None:
        rows = [{**self._at(time), "p": chance} for chance in self.rng.choice(CHANCES)]
        for place, row in enumerate(rows):
            row["x"] = place if row["x"] is not None and place else row["x"]
            row["y"] = float(place) if row["x"] is None else row["y"]
        self.made[-len(rows) :] = _distinct(rows)

    def _chain(self) -> None:
        """Two values and nothing, and what follows each of them at every further time."""
        states: list[State] = [(0, 0.5, self.rng.choice(("a", None))), (1, None, "b")]
        possible: list[State | None] = [None]
        for time in self._times_together(self.rng.randint(2, 3)):
            if self.rng.random() < 0.15:
                possible = [None]
            reached: list[State | None] = []
            for given in possible:
                chances = self.rng.choice([some for some in CHANCES if len(some) <= len(states)])
                values = self.rng.sample(states, len(chances))
                for value, chance in zip(values, chances, strict=True):
                    row = self._at(time)
                    row["x"], row["y"], row["s"] = value
                    row["px"], row["py"], row["ps"] = given or (None, None, None)
                    row["p"] = chance
                reached += [value for value, chance in zip(values, chances, strict=True) if chance]
                reached += [None] if sum(chances) < 1 else []
            possible = list(dict.fromkeys(reached))

    def _numbered(self) -> None:
        """Events in the order of their numbers, some of which are missing."""
        n_events = self.rng.choice((2, 2, 4)) if self.stream.uncertain is Uncertain.LOST_SEGMENTS else 3
        n_lost = self.rng.choice((0, 1, 1, 1, 2))
        numbers = range(1, n_events + 1)
        losable = numbers if self.stream.uncertain is Uncertain.LOST_SEGMENTS else numbers[1:-1]
        lost = self.rng.sample(losable, min(n_lost, len(losable), n_events - 1))
        times = self._times_together(n_events)
        for number, time in zip(numbers, times, strict=True):
            if number in lost:
                continue
            row = self._at(time)
            row["n"] = number
            if self.stream.uncertain is Uncertain.LOST_SEGMENTS:
                row["s"] = "b" if number % 2 == 0 else "a"
                row["total"], row["since"], row["until"] = n_events, -1, LAST_TIME + self.far + 1

    def _marked(self) -> None:
        """Events that open and close in turn, some of which are missing, and rows that say how many there were."""
        n_events = self.rng.choice((0, 2, 2, 2, 4))
        lost = set(self.rng.sample(range(1, n_events + 1), min(n_events, self.rng.choice((0, 1, 1, 1, 2)))))
        closes = self.stream.uncertain is Uncertain.LOST_TIMEOUT
        time = self.rng.randint(0, 2) + self.rng.choice((0, self.far))
        known: list[tuple[int, int, bool]] = []  # number, time, and whether it is a mark
        if not n_events or 1 in lost or self.rng.random() < 0.4:
            known.append((0, time, True))
        for number in range(1, n_events + 1):
            time += self.rng.choice((1, 1, 2) if closes else (1, 1, 2, 4))
            if number not in lost:
                known.append((number, time, False))
            if self.rng.random() < 0.15:
                known.append((number, time + self.rng.choice((0, 0, 1)), True))
                time = known[-1][1]
        if known[-1][0] < n_events and not closes:
            known.append((n_events, time + 1, True))
        latest = known[0][1]
        for number, when, is_mark in known:
            if closes and when - latest > SILENT:
                return
            latest = when
            row = self._at(when)
            row["n"], row["s"] = number, "mark" if is_mark else "b" if number % 2 == 0 else "a"


def _distinct(rows: list[Row]) -> list[Row]:
    """Alternatives no two of which say the same."""
    seen: dict[tuple[Value, ...], Row] = {}
    for row in rows:
        seen.setdefault((row["x"], row["y"], row["s"]), row)
    return list(seen.values())
