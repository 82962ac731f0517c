"""Several declarations of one event as one: its results are those of any of them."""

from __future__ import annotations

from dataclasses import replace

from inkling.errors import NotSupportedYet
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.renumbering import Numbers, where_present
from inkling.model.schema import Column, EventSchema


def united(members: tuple[p.EventPlan, ...]) -> p.EventPlan:
    """One event of all members, which agree in everything but their patterns and the values of their columns.

    Each becomes an alternative that is named by a slot of its own, so that columns can tell whose value they take.
    """
    if len(members) == 1:
        return members[0]
    if any(member.preferred for member in members):
        raise NotSupportedYet.of(
            "INK0409",
            f"PREFER by a value is not supported yet where several events are called `{members[0].name}`",
            helps=("write PREFER LONGER or PREFER SHORTER, or give the events different names",),
        )
    slots: list[p.Slot] = []
    alternatives: list[p.Pattern] = []
    own: list[tuple[int, Numbers]] = []
    n_atoms = 0
    for place, member in enumerate(members):
        atoms = [atom.number for leaf in p.leaves(member.pattern) for atom in leaf.atoms]
        numbers = Numbers(
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


def _together(outputs: list[p.Output], own: list[tuple[int, Numbers]]) -> p.Output:
    values = [(span, numbers.expr(output.expr)) for output, (span, numbers) in zip(outputs, own, strict=True)]
    same = {value for _, value in values}
    if len(same) == 1 and isinstance(values[0][1], e.KeyColumn | e.Literal):
        return p.Output(outputs[0].name, values[0][1])
    return p.Output(outputs[0].name, where_present(values, always=False))
