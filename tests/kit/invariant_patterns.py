"""What the pattern of every event satisfies, and the expressions inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.plan import can_be_empty
from inkling.model.types import Type, common_type

Sources = Mapping[str, Mapping[str, Type]]


def pattern_violations(event: p.EventPlan, sources: Sources, tables: Mapping[str, Mapping[str, Type]]) -> Iterator[str]:
    check = _Check(event, sources, tables)
    numbers = [slot.number for slot in event.slots]
    if numbers != list(range(len(numbers))):
        yield "slots are not numbered in order"
        return
    in_order = list(_slots(event.pattern))
    if in_order != numbers:
        yield f"slots are filled in the order {in_order}"
        return
    yield from check.part(event.pattern, _Inside())
    for condition in event.having:
        yield from check.condition(condition, _Inside())
    for output in (*event.head, *event.returns):
        yield from check.expression(output.expr, _Inside())
    for preferred in event.preferred:
        yield from check.expression(preferred, _Inside())


def _slots(part: p.Part) -> Iterator[int]:
    """The slots of a part in pattern order; a nested pattern is named after what is inside it."""
    parts = part.parts if isinstance(part, p.Sequence) else p.sub_patterns(part)
    for inner in parts:
        yield from _slots(inner)
    slot = part.slot if isinstance(part, p.Leaf | p.Narrowed) else None
    if slot is not None:
        yield slot


@dataclass(frozen=True, slots=True)
class _Inside:
    """What encloses a part."""

    repetitions: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    own: int | None = None


@dataclass(slots=True)
class _Check:
    event: p.EventPlan
    sources: Sources
    tables: Mapping[str, Mapping[str, Type]]
    supplied: dict[int, p.TableAtom] = field(default_factory=dict)
    places: dict[int, _Inside] = field(default_factory=dict)
    breakable: set[int] = field(default_factory=set)
    n_frames: int = 0

    def part(self, part: p.Part, inside: _Inside) -> Iterator[str]:
        match part:
            case p.Leaf():
                yield from self._leaf(part, inside)
            case p.Sequence():
                yield from self._sequence(part, inside)
            case p.Repetition(pattern=inner, low=low, high=high):
                if low < 0 or (high is not None and (high < low or high == 0)):
                    yield f"a repetition runs from {low} to {high}"
                yield from self.part(inner, replace(inside, repetitions=(*inside.repetitions, self._frame())))
            case p.Narrowed(pattern=inner, having=having, slot=slot):
                yield from self.part(inner, inside)
                if slot is not None:
                    self.places[slot] = inside
                for condition in having:
                    yield from self.condition(condition, inside)
            case p.OtherRun(pattern=inner) | p.Absent(pattern=inner):
                yield from self.part(inner, replace(inside, hidden=(*inside.hidden, self._frame())))
            case p.Conjunction(items=items) | p.Disjunction(items=items) | p.Parallel(items=items):
                if len(items) < 2:
                    yield f"{type(part).__name__} joins {len(items)} pattern"
                for item in items:
                    yield from self.part(item, inside)
            case p.LeftJoin(left=left, right=right, kind=p.JoinKind.NO_FACT):
                yield from self.part(left, inside)
                yield from self.part(right, replace(inside, hidden=(*inside.hidden, self._frame())))
            case p.Related(left=left, right=right) | p.LeftJoin(left=left, right=right):
                yield from self.part(left, inside)
                yield from self.part(right, inside)
            case p.Except(pattern=inner, other=other):
                yield from self.part(inner, inside)
                yield from self.part(other, replace(inside, hidden=(*inside.hidden, self._frame())))
            case p.Quantified():
                yield from self._quantified(part, inside)
            case p.Sliding():
                yield from self._sliding(part, inside)
            case p.Deadline() | p.StreamStart() | p.TimePoint():
                pass

    def condition(self, condition: e.Expr, inside: _Inside) -> Iterator[str]:
        if condition.type is not Type.BOOLEAN:
            yield f"a condition has type {condition.type}"
        yield from self.expression(condition, inside)

    def expression(self, expr: e.Expr, inside: _Inside) -> Iterator[str]:
        for part in e.walk(expr):
            match part:
                case e.ColumnOf(slot=slot, column=column, type=kind):
                    yield from self._slot(slot, inside)
                    yield from self._column(slot, column, kind)
                    if set(self.places[slot].repetitions) - set(inside.repetitions):
                        yield f"slot {slot} is a list where `{column}` is read"
                case e.ListColumn(slot=slot, column=column, type=kind, own=own):
                    yield from self._slot(slot, inside)
                    yield from self._column(slot, column, kind)
                    if own != (slot == inside.own) or not self.places[slot].repetitions:
                        yield f"slot {slot} is no list where FIRST or LAST is read"
                case e.Aggregate(slot=slot, own=own):
                    yield from self._slot(slot, inside)
                    if own and (slot != inside.own or not self.places[slot].repetitions):
                        yield f"slot {slot} has no earlier rounds where they are aggregated"
                    if not own and not set(self.places[slot].repetitions) - set(inside.repetitions):
                        yield f"slot {slot} is no finished list where it is aggregated"
                case e.TimeOf(slot=slot) | e.IdOf(slot=slot):
                    yield from self._slot(slot, inside)
                case e.KeyColumn(column=column):
                    if column not in [one.name for one in self.event.partition]:
                        yield f"`{column}` is no partition column"
                case e.Quantity():
                    asked = self.event.pattern
                    if not isinstance(asked, p.Quantified) or asked.left.most is None or inside.own is not None:
                        yield "no numbers of segments are asked about one by one"
                case e.FactColumn(atom=number, column=column) if number >= 0:
                    atom = self.supplied.get(number)
                    if atom is None:
                        yield f"look-up {number} is used before it is made"
                    elif column not in [one.name for one in atom.columns]:
                        yield f"look-up {number} has no column `{column}`"
                case e.InTable(table=table, args=args):
                    if table not in self.tables or len(args) != len(self.tables[table]):
                        yield f"table `{table}` is not declared so"
                case e.PreviousColumn() | e.SinceChange():
                    yield "PREV and SINCE_CHANGE belong to streams"
                case e.Compare(left=left, right=right):
                    if common_type(left.type, right.type) is None:
                        yield f"{left.type} is compared with {right.type}"
                case _:
                    pass

    def _leaf(self, leaf: p.Leaf, inside: _Inside) -> Iterator[str]:
        slot = self.event.slots[leaf.slot]
        if slot.sources != leaf.sources or slot.span_only:
            yield f"slot {leaf.slot} does not describe its leaf"
        if slot.repeated != bool(inside.repetitions) or slot.negated != bool(inside.hidden):
            yield f"slot {leaf.slot} does not say what encloses it"
        self.places[leaf.slot] = inside
        here = replace(inside, own=leaf.slot)
        for atom in leaf.atoms:
            yield from self._lookup(atom, here)
        for condition in leaf.demands:
            yield from self.condition(condition, here)
        if leaf.checks and leaf.slot not in self.breakable:
            yield f"slot {leaf.slot} is checked, but not repeated directly in a sequence NEXT"

    def _quantified(self, pattern: p.Quantified, inside: _Inside) -> Iterator[str]:
        if self.event.pattern is not pattern:
            yield "a relation between segments is part of another pattern"
        if self.event.per is not p.Per.VALUES:
            yield f"a relation between segments is reported PER {self.event.per.value}"
        yield from self._quantities(pattern)
        for operand in (pattern.left, pattern.right):
            if len(operand.leaf.sources) != 1 or operand.leaf.atoms or not operand.key:
                yield "segments are not those of the keys of one stream"
            read = [*operand.key, *([pattern.same] if pattern.same else [])]
            if operand.pairing is not None:
                read += [column for column in (operand.pairing.role, operand.pairing.number) if column is not None]
            yield from self.part(operand.leaf, inside)
            for column in read:
                yield from self._column(operand.leaf.slot, column.name, column.type)

    def _quantities(self, pattern: p.Quantified) -> Iterator[str]:
        least, most = pattern.left.least, pattern.left.most
        if pattern.right.most is not None:
            yield "several numbers of segments are asked about on the right side"
        if most is None:
            return
        if least is None or not 1 <= least <= most:
            yield f"numbers of segments go from {least} to {most}"
        if not any(isinstance(output.expr, e.Quantity) for output in self.event.head):
            yield "the head does not distinguish the numbers of segments"

    def _sliding(self, pattern: p.Sliding, inside: _Inside) -> Iterator[str]:
        if self.event.pattern is not pattern:
            yield "a window is part of another pattern"
        if pattern.leaf.atoms:
            yield "a table supplies values of the members of a window"
        if pattern.since is not None:
            yield from self.part(pattern.since, inside)
        yield from self.part(pattern.leaf, replace(inside, repetitions=(*inside.repetitions, self._frame())))

    def _lookup(self, atom: p.TableAtom, inside: _Inside) -> Iterator[str]:
        table = self.tables.get(atom.table, {})
        if {column.name: column.type for column in atom.columns} != dict(table):
            yield f"table `{atom.table}` is not declared so"
        for arg in atom.args:
            if arg is not None:
                yield from self.expression(arg, inside)
        if atom.number in self.supplied:
            yield f"two look-ups have number {atom.number}"
        self.supplied[atom.number] = atom

    def _sequence(self, sequence: p.Sequence, inside: _Inside) -> Iterator[str]:
        parts = sequence.parts
        solid = [i for i, part in enumerate(parts) if not isinstance(part, p.Absent | p.Deadline | p.StreamStart)]
        if not solid:
            yield "a sequence has nothing that happens"
            return
        has_limit = sequence.within is not None and not isinstance(sequence.within, p.EventCount)
        for index, part in enumerate(parts):
            at_start = index < solid[0] and not isinstance(parts[0], p.StreamStart)
            at_end = index > solid[-1] and not isinstance(parts[-1], p.Deadline)
            if isinstance(part, p.Absent) and (at_start or at_end) and not has_limit:
                yield "an absence at a border has no limit"
            if isinstance(part, p.StreamStart) and index > 0:
                yield "the start of the stream is not first"
            if isinstance(part, p.Deadline) and index < len(parts) - 1:
                yield "a deadline is not last"
            if isinstance(part, p.OtherRun) and not (sequence.policy is p.Policy.STRICT and 0 < index < len(parts) - 1):
                yield "a complement does not stand between two parts of a strict sequence"
            if isinstance(part, p.Repetition) and part.eager:
                yield from _eager_violations(sequence.policy, part, parts[index + 1 :])
            if isinstance(part, p.Repetition) and isinstance(part.pattern, p.Leaf):
                self.breakable |= {part.pattern.slot} if sequence.policy is p.Policy.NEXT else set()
        # what a NOT mentions may stand to its right, so the other parts go first
        for part in sorted(parts, key=lambda part: isinstance(part, p.Absent)):
            yield from self.part(part, inside)

    def _slot(self, slot: int, inside: _Inside) -> Iterator[str]:
        if slot not in self.places:
            yield f"slot {slot} is read before it is filled"
            self.places[slot] = inside
        elif set(self.places[slot].hidden) - set(inside.hidden):
            yield f"slot {slot} is read outside the part that hides it"

    def _column(self, slot: int, column: str, kind: Type) -> Iterator[str]:
        known = self.event.slots[slot].sources if slot < len(self.event.slots) else ()
        for name in known or self.event.scope:
            if self.sources[name].get(column) is not kind:
                yield f"`{name}` has no column `{column}` of type {kind}"

    def _frame(self) -> int:
        self.n_frames += 1
        return self.n_frames


def _eager_violations(policy: p.Policy, part: p.Repetition, rest: tuple[p.Part, ...]) -> Iterator[str]:
    following = next((one for one in rest if not isinstance(one, p.Absent)), None)
    if policy is not p.Policy.NEXT:
        yield f"an eager repetition is part of a sequence {policy.value}"
    if can_be_empty(part):
        yield "an eager repetition may be left out"
    if isinstance(following, p.Deadline) or (following is not None and can_be_empty(following)):
        yield "an eager repetition stands before a deadline, or before what may be left out"
