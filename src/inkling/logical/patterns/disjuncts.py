"""Disjuncts of an event: the parts of its outermost operator and the conditions on whole matches.

An event with several declarations, or with OR, has a disjunct for each. The parts of a disjunct are the parts of a
sequence, the items of AND and PAR, or the two sides of a relation; `why` and open matches go through them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.patterns.binary import Frame
from inkling.logical.rewrites.everywhere import Renumbering, everywhere, slots_in_order
from inkling.model.schema import Column, EventSchema


@dataclass(frozen=True, slots=True)
class Disjunct:
    """One alternative of an event.

    `parts` are the parts besides NOT, in order; `whole` is the pattern with its absences.
    """

    name: str | None  # of the alternative, if there are several
    whole: p.Pattern
    parts: tuple[p.Part, ...]
    frames: tuple[Frame, ...]  # from the inside out; that of the event is the last
    having: tuple[e.Expr, ...]

    @property
    def absences(self) -> tuple[p.Absent, ...]:
        if not isinstance(self.whole, p.Sequence):
            return ()
        return tuple(part for part in self.whole.parts if isinstance(part, p.Absent))

    @property
    def limits(self) -> tuple[p.Window, ...]:
        return tuple(frame.within for frame in self.frames if frame.within is not None)

    def upto(self, n_parts: int) -> p.Pattern:
        """The first parts alone, without absences."""
        first, *others = self.parts[:n_parts]
        match self.whole:
            case p.Sequence(policy=policy):
                return p.Sequence(policy, (first, *others))
            case _ if not others:
                assert not isinstance(first, p.Absent | p.Deadline | p.StreamStart), "only sequences have such parts"
                return first
            case p.Conjunction() | p.Parallel():
                return replace(self.whole, items=self.whole.items[:n_parts])
            case _:
                return self.whole

    def some(self, places: Sequence[int]) -> p.Pattern:
        """Some items of AND on their own, without the conditions and look-ups that read other items."""
        assert isinstance(self.whole, p.Conjunction)
        items = tuple(self.whole.items[place] for place in places)
        slots = {slot for item in items for slot in slots_in_order(item)}
        alone = _alone(items, lambda one: e.slots_of(one) <= slots)
        return alone[0] if len(alone) == 1 else replace(self.whole, items=alone)

    def having_on(self, places: Sequence[int]) -> tuple[e.Expr, ...]:
        """The conditions of HAVING on single events of some items of AND."""
        slots = {one.slot for place in places if isinstance(one := self.parts[place], p.Leaf)}
        return tuple(one for one in self.having if set() < e.slots_of(one) <= slots and not e.atoms_of(one))

    def with_absences(self, n_absences: int) -> p.Pattern:
        """All parts, and the first `n_absences` absences."""
        if not isinstance(self.whole, p.Sequence) or not n_absences:
            return self.upto(len(self.parts))
        heeded = self.absences[:n_absences]
        parts = tuple(part for part in self.whole.parts if not isinstance(part, p.Absent) or part in heeded)
        return replace(self.whole, parts=parts)

    def framed(self, pattern: p.Pattern) -> p.Pattern:
        """A pattern inside the nested bodies of the disjunct, with their limits and names."""
        for frame in self.frames:
            if frame.within is not None or frame.slot is not None:
                pattern = p.Narrowed(pattern, frame.within, (), frame.slot)
        return pattern

    def upto_with_absences(self, n_parts: int) -> p.Pattern:
        """The first parts of a sequence, and the absences between them that can be tested on these parts.

        An absence before the first event depends on the last event, which is not known yet.
        """
        assert isinstance(self.whole, p.Sequence)
        known = {slot for part in self.parts[:n_parts] for slot in slots_in_order(part)}
        kept: list[p.Part] = []
        placed, has_event = 0, False
        for part in self.whole.parts:
            if placed == n_parts:
                break
            if isinstance(part, p.Absent):
                if has_event and _reads_only(part, known):
                    kept.append(part)
            elif not isinstance(part, p.StreamStart):
                kept.append(part)
                placed += 1
                has_event |= not isinstance(part, p.Repetition) or part.low > 0
        while isinstance(kept[-1], p.Absent):
            kept.pop()
        return p.Sequence(self.whole.policy, tuple(kept))

    def absences_after(self, n_parts: int) -> tuple[p.Absent, ...]:
        """The absences between the first parts and the next part that can be tested on the first parts."""
        assert isinstance(self.whole, p.Sequence)
        known = {slot for part in self.parts[:n_parts] for slot in slots_in_order(part)}
        found: list[p.Absent] = []
        placed = 0
        for part in self.whole.parts:
            if isinstance(part, p.Absent):
                if placed == n_parts and _reads_only(part, known):
                    found.append(part)
            elif not isinstance(part, p.StreamStart):
                placed += 1
        return tuple(found)

    def joined(self, left: p.Pattern, part: p.Part) -> p.Pattern:
        """The first parts as one pattern, combined with one more part."""
        match self.whole:
            case p.Sequence(policy=policy):
                return p.Sequence(policy, (left, part))
            case _:
                assert not isinstance(part, p.Absent | p.Deadline | p.StreamStart), "only sequences have such parts"
                if isinstance(self.whole, p.Related):
                    return replace(self.whole, left=left, right=part)
                assert isinstance(self.whole, p.Conjunction | p.Parallel), "nothing else has several parts"
                return replace(self.whole, items=(left, part))


def _reads_only(absent: p.Absent, slots: set[int]) -> bool:
    """Whether an absence reads only these slots and its own."""
    seen = slots | set(slots_in_order(absent.pattern))
    leaves = list(p.leaves(absent.pattern))
    return all(e.slots_of(condition) <= seen for leaf in leaves for condition in leaf.demands) and not any(
        leaf.atoms for leaf in leaves
    )


def disjuncts_of(event: p.EventPlan) -> tuple[Disjunct, ...]:
    alternatives = event.pattern.items if isinstance(event.pattern, p.Disjunction) else (event.pattern,)
    return tuple(
        _disjunct(event, one, place if len(alternatives) > 1 else None) for place, one in enumerate(alternatives)
    )


def _disjunct(event: p.EventPlan, pattern: p.Pattern, place: int | None) -> Disjunct:
    frames = [Frame(event.within)]
    # HAVING on all alternatives together may read any of them
    having = list(event.having) if place is None else []
    name = None if place is None else f"alternative {place + 1}"
    named = event.slots[pattern.slot].name if isinstance(pattern, p.Narrowed) and pattern.slot is not None else None
    if place is not None and named == f"{event.name}{place + 1}":
        name = f"declaration {place + 1}"
    while isinstance(pattern, p.Narrowed):
        frames.insert(0, Frame(pattern.within, slot=pattern.slot))
        having = [*pattern.having, *having]
        pattern = pattern.pattern
    conditions = tuple(part for condition in having for part in e.conjuncts(condition))
    return Disjunct(name, pattern, _parts(pattern), tuple(frames), conditions)


def _parts(pattern: p.Pattern) -> tuple[p.Part, ...]:
    match pattern:
        case p.Sequence(parts=parts):
            return tuple(part for part in parts if not isinstance(part, p.Absent | p.StreamStart))
        case p.Conjunction(items=items) | p.Parallel(items=items):
            return items
        case p.Related(left=left, right=right):
            return (left, right)
        case p.Except(pattern=inner) | p.LeftJoin(left=inner):
            return (inner,)
        case _:
            return (pattern,)


def on_its_own(part: p.Pattern) -> p.Pattern:
    """One round of a part, without the conditions that read other parts or earlier rounds."""
    while isinstance(part, p.Repetition):
        part = part.pattern
    slots = set(slots_in_order(part))

    def at_once(pattern: p.Pattern) -> p.Pattern:
        return replace(pattern, conditions=pattern.demands, checks=()) if isinstance(pattern, p.Leaf) else pattern

    (alone,) = _alone((everywhere(part, at_once),), lambda one: not e.looks_back(one) and e.slots_of(one) <= slots)
    return alone


def _alone(parts: Sequence[p.Pattern], is_known: Callable[[e.Expr], bool]) -> tuple[p.Pattern, ...]:
    """The parts without conditions and look-ups that are not known or read look-ups that are left out."""
    lookups = [atom for part in parts for leaf in p.leaves(part) for atom in leaf.atoms]
    atoms = {atom.number for atom in lookups}

    def kept(conditions: tuple[e.Expr, ...]) -> tuple[e.Expr, ...]:
        return tuple(one for one in conditions if is_known(one) and e.atoms_of(one) <= atoms)

    for atom in lookups:  # in pattern order, so a look-up that depends on a dropped one is dropped as well
        if not all(arg is None or kept((arg,)) for arg in atom.args):
            atoms.discard(atom.number)

    def alone(pattern: p.Pattern) -> p.Pattern:
        match pattern:
            case p.Leaf(conditions=conditions, checks=checks, atoms=all_atoms):
                looked_up = tuple(atom for atom in all_atoms if atom.number in atoms)
                return replace(pattern, conditions=kept(conditions), checks=kept(checks), atoms=looked_up)
            case p.Narrowed(having=having):
                return replace(pattern, having=kept(having))
            case _:
                return pattern

    return tuple(everywhere(part, alone) for part in parts)


def part_event(
    event: p.EventPlan, name: str, pattern: p.Pattern, having: tuple[e.Expr, ...] = (), *, span: int | None = None
) -> p.EventPlan:
    """A separate event for a part of the pattern of an event; it has the columns that the part determines.

    `span` is the slot that names the alternative of the part; columns with a value per alternative read it.
    """
    numbers = numbers_in(pattern)
    slots, atoms = numbers.slots, numbers.atoms
    seen = {old for old in slots if not event.slots[old].negated}
    chosen = [p.Output(output.name, _in_disjunct(output.expr, span)) for output in event.head]
    head = tuple(
        p.Output(output.name, numbers.expr(output.expr))
        for output in chosen
        if e.slots_of(output.expr) <= seen and e.atoms_of(output.expr) <= atoms.keys()
    )
    columns = tuple(Column(output.name, output.type) for output in head)
    return p.EventPlan(
        name,
        head,
        (),
        numbers.pattern(pattern),
        None,
        numbers.all_of(having),
        event.partition,
        event.scope,
        p.Per.MATCH,
        restart=False,
        slots=tuple(replace(event.slots[old], number=new) for old, new in slots.items()),
        schema=EventSchema(name, columns, event.schema.is_ordered, is_interval=True),
    )


def numbers_in(pattern: p.Pattern) -> Renumbering:
    """The numbers of slots and look-ups when the pattern becomes a separate event."""
    lookups = (atom.number for leaf in p.leaves(pattern) for atom in leaf.atoms)
    return Renumbering(
        {old: new for new, old in enumerate(slots_in_order(pattern))}, {old: new for new, old in enumerate(lookups)}
    )


def _in_disjunct(expr: e.Expr, span: int | None) -> e.Expr:
    """The value of a column in one alternative, named by the slot `span`."""
    if isinstance(expr, e.Chosen) and span is not None:
        for condition, value in zip(expr.conditions, expr.values, strict=True):
            if condition == e.IsNull(e.TimeOf(e.Edge.START, span), negated=True):
                return value
    return expr
