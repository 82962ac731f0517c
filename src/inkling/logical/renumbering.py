"""Patterns and expressions with other numbers for their slots and look-ups, so that several fit into one event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.everywhere import everywhere


@dataclass(frozen=True, slots=True)
class Numbers:
    """New numbers by old ones."""

    slots: Mapping[int, int]
    atoms: Mapping[int, int]

    def pattern(self, pattern: p.Pattern) -> p.Pattern:
        return everywhere(pattern, self._own)

    def all_of(self, conditions: tuple[e.Expr, ...]) -> tuple[e.Expr, ...]:
        return tuple(self.expr(condition) for condition in conditions)

    def expr(self, expr: e.Expr) -> e.Expr:
        match expr:
            case e.ColumnOf() | e.ListColumn() | e.Aggregate() | e.TimeOf() | e.IdOf():
                return replace(expr, slot=self.slots[expr.slot])
            case e.FactColumn(atom=atom) if atom >= 0:
                return replace(expr, atom=self.atoms[atom])
            case _:
                return e.rebuilt(expr, self.expr)

    def _own(self, pattern: p.Pattern) -> p.Pattern:
        match pattern:
            case p.Leaf(slot=slot, conditions=conditions, atoms=lookups, checks=checks):
                own = tuple(
                    replace(
                        atom,
                        number=self.atoms[atom.number],
                        args=tuple(None if arg is None else self.expr(arg) for arg in atom.args),
                    )
                    for atom in lookups
                )
                tests, checks = self.all_of(conditions), self.all_of(checks)
                return replace(pattern, slot=self.slots[slot], conditions=tests, atoms=own, checks=checks)
            case p.Narrowed(having=having, slot=slot):
                return replace(pattern, having=self.all_of(having), slot=None if slot is None else self.slots[slot])
            case _:
                return pattern


def slots_in_order(part: p.Part) -> Iterator[int]:
    """Slots in the order of the pattern; a nested pattern is named after what is inside it."""
    for inner in p.sub_patterns(part):
        yield from slots_in_order(inner)
    if isinstance(part, p.Leaf | p.Narrowed) and part.slot is not None:
        yield part.slot


def where_present(values: list[tuple[int, e.Expr]], *, always: bool = True) -> e.Expr:
    """The value beside the first nested pattern, given by the slot that names it, that is part of the match.

    With `always`, one of them is in every match.
    """
    if always and len(values) == 1:
        return values[0][1]
    return e.Chosen(
        tuple(e.IsNull(e.TimeOf(e.Edge.START, slot), negated=True) for slot, _ in values),
        tuple(value for _, value in values),
        values[0][1].type,
    )
