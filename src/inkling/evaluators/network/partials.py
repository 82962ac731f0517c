"""Partial matches as tables of arrays: one row per partial match, and the registers that later conditions read.

A partial match of SEQ(A a, B b[x > a.x], C c) that has bound `a` is one row of `Partials`: its interval, a register
with the row number of `a`, because the condition on `b` reads `a.x`, and the `tail` of its lineage in an `Arena`.
Lineages that begin alike share their first entries there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Self, TypeVar

import numpy as np

from inkling.kernels.columns import lists
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.batch import UNORDERED, Ints
from inkling.physical.plan import EventStep


class SlotRegister(Enum):
    """Which event of a slot a register holds; `HERE` counts only events of the current round of a repetition."""

    HERE_FIRST = "here, first"
    HERE = "here, last"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class RegisterLayout:
    """The columns of partial matches of an event: what their registers and moments stand for."""

    registers: tuple[tuple[int, SlotRegister], ...]  # each holds a row number, -1 while it is unbound
    moments: tuple[tuple[int, e.Edge], ...]  # each holds the start or end time of a named nested pattern
    spans: frozenset[int]  # slots that name nested patterns: they have an interval and no row

    def register(self, slot: int, kept: SlotRegister) -> int:
        return self.registers.index((slot, kept))

    def moment(self, slot: int, edge: e.Edge) -> int:
        return self.moments.index((slot, edge))

    def is_span(self, slot: int) -> bool:
        return slot in self.spans


def kept_of(reference: e.Expr) -> SlotRegister:
    """The register that answers a reference to another slot."""
    match reference:
        case e.ListColumn(which=which):
            return SlotRegister.FIRST if which is e.Which.FIRST else SlotRegister.LAST
        case e.TimeOf(edge=e.Edge.START):
            return SlotRegister.HERE_FIRST
        case _:
            return SlotRegister.HERE


def layout_of(step: EventStep) -> RegisterLayout:
    """Registers for every reference that a condition across events makes to another slot."""
    spans = _spans(step)
    moments = {(slot, edge) for slot in spans for edge in e.Edge}
    return RegisterLayout(
        registers_of([step]), tuple(sorted(moments, key=lambda pair: (pair[0], pair[1].value))), spans
    )


def registers_of(steps: Sequence[EventStep]) -> tuple[tuple[int, SlotRegister], ...]:
    """The registers that any of these events needs."""
    registers: set[tuple[int, SlotRegister]] = set()
    for step in steps:
        for leaf in step.leaves:
            for condition in leaf.all_across:
                registers.update(_references(condition, leaf.slot, _spans(step)))
    repeated = {slot.number for step in steps for slot in step.event.slots if slot.repeated}
    for slot, kept in tuple(registers):
        if slot in repeated and kept in (SlotRegister.HERE, SlotRegister.HERE_FIRST):
            registers |= {(slot, SlotRegister.FIRST), (slot, SlotRegister.LAST)}
    return tuple(sorted(registers, key=lambda pair: (pair[0], pair[1].value)))


def _spans(step: EventStep) -> frozenset[int]:
    return frozenset(slot.number for slot in step.event.slots if slot.span_only)


def _references(condition: e.Expr, own: int, spans: frozenset[int]) -> Iterator[tuple[int, SlotRegister]]:
    for part in e.walk(condition):
        match part:
            case e.ListColumn(slot=slot):
                yield slot, kept_of(part)
            case e.Aggregate(slot=slot):
                yield slot, SlotRegister.LAST
            case e.ColumnOf(slot=slot) | e.IdOf(slot=slot) | e.TimeOf(slot=slot):
                if slot != own and slot not in spans:
                    yield slot, kept_of(part)
            case _:
                pass


def named_slots(part: p.Part) -> Iterator[int]:
    """The slots that name nested patterns inside a part."""
    if isinstance(part, p.Narrowed) and part.slot is not None:
        yield part.slot
    for inner in p.sub_patterns(part):
        yield from named_slots(inner)


NOWHERE = np.int64(-(2**63) + 1)
"""A time that is not set: nothing placed yet, or a gap still open."""


@dataclass(frozen=True, slots=True)
class MatchTable:
    """Equally long arrays; the first axis is the row."""

    def take(self, rows: Ints) -> Self:
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))

    def where(self, mask: np.ndarray) -> Self:
        return self.take(np.flatnonzero(mask))

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))


MatchTableKind = TypeVar("MatchTableKind", bound=MatchTable)


def stack(tables: list[MatchTableKind]) -> MatchTableKind:
    """One table under the other."""
    if len(tables) == 1:
        return tables[0]
    kind = type(tables[0])
    return kind(*(np.concatenate([getattr(t, field.name) for t in tables]) for field in fields(kind)))


@dataclass(frozen=True, slots=True)
class MatchContexts(MatchTable):
    """What is bound to the left of a pattern, and where its occurrences may lie.

    Occurrences start after `(after, after_place)`, at `(first_until, first_until_place)` or before, and no event of
    theirs starts after `until`.
    """

    key: Ints
    tail: Ints
    registers: Ints
    moments: Ints
    after: Ints
    after_place: Ints
    until: Ints
    first_until: Ints
    first_until_place: Ints


@dataclass(frozen=True, slots=True)
class Occurrences(MatchTable):
    """Occurrences of a pattern; `origin` is the row of the context each belongs to."""

    origin: Ints
    tail: Ints
    registers: Ints
    moments: Ints
    start: Ints
    start_place: Ints
    end: Ints
    end_place: Ints
    known: Ints


@dataclass(frozen=True, slots=True)
class Partials(Occurrences):
    """A sequence in the making; `gaps[:, g]` is (left, place, right, place) of absence g."""

    last: Ints
    last_place: Ints
    gaps: Ints

    @property
    def placed(self) -> np.ndarray:
        return self.last != NOWHERE


@dataclass(frozen=True, slots=True)
class StartBy(MatchTable):
    """Per partial match, the latest start of what comes next."""

    time: Ints
    place: Ints


def begin(contexts: MatchContexts, n_gaps: int) -> Partials:
    """Nothing placed yet, one row per context."""
    n = len(contexts)
    unset = np.full(n, NOWHERE)
    zero = np.zeros(n, np.int64)
    return Partials(
        np.arange(n),
        contexts.tail,
        contexts.registers,
        contexts.moments,
        unset,
        zero,
        unset,
        zero,
        unset,
        unset,
        zero,
        np.full((n, n_gaps, 4), NOWHERE),
    )


def append(partials: Partials, found: Occurrences) -> Partials:
    """Put each found occurrence behind the partial match it belongs to."""
    origin = found.origin
    gaps = partials.gaps[origin]
    if gaps.shape[1]:
        closing = (gaps[:, :, 1] != NOWHERE) & (gaps[:, :, 2] == NOWHERE)
        gaps[:, :, 2] = np.where(closing, found.start[:, None], gaps[:, :, 2])
        gaps[:, :, 3] = np.where(closing, found.start_place[:, None], gaps[:, :, 3])
    start, start_place, end, end_place = found.start, found.start_place, found.end, found.end_place
    known = found.known
    if partials.placed.any():
        fresh = ~partials.placed[origin]
        old_start, old_start_place = partials.start[origin], partials.start_place[origin]
        earlier = fresh | strictly_before(start, start_place, old_start, old_start_place)
        start = np.where(earlier, start, old_start)
        start_place = np.where(earlier, start_place, old_start_place)
        old_end, old_end_place = partials.end[origin], partials.end_place[origin]
        later = fresh | strictly_before(old_end, old_end_place, end, end_place)
        end = np.where(later, end, old_end)
        end_place = np.where(later, end_place, old_end_place)
        known = np.maximum(partials.known[origin], known)
    return Partials(
        partials.origin[origin],
        found.tail,
        found.registers,
        found.moments,
        start,
        start_place,
        end,
        end_place,
        known,
        found.end,
        found.end_place,
        gaps,
    )


def closed(partials: Partials, limit: int | None) -> Occurrences:
    """Finished matches; one with an absence at its end is known `limit` after its start."""
    known = np.maximum(partials.known, partials.end)
    if limit is not None and partials.gaps.shape[1]:
        trailing = (partials.gaps[:, :, 2] == NOWHERE).any(axis=1)
        known = np.where(trailing, np.maximum(known, partials.start + limit), known)
    return Occurrences(
        partials.origin,
        partials.tail,
        partials.registers,
        partials.moments,
        partials.start,
        partials.start_place,
        partials.end,
        partials.end_place,
        known,
    )


def open_gap(partials: Partials, number: int, *, since_beginning: bool) -> Partials:
    """Remember where an absence begins: at the last part, at the beginning of time, or where the window does."""
    gaps = partials.gaps.copy()
    border = BEFORE_ALL if since_beginning else NOWHERE
    gaps[:, number, 0] = np.where(partials.placed, partials.last, border)
    gaps[:, number, 1] = np.where(partials.placed, partials.last_place, 0)
    return replace(partials, gaps=gaps)


def strictly_before(time: Ints, place: Ints, other: Ints, other_place: Ints) -> np.ndarray:
    """Whether (time, place) < (other, other_place)."""
    return (time < other) | ((time == other) & (place < other_place))


def at_most(time: Ints, place: Ints, other: Ints, other_place: Ints) -> np.ndarray:
    """Whether (time, place) <= (other, other_place)."""
    return ~strictly_before(other, other_place, time, place)


BEFORE_ALL, AFTER_ALL = -UNORDERED, UNORDERED
"""Places of a moment that comes before, or after, everything simultaneous."""


class Arena:
    """Entries `(row, slot, parent)`; a partial match is the number of its last entry."""

    def __init__(self) -> None:
        self._size = 0
        self._row = np.empty(1024, np.int64)
        self._slot = np.empty(1024, np.int64)
        self._parent = np.empty(1024, np.int64)

    def append(self, rows: Ints, slot: int, parents: Ints) -> Ints:
        """Add one entry behind each parent; returns the new tails."""
        first, self._size = self._size, self._size + len(rows)
        if self._size > len(self._row):
            capacity = max(self._size, 2 * len(self._row))
            self._row = _wider(self._row, capacity)
            self._slot = _wider(self._slot, capacity)
            self._parent = _wider(self._parent, capacity)
        self._row[first : self._size] = rows
        self._slot[first : self._size] = slot
        self._parent[first : self._size] = parents
        return np.arange(first, self._size)

    def rows(self, tails: Ints) -> Ints:
        """The rows of the entries themselves."""
        return self._row[tails]

    def unroll(self, tails: Ints) -> tuple[Ints, Ints, Ints]:
        """Offsets, rows and slots of the lists, oldest entry first."""
        length = lists.lengths(tails, self._parent)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(length)])
        rows, slots = lists.unroll(tails, offsets, self._row, self._slot, self._parent)
        return offsets, rows, slots


def _wider(column: Ints, capacity: int) -> Ints:
    wider = np.empty(capacity, np.int64)
    wider[: len(column)] = column
    return wider
