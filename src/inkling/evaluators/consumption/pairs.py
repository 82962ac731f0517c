"""Occurrences of the operands of a pair under a consumption policy, as tables with one row number per slot."""

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.network.partials import (
    NOWHERE,
    Arena,
    MatchTable,
    Occurrences,
    RegisterLayout,
    SlotRegister,
    strictly_before,
)
from inkling.kernels.joins.consumption import LEFT, RIGHT
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.batch import Ints
from inkling.physical.plan import EventStep

ANY_SLOT = -2
"""Any filled slot, from which columns of the partition are read."""


@dataclass(frozen=True, slots=True)
class RowLayout(RegisterLayout):
    """One register per slot that is not absent, in pattern order, and one for any event of the match."""

    slots: tuple[int, ...] = ()

    def register(self, slot: int, kept: SlotRegister) -> int:
        return len(self.slots) if slot == ANY_SLOT else self.slots.index(slot)


@dataclass(frozen=True, slots=True)
class StoredOccurrences(MatchTable):
    """Occurrences; `rows[:, i]` is the row in slot i of the layout or -1, and in the last column any of them."""

    key: Ints
    rows: Ints
    moments: Ints
    start: Ints
    start_place: Ints
    end: Ints
    end_place: Ints
    known: Ints


@dataclass(frozen=True, slots=True)
class PairOperands:
    """Both operands of a pair; columns are concatenated on demand, left first."""

    left: StoredOccurrences
    right: StoredOccurrences

    def __len__(self) -> int:
        return len(self.left) + len(self.right)

    def column(self, name: str) -> Ints:
        return np.concatenate([getattr(self.left, name), getattr(self.right, name)])

    @property
    def side(self) -> NDArray[np.int8]:
        return np.repeat(np.array([LEFT, RIGHT], np.int8), [len(self.left), len(self.right)])

    @property
    def are_points(self) -> bool:
        """Whether all occurrences are known to be points."""
        return self.left.start is self.left.end and self.right.start is self.right.end

    def divided(self, places: Ints) -> tuple[StoredOccurrences, StoredOccurrences]:
        """The occurrences at some positions, by side."""
        on_left = places < len(self.left)
        return self.left.take(places[on_left]), self.right.take(places[~on_left] - len(self.left))


def row_layout(step: EventStep) -> RowLayout:
    spans = frozenset(slot.number for slot in step.event.slots if slot.span_only)
    moments = tuple(
        sorted(((slot, edge) for slot in spans for edge in e.Edge), key=lambda pair: (pair[0], pair[1].value))
    )
    negated = {slot.number for slot in step.event.slots if slot.negated}
    slots = tuple(sorted(leaf.slot for leaf in p.leaves(step.event.pattern) if leaf.slot not in negated))
    return RowLayout((), moments, spans, slots)


def for_kernels(condition: e.Expr) -> e.Expr:
    """The condition with columns of the partition read from any event of the match."""
    if isinstance(condition, e.KeyColumn):
        return e.ColumnOf(ANY_SLOT, condition.column, condition.type)
    return e.rebuilt(condition, for_kernels)


def united(
    left: StoredOccurrences, right: StoredOccurrences, layout: RowLayout, names: tuple[int, ...]
) -> StoredOccurrences:
    """The matches of left and right occurrences, pair by pair; the slots `names` name the whole match."""
    earlier = strictly_before(left.start, left.start_place, right.start, right.start_place)
    later = strictly_before(left.end, left.end_place, right.end, right.end_place)
    both = StoredOccurrences(
        left.key,
        np.where(left.rows >= 0, left.rows, right.rows),
        np.where(left.moments != NOWHERE, left.moments, right.moments),
        np.where(earlier, left.start, right.start),
        np.where(earlier, left.start_place, right.start_place),
        np.where(later, right.end, left.end),
        np.where(later, right.end_place, left.end_place),
        np.maximum(left.known, right.known),
    )
    return named(both, layout, names)


def named(found: StoredOccurrences, layout: RowLayout, names: tuple[int, ...]) -> StoredOccurrences:
    if not names:
        return found
    moments = found.moments.copy()
    for slot in names:
        moments[:, layout.moment(slot, e.Edge.START)] = found.start
        moments[:, layout.moment(slot, e.Edge.END)] = found.end
    return replace(found, moments=moments)


def stacked(one: StoredOccurrences, other: StoredOccurrences) -> StoredOccurrences:
    return StoredOccurrences(
        *(np.concatenate([getattr(one, part.name), getattr(other, part.name)]) for part in fields(StoredOccurrences))
    )


def as_occurrences(found: StoredOccurrences, layout: RowLayout, arena: Arena) -> Occurrences:
    """The occurrences with their lineage in an arena."""
    tail = np.full(len(found), -1)
    for place, slot in enumerate(layout.slots):
        rows = found.rows[:, place]
        filled = np.flatnonzero(rows >= 0)
        tail[filled] = arena.append(rows[filled], slot, tail[filled])
    return Occurrences(
        found.key,
        tail,
        found.rows,
        found.moments,
        found.start,
        found.start_place,
        found.end,
        found.end_place,
        found.known,
    )
