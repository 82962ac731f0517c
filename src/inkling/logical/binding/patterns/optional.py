"""OPTIONAL as an outer join, in terms of NOT and `?`.

    SEQ(A a, OPTIONAL B b, C c)  is  SEQ(A a, NOT B x[b is missing], B b?, C c)

So a match has no `b` only if no B lies between `a` and `c`.
"""

from dataclasses import dataclass, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.binding.patterns.drafts import OptionalDraft
from inkling.logical.patterns.maximal import without_maximal
from inkling.logical.rewrites.everywhere import Renumbering, everywhere, slots_in_order


def with_outer_joins(event: p.EventPlan) -> p.EventPlan:
    """The event without OPTIONAL, its slots and look-ups numbered in pattern order; the same object without any."""
    joins = _OuterJoins(list(event.slots), len(_atoms(event.pattern)), event.scope)
    pattern = everywhere(event.pattern, joins.rewritten)
    if pattern is event.pattern:
        return event
    slots = {old: new for new, old in enumerate(slots_in_order(pattern))}
    repetitions = [part for part in p.parts_of(pattern) if isinstance(part, p.Repetition)]
    repeated = {slot for part in repetitions for slot in slots_in_order(part)}
    numbers = Renumbering(slots, {atom.number: new for new, atom in enumerate(_atoms(pattern))})
    return replace(
        event,
        head=tuple(replace(output, expr=numbers.expr(output.expr)) for output in event.head),
        returns=tuple(replace(output, expr=numbers.expr(output.expr)) for output in event.returns),
        pattern=numbers.pattern(pattern),
        having=numbers.all_of(event.having),
        slots=tuple(replace(joins.slots[old], number=new, repeated=old in repeated) for old, new in slots.items()),
    )


@dataclass(slots=True)
class _OuterJoins:
    slots: list[p.Slot]
    n_atoms: int
    scope: tuple[str, ...]

    def rewritten(self, pattern: p.Pattern) -> p.Pattern:
        if not isinstance(pattern, p.Sequence) or not any(isinstance(part, OptionalDraft) for part in pattern.parts):
            return pattern
        parts: list[p.Part] = []
        for part in pattern.parts:
            parts += self._joined(part, pattern.policy) if isinstance(part, OptionalDraft) else [part]
        return replace(pattern, parts=tuple(parts))

    def _joined(self, part: OptionalDraft, policy: p.Policy) -> list[p.Part]:
        if policy is p.Policy.STRICT and self._is_in_scope(part.pattern):
            return [p.Repetition(part.pattern, 0, 1)]  # STRICT leaves no gap in which it could occur
        named = self._named(part.pattern)
        assert named.slot is not None
        missing = e.IsNull(e.TimeOf(e.Edge.START, named.slot))
        return [p.Absent(self._absent(part.pattern, policy, missing)), p.Repetition(named, 0, 1)]

    def _is_in_scope(self, pattern: p.Pattern) -> bool:
        """Whether every occurrence has an event that STRICT counts."""
        sources = {source for leaf in p.leaves(pattern) for source in leaf.sources}
        moments = any(isinstance(part, p.TimePoint) for part in p.parts_of(pattern))
        return sources <= set(self.scope) and not moments

    def _named(self, pattern: p.Pattern) -> p.Leaf | p.Narrowed:
        """The pattern with a slot that is bound if it occurred."""
        if isinstance(pattern, p.Leaf) or (isinstance(pattern, p.Narrowed) and pattern.slot is not None):
            return pattern
        number = len(self.slots)
        self.slots.append(p.Slot(number, None, (), repeated=True, negated=False, span_only=True))
        return p.Narrowed(pattern, None, (), number)

    def _absent(self, pattern: p.Pattern, policy: p.Policy, missing: e.Expr) -> p.Pattern:
        """The pattern with slots of its own, of which there is no occurrence where `missing` is not true."""
        own = self._copied(pattern)
        if isinstance(own, p.Leaf):
            return replace(own, conditions=(*own.conditions, missing))
        return p.Narrowed(p.Sequence(policy, (own,)), None, (missing,))

    def _copied(self, pattern: p.Pattern) -> p.Pattern:
        slots = {slot.number: slot.number for slot in self.slots}
        atoms = {number: number for number in range(self.n_atoms)}
        for old in slots_in_order(pattern):
            slots[old] = len(self.slots)
            self.slots.append(replace(self.slots[old], number=slots[old], name=None, negated=True))
        for atom in _atoms(pattern):
            atoms[atom.number] = self.n_atoms
            self.n_atoms += 1
        return without_maximal(Renumbering(slots, atoms).pattern(pattern))


def _atoms(pattern: p.Pattern) -> tuple[p.TableAtom, ...]:
    return tuple(atom for leaf in p.leaves(pattern) for atom in leaf.atoms)
