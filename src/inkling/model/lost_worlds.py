"""Worlds of streams with lost events: where each lost event lies among the known ones.

Numbers are consecutive per key, so a gap shows how many events were lost. The lost times of a gap are the
order statistics of uniform draws between its borders (Poisson arrivals of any rate). Known times cut the time
line into cells; within a cell only the order of the lost events counts. A world that puts `N_c` lost events
into cell c, in a certain order, has probability

    product over gaps r of  m_r! / L_r^m_r   ×   product over cells c of  len_c^N_c / N_c!

with `m_r` lost events between borders at distance `L_r`. Lost events get times that divide their cell evenly:
right for any question about order, not for one about lengths of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import factorial, prod

from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.model.weights import Row, Rows, Weighted, exact


@dataclass(frozen=True, slots=True)
class Loss:
    """A lost event: the position of its stream, and what is known of its row."""

    stream: int
    row: Row


@dataclass(frozen=True, slots=True)
class Gap:
    """Lost events of one key between two borders, in order."""

    lo: Fraction
    hi: Fraction
    losses: tuple[Loss, ...]


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
    """A stream with `NUMBERED BY` and the rows that were recorded."""

    rows: Rows
    schema: StreamSchema

    @property
    def doubt(self) -> LostEvents:
        assert isinstance(self.schema.doubt, LostEvents)
        return self.schema.doubt

    def number(self, row: Row) -> int:
        return int(exact(row[self.doubt.number]))


def known_times(rows: Rows, schema: StreamSchema) -> list[Fraction]:
    return [exact(row[name]) for row in rows for name in {schema.start, schema.end}]


def lost_worlds(streams: Sequence[LosingStream], breakpoints: Iterable[Fraction]) -> Iterator[Weighted[list[Rows]]]:
    """Every order of the lost events among each other and the known times, as the rows of each stream."""
    gaps = [gap for index, stream in enumerate(streams) for gap in _gaps(index, stream)]
    if not gaps:
        yield Fraction(1), [stream.rows for stream in streams]
        return
    borders = [border for gap in gaps for border in (gap.lo, gap.hi)]
    recorded = [time for stream in streams for time in known_times(stream.rows, stream.schema)]
    cells = [Cell(lo, hi) for lo, hi in pairwise(sorted({*recorded, *borders, *breakpoints}))]
    density = prod(
        (Fraction(factorial(len(gap.losses))) / (gap.hi - gap.lo) ** len(gap.losses) for gap in gaps),
        start=Fraction(1),
    )
    for volume, placed in _fill(cells, gaps):
        complete: list[list[Row]] = [list(stream.rows) for stream in streams]
        for time, loss in placed:
            complete[loss.stream].append({**loss.row, streams[loss.stream].schema.start: time})
        yield density * volume, list(complete)


def _fill(cells: list[Cell], gaps: list[Gap]) -> Iterator[Weighted[list[tuple[Fraction, Loss]]]]:
    """Every way to place what is left of the gaps into the remaining cells, with its volume."""
    if not cells:
        if not any(gap.losses for gap in gaps):
            yield Fraction(1), []
        return
    cell, *later = cells
    for here, left in _orders(cell, gaps):
        volume = cell.length ** len(here) / factorial(len(here))
        for rest, placed in _fill(later, left):
            yield volume * rest, [*cell.divided(here), *placed]


def _orders(cell: Cell, gaps: list[Gap]) -> Iterator[tuple[list[Loss], list[Gap]]]:
    """Every sequence of next losses that the cell may hold, and what is left of the gaps after it."""
    yield [], gaps
    for index, gap in enumerate(gaps):
        if gap.losses and cell.is_in(gap):
            shorter = Gap(gap.lo, gap.hi, gap.losses[1:])
            for more, left in _orders(cell, [*gaps[:index], shorter, *gaps[index + 1 :]]):
                yield [gap.losses[0], *more], left


def _gaps(index: int, stream: LosingStream) -> Iterator[Gap]:
    by_key: dict[tuple[object, ...], dict[int, Row]] = {}
    for row in stream.rows:
        numbered = by_key.setdefault(tuple(row[name] for name in stream.schema.key), {})
        if stream.number(row) in numbered:
            raise ValueError(f"number {stream.number(row)} is given twice")
        numbered[stream.number(row)] = row
    for numbered in by_key.values():
        yield from _gaps_of_key(index, stream, numbered)


def _gaps_of_key(index: int, stream: LosingStream, numbered: dict[int, Row]) -> Iterator[Gap]:
    """The gaps before, between and after the recorded events of one key."""
    doubt, schema = stream.doubt, stream.schema
    some_row = next(iter(numbered.values()))
    total = max(numbered) if doubt.count is None else int(exact(some_row[doubt.count]))
    key = {name: some_row[name] for name in schema.key}

    def border(number: int, side: int) -> Fraction:
        if number in numbered:
            return exact(numbered[number][schema.start])
        if doubt.bounds is None:
            raise ValueError("events lost before the first or after the last recorded one need BOUNDS")
        return exact(some_row[doubt.bounds[side]])

    for before, after in pairwise([0, *sorted(numbered), total + 1]):
        lost = range(before + 1, after)
        if not lost:
            continue
        lo, hi = border(before, 0), border(after, 1)
        if hi <= lo:
            raise ValueError(f"events {lost[0]} to {lost[-1]} were lost in no time")
        rows = [{**key, doubt.number: number, **_role(stream, number)} for number in lost]
        yield Gap(lo, hi, tuple(Loss(index, row) for row in rows))


def _role(stream: LosingStream, number: int) -> Row:
    """The role of a lost event: that of recorded events whose number is odd or even like its own."""
    role = stream.doubt.role
    if role is None:
        return {}
    like = (row[role] for row in stream.rows if (stream.number(row) - number) % 2 == 0)
    return {role: next(like, None)}
