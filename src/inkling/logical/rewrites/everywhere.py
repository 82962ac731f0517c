"""Tools for rewrites: a change of every inner pattern, other numbers for slots and look-ups, the union of declarations.

EVENT e(a.x) AS PATTERN A a;  EVENT e(b.x) AS PATTERN B b;
EVENT e(CASE WHEN e1 THEN a.x WHEN e2 THEN b.x END) AS PATTERN (A a) e1 OR (B b) e2    -- their union
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.schema import Column, EventSchema

Change = Callable[[p.Pattern], p.Pattern]


def everywhere(pattern: p.Pattern, change: Change) -> p.Pattern:
    """The pattern with `change` applied to all its patterns; the same object when nothing changed."""
    return change(p.rebuilt(pattern, lambda inner: everywhere(inner, change)))


@dataclass(frozen=True, slots=True)
class Renumbering:
    """New numbers of slots and look-ups, by their old numbers."""

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
    """Slots in pattern order; the slot of a nested pattern comes after the slots inside it."""
    for inner in p.sub_patterns(part):
        yield from slots_in_order(inner)
    if isinstance(part, p.Leaf | p.Narrowed) and part.slot is not None:
        yield part.slot


def where_present(values: list[tuple[int, e.Expr]], *, always: bool = True) -> e.Expr:
    """The value of the first alternative that is part of the match; alternatives are given by their slots.

    With `always`, every match has one of the alternatives.
    """
    if always and len(values) == 1:
        return values[0][1]
    return e.Chosen(
        tuple(e.IsNull(e.TimeOf(e.Edge.START, slot), negated=True) for slot, _ in values),
        tuple(value for _, value in values),
        values[0][1].type,
    )


def united(members: tuple[p.EventPlan, ...]) -> p.EventPlan:
    """The union of several declarations, which agree in everything but their patterns and the values of their columns.

    Each declaration becomes an alternative with a slot of its own, so that columns can test which one matched.
    """
    if len(members) == 1:
        return members[0]
    assert not any(member.preferred for member in members), "binding rejects PREFER by a value"
    slots: list[p.Slot] = []
    alternatives: list[p.Pattern] = []
    own: list[tuple[int, Renumbering]] = []
    n_atoms = 0
    for place, member in enumerate(members):
        atoms = [atom.number for leaf in p.leaves(member.pattern) for atom in leaf.atoms]
        numbers = Renumbering(
            {slot.number: len(slots) + slot.number for slot in member.slots},
            {old: n_atoms + new for new, old in enumerate(atoms)},
        )
        span = len(slots) + len(member.slots)
        slots += [replace(slot, number=numbers.slots[slot.number]) for slot in member.slots]
        slots.append(p.Slot(span, f"{member.name}{place + 1}", (), repeated=False, negated=False, span_only=True))
        n_atoms += len(atoms)
        pattern, having = numbers.pattern(member.pattern), numbers.all_of(member.having)
        alternatives.append(p.Narrowed(pattern, member.within, having, span))
        own.append((span, numbers))
    first = members[0]
    head = tuple(_together([member.head[place] for member in members], own) for place in range(len(first.head)))
    returns = tuple(
        _together([member.returns[place] for member in members], own) for place in range(len(first.returns))
    )
    columns = tuple(Column(output.name, output.type) for output in (*head, *returns))
    return replace(
        first,
        head=head,
        returns=returns,
        pattern=p.Disjunction(tuple(alternatives)),
        within=None,
        having=(),
        scope=tuple(sorted({source for member in members for source in member.scope})),
        slots=tuple(slots),
        schema=EventSchema(
            first.name,
            columns,
            all(member.schema.is_ordered for member in members),
            any(member.schema.is_interval for member in members),
        ),
        confidence=next((member.confidence for member in members if member.confidence), None),
        top=next((member.top for member in members if member.top), None),
        demand=next((member.demand for member in members if member.demand), None),
    )


def _together(outputs: list[p.Output], own: list[tuple[int, Renumbering]]) -> p.Output:
    values = [(span, numbers.expr(output.expr)) for output, (span, numbers) in zip(outputs, own, strict=True)]
    same = {value for _, value in values}
    if len(same) == 1 and isinstance(values[0][1], e.KeyColumn | e.Literal):
        return p.Output(outputs[0].name, values[0][1])
    return p.Output(outputs[0].name, where_present(values, always=False))
