"""Which registers a partial match carries: the events and moments that later conditions ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.physical.plan import EventStep


class SlotRegister(Enum):
    """Which event of a slot a register holds; `HERE` counts only the repetition at hand."""

    HERE_FIRST = "here, first"
    HERE = "here, last"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class RegisterLayout:
    """`registers` hold row numbers; `moments` hold times of named nested patterns."""

    registers: tuple[tuple[int, SlotRegister], ...]
    moments: tuple[tuple[int, e.Edge], ...]
    spans: frozenset[int]

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
