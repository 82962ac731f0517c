"""Which registers a partial match carries: the events and moments that later conditions ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inkling.logical import expr as e
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class Layout:
    """`registers` hold row numbers (first or last event of a slot); `moments` hold times of named nested patterns."""

    registers: tuple[tuple[int, e.Which], ...]
    moments: tuple[tuple[int, e.Edge], ...]
    spans: frozenset[int]

    def register(self, slot: int, which: e.Which) -> int:
        return self.registers.index((slot, which))

    def moment(self, slot: int, edge: e.Edge) -> int:
        return self.moments.index((slot, edge))

    def is_span(self, slot: int) -> bool:
        return slot in self.spans


def layout_of(step: EventStep) -> Layout:
    """Registers for every reference that a condition across events makes to another slot."""
    spans = frozenset(slot.number for slot in step.event.slots if slot.span_only)
    registers: set[tuple[int, e.Which]] = set()
    for leaf in step.leaves:
        for condition in leaf.across:
            registers.update(_references(condition, leaf.slot, spans))
    moments = {(slot, edge) for slot in spans for edge in e.Edge}
    return Layout(
        tuple(sorted(registers, key=lambda pair: (pair[0], pair[1].value))),
        tuple(sorted(moments, key=lambda pair: (pair[0], pair[1].value))),
        spans,
    )


def _references(condition: e.Expr, own: int, spans: frozenset[int]) -> Iterable[tuple[int, e.Which]]:
    for part in e.walk(condition):
        match part:
            case e.ListColumn(which=which, slot=slot):
                yield slot, which
            case e.ColumnOf(slot=slot) | e.IdOf(slot=slot) if slot != own:
                yield slot, e.Which.LAST
            case e.TimeOf(edge=edge, slot=slot) if slot != own and slot not in spans:
                yield slot, e.Which.FIRST if edge is e.Edge.START else e.Which.LAST
            case _:
                pass

