"""The definition of lost events: worlds that differ in where each lost event lies among the known ones.

Busany et al.: Interval-based Queries over Lossy IoT Event Streams, 2020 (SimpMatch), sections 3.1 and 3.2.

Numbers are consecutive per key, so a gap shows how many events were lost. The lost times of a gap are the
order statistics of uniform draws between its borders (Poisson arrivals of any rate). Known times cut the time
line into cells; within a cell only the order of the lost events counts. A world that puts `N_c` lost events
into cell c, in a certain order, has probability

    product over gaps r of  m_r! / L_r^m_r   ×   product over cells c of  len_c^N_c / N_c!

with `m_r` lost events between borders at distance `L_r`. Lost events get times that divide their cell evenly:
right for any question about order, not for one about lengths of time.

With Erlang gaps of shape h, events are every h-th of such uniform points: the others are hidden, and get no row.
Where a table says how fast events come, cells end where the rate changes, `L_r` is how many events come between the
borders on average, and every lost event in a cell counts as much as the rate is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import factorial, prod

from inkling.model.lost_keys import declared_roles, keys_of, lost_row, marks
from inkling.model.roles import CLOSING as CLOSING
from inkling.model.roles import OPENING as OPENING
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents, Row, Rows, Weighted, exact


@dataclass(frozen=True, slots=True)
class Intensity:
    """Rates by the time from which they hold; the first rate also holds before. Without steps, the rate is constant."""

    steps: tuple[tuple[Fraction, Fraction], ...] = ()

    @classmethod
    def of(cls, rows: Rows) -> Intensity:
        """A table with a column of times and one of rates, in this order."""
        steps: dict[Fraction, Fraction] = {}
        for row in rows:
            time, rate = (_number(value) for value in row.values())
            if rate <= 0:
                raise ValueError(f"a rate of arrivals is positive, got {rate}")
            if steps.setdefault(time, rate) != rate:
                raise ValueError(f"two rates of arrivals from {time} on")
        if not steps:
            raise ValueError("a table of rates has at least one row")
        return cls(tuple(sorted(steps.items())))

    @property
    def changes(self) -> tuple[Fraction, ...]:
        """The times at which the rate changes."""
        return tuple(time for time, _ in self.steps[1:])

    def after(self, time: Fraction) -> Fraction:
        """The rate from a time on."""
        known = [rate for since, rate in self.steps[1:] if since <= time]
        return known[-1] if known else self.steps[0][1] if self.steps else Fraction(1)

    def between(self, lo: Fraction, hi: Fraction) -> Fraction:
        """The expected number of events between two times."""
        times = [lo, *(time for time in self.changes if lo < time < hi), hi]
        return sum((self.after(since) * (until - since) for since, until in pairwise(times)), start=Fraction(0))


ALWAYS_THE_SAME = Intensity()


def _number(value: object) -> Fraction:
    if value is None:
        raise ValueError("a time or a rate of arrivals is missing")
    return exact(value)


EMPTY_KEY = "empty key"
"""The column that marks rows of a world that are no events."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A lost event: the position of its stream, and what is known of its row."""

    stream: int
    row: Row


@dataclass(frozen=True, slots=True)
class Gap:
    """Lost events of one key between two borders, in order; None is a hidden point that is no event."""

    lo: Fraction
    hi: Fraction
    losses: tuple[Loss | None, ...]
    intensity: Intensity = ALWAYS_THE_SAME

    @property
    def density(self) -> Fraction:
        n = len(self.losses)
        return Fraction(factorial(n)) / self.intensity.between(self.lo, self.hi) ** n


@dataclass(frozen=True, slots=True)
class Cell:
    """The open stretch between two known times."""

    lo: Fraction
    hi: Fraction

    @property
    def length(self) -> Fraction:
        return self.hi - self.lo

    def is_in(self, gap: Gap) -> bool:
        return gap.lo <= self.lo and self.hi <= gap.hi

    def divided(self, losses: Sequence[Loss]) -> list[tuple[Fraction, Loss]]:
        step = self.length / (len(losses) + 1)
        return [(self.lo + place * step, loss) for place, loss in enumerate(losses, start=1)]


@dataclass(frozen=True, slots=True)
class LosingStream:
    """A stream with `NUMBERED BY`, the rows that were recorded, and the tables that it names.

    For an event that was added to a running program, the rows are those after a time, `begun`: see `LosingKey`.
    """

    rows: Rows
    schema: StreamSchema
    tables: Mapping[str, Rows] = field(default_factory=dict)
    begun: int | None = None

    @property
    def uncertainty(self) -> LostEvents:
        assert isinstance(self.schema.uncertainty, LostEvents)
        return self.schema.uncertainty

    @property
    def events(self) -> list[Row]:
        """Rows without marks."""
        return [row for row in self.rows if not marks(row, self.uncertainty)]

    @property
    def empty_keys(self) -> list[Row]:
        """The last mark of each key without events; such keys still count."""
        keys = [key for key in keys_of(self.rows, self.schema, self.begun) if key.is_empty]
        last = [max(key.rows, key=lambda row: exact(row[self.schema.start])) for key in keys]
        return [{**row, EMPTY_KEY: True} for row in last]

    @property
    def intensity(self) -> Intensity:
        table = self.uncertainty.intensity
        return ALWAYS_THE_SAME if table is None else Intensity.of(self.tables[table])

    def gaps(self, index: int) -> Iterator[Gap]:
        keys = keys_of(self.rows, self.schema, self.begun)
        roles = declared_roles(keys, self.uncertainty)
        known = self.tables[self.uncertainty.known] if self.uncertainty.known is not None else ()
        for key in keys:
            for run in key.runs():
                losses = [Loss(index, lost_row(key, number, roles, known)) for number in run.numbers]
                yield Gap(run.lo, run.hi, with_hidden(losses, self.uncertainty.shape), self.intensity)


def with_hidden(losses: Iterable[Loss], shape: int) -> tuple[Loss | None, ...]:
    """Lost events with the hidden points of Erlang distances.

    Shape - 1 hidden points before each event and at the end.
    """
    hidden: tuple[Loss | None, ...] = (None,) * (shape - 1)
    return (*(point for loss in losses for point in (*hidden, loss)), *hidden)


def known_times(rows: Rows, schema: StreamSchema) -> list[Fraction]:
    return [exact(row[name]) for row in rows for name in {schema.start, schema.end}]


def lost_worlds(streams: Sequence[LosingStream], breakpoints: Iterable[Fraction]) -> Iterator[Weighted[list[Rows]]]:
    """Every order of the lost events among each other and the known times, as the rows of each stream."""
    gaps = [gap for index, stream in enumerate(streams) for gap in stream.gaps(index)]
    events = [stream.events for stream in streams]
    recorded = [time for stream, some in zip(streams, events, strict=True) for time in known_times(some, stream.schema)]
    density = prod((gap.density for gap in gaps), start=Fraction(1))
    empty = [stream.empty_keys for stream in streams]
    for volume, placed in fill(cells_of(gaps, [*recorded, *breakpoints]), gaps):
        complete: list[list[Row]] = [[*some, *rows] for some, rows in zip(events, empty, strict=True)]
        for time, loss in placed:
            complete[loss.stream].append({**loss.row, streams[loss.stream].schema.start: time})
        yield density * volume, list(complete)


def cells_of(gaps: Sequence[Gap], times: Iterable[Fraction]) -> list[Cell]:
    """Cells between known times, borders of gaps and changes of rates."""
    borders = [border for gap in gaps for border in (gap.lo, gap.hi, *gap.intensity.changes)]
    return [Cell(lo, hi) for lo, hi in pairwise(sorted({*borders, *times}))]


def fill(cells: Sequence[Cell], gaps: list[Gap]) -> Iterator[Weighted[list[tuple[Fraction, Loss]]]]:
    """All ways to place the remaining losses of the gaps into the remaining cells, with their volumes."""
    if not any(gap.losses for gap in gaps):
        yield Fraction(1), []
        return
    for place, cell in enumerate(cells):  # the next one that holds anything
        if any(gap.losses and gap.hi <= cell.lo for gap in gaps):
            return  # a loss cannot be placed any more
        for rate, here, left in _orders(cell, gaps):
            volume = rate * cell.length ** len(here) / factorial(len(here))
            events = [loss for loss in here if loss is not None]
            for rest, placed in fill(cells[place + 1 :], left):
                yield volume * rest, [*cell.divided(events), *placed]


def _orders(cell: Cell, gaps: list[Gap]) -> Iterator[tuple[Fraction, list[Loss | None], list[Gap]]]:
    """Every sequence of one or more next losses that the cell may hold, their rates, and what is left of the gaps."""
    for index, gap in enumerate(gaps):
        if gap.losses and cell.is_in(gap):
            left = [*gaps[:index], replace(gap, losses=gap.losses[1:]), *gaps[index + 1 :]]
            rate = gap.intensity.after(cell.lo)
            yield rate, [gap.losses[0]], left
            for further, more, after in _orders(cell, left):
                yield rate * further, [gap.losses[0], *more], after
