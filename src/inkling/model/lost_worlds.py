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

OPENING = frozenset({"start", "resume", "open"})
CLOSING = frozenset({"end", "suspend", "close"})
COUNTERPARTS = {"open": "close", "close": "open", "start": "end", "end": "start"}
"""What the other role is called where no event that has it was recorded."""
"""Roles that mean the same in every stream, in any case; other words mean what their numbers say."""


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
        given = row[self.doubt.number]
        if given is None or exact(given) < 1:
            raise ValueError(f"events are numbered from 1, got {given}")
        return int(exact(given))


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
    for volume, placed in fill(cells, gaps):
        complete: list[list[Row]] = [list(stream.rows) for stream in streams]
        for time, loss in placed:
            complete[loss.stream].append({**loss.row, streams[loss.stream].schema.start: time})
        yield density * volume, list(complete)


def fill(cells: list[Cell], gaps: list[Gap]) -> Iterator[Weighted[list[tuple[Fraction, Loss]]]]:
    """Every way to place what is left of the gaps into the remaining cells, with its volume."""
    if not cells:
        if not any(gap.losses for gap in gaps):
            yield Fraction(1), []
        return
    cell, *later = cells
    for here, left in _orders(cell, gaps):
        volume = cell.length ** len(here) / factorial(len(here))
        for rest, placed in fill(later, left):
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
        _require_roles(numbered, stream.doubt)
        yield from _gaps_of_key(index, stream, dict(sorted(numbered.items())))


def _gaps_of_key(index: int, stream: LosingStream, numbered: dict[int, Row]) -> Iterator[Gap]:
    """The gaps before, between and after the recorded events of one key."""
    doubt, schema = stream.doubt, stream.schema
    times = {number: exact(row[schema.start]) for number, row in numbered.items()}
    last = max(numbered)
    count = None if doubt.count is None else _shared(numbered, doubt.count)
    total = last if count is None else int(exact(count))
    if total < last:
        raise ValueError(f"event {last} of {total}")
    if doubt.role is not None and count is not None and total % 2:
        raise ValueError(f"{total} events do not open and close segments in turn")
    lo, hi = (None, None) if doubt.bounds is None else (_shared(numbered, name) for name in doubt.bounds)
    if (lo is not None and exact(lo) > times[min(times)]) or (hi is not None and exact(hi) < times[last]):
        raise ValueError("BOUNDS do not lie around the recorded events")

    def border(number: int, bound: object) -> Fraction:
        if number in times:
            return times[number]
        if bound is None:
            raise ValueError("events lost before the first or after the last recorded one need BOUNDS")
        return exact(bound)

    key = {name: numbered[last][name] for name in schema.key}
    for before, after in pairwise([0, *numbered, total + 1]):
        lost = range(before + 1, after)
        if not lost:
            if before in times and after in times and times[after] <= times[before]:
                raise ValueError(f"event {after} is not later than event {before}")
            continue
        start, end = border(before, lo), border(after, hi)
        if end <= start:
            raise ValueError(f"events {lost[0]} to {lost[-1]} were lost in no time")
        rows = [{**key, doubt.number: number, **_role(stream, number)} for number in lost]
        yield Gap(start, end, tuple(Loss(index, row) for row in rows))


def _shared(numbered: dict[int, Row], column: str) -> object:
    """What all events of a key say about the key, or None where none does."""
    said = {value for row in numbered.values() if (value := row.get(column)) is not None}
    if len(said) > 1:
        raise ValueError(f"events of one key differ in `{column}`")
    return next(iter(said), None)


def _require_roles(numbered: dict[int, Row], doubt: LostEvents) -> None:
    """Odd numbers open and even ones close; a word says either in all events of a key."""
    if doubt.role is None:
        return
    meant = dict.fromkeys(OPENING, 1) | dict.fromkeys(CLOSING, 0)
    for number, row in sorted(numbered.items()):
        role = row.get(doubt.role)
        if role is not None and meant.setdefault(str(role).lower(), number % 2) != number % 2:
            raise ValueError(f"event {number} has the role {role}")


def _role(stream: LosingStream, number: int) -> Row:
    """The role of a lost event: that of recorded events whose number is odd or even like its own."""
    role = stream.doubt.role
    if role is None:
        return {}
    said: dict[int, object] = {}
    for row in stream.rows:
        if row.get(role) is not None:
            said.setdefault(stream.number(row) % 2, row[role])
    other = COUNTERPARTS.get(str(said.get(1 - number % 2)))
    return {role: said.get(number % 2, other)}
