"""The definition of MAXIMAL: a match counts only if no other one has the same events and more of its repetition."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from inkling.logical import plan as p
from inkling.logical.patterns.maximal import grows, maximal_parts
from inkling.logical.rewrites.everywhere import slots_in_order
from inkling.meaning.occurrences import Member, Occurrence, Partition


def maximal(event: p.EventPlan, stage: Partition, matches: Iterable[Occurrence]) -> list[Occurrence]:
    """The matches of which no MAXIMAL repetition can be extended; with events still to come, they wait."""
    found = list(matches)
    parts = list(maximal_parts(event.pattern))
    kept = [one for one in found if not any(_is_extended(event, part, one, found) for part in parts)]
    if not grows(event.pattern):
        return kept
    return [replace(one, known_at=max(one.known_at, one.start.time + stage.length(event.within))) for one in kept]


def _is_extended(event: p.EventPlan, part: p.Repetition, match: Occurrence, others: Iterable[Occurrence]) -> bool:
    """Whether another match differs from a match only in more events of the repetition."""
    slots = frozenset(slots_in_order(part))
    inside, outside = _inside(match, slots), _outside(event, match, slots)
    return any(inside < _inside(one, slots) and outside == _outside(event, one, slots) for one in others)


def _inside(match: Occurrence, slots: frozenset[int]) -> frozenset[Member]:
    return frozenset(member for member in match.lineage if member.slot in slots)


def _outside(event: p.EventPlan, match: Occurrence, slots: frozenset[int]) -> tuple[object, ...]:
    """The other events, and what tables supply with those that are not repeated."""
    members = tuple(member for member in match.lineage if member.slot not in slots)
    atoms = set(_single_atoms(event))
    facts = {number: dict(row) for number, row in match.bindings.facts.items() if number in atoms}
    return (members, sorted((number, sorted(row.items())) for number, row in facts.items()))


def _single_atoms(event: p.EventPlan) -> Iterator[int]:
    for leaf in p.leaves(event.pattern):
        if not event.slots[leaf.slot].repeated:
            yield from (atom.number for atom in leaf.atoms)
