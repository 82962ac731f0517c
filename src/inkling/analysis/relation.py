"""Which relations between segments with lost ends need no possible worlds (SimpMatch, section 2).

Given the recorded events around a gap, lost events are spread evenly in the gap, and a relation depends only on the
order of all ends. The relation of two keys can therefore be computed pair by pair. Relations between derived segments
are rewritten to relations between the segments of their streams.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from inkling.analysis.derived_segments import DerivedSegments, derived_segments_of
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.roles import OPENING
from inkling.model.uncertainty import LostEvents


@dataclass(frozen=True, slots=True)
class RelationOperand:
    """One operand of a relation: a stream, its KEY, and conditions on its segments.

    Derived segments have conditions on the events that open (`opens`) and close (`closes`) a segment, and no keys
    without segments (`needs_segments`).
    """

    declared: p.Operand
    stream: str
    opens: tuple[e.Expr, ...] = ()
    closes: tuple[e.Expr, ...] = ()
    needs_segments: bool = False

    @property
    def slot(self) -> int:
        return self.declared.leaf.slot


@dataclass(frozen=True, slots=True)
class SegmentRelation:
    """A relation between segments that is answered for each pair of keys; its `event` reads streams, not events."""

    event: p.EventPlan
    left: RelationOperand
    right: RelationOperand
    relations: tuple[str, ...]
    same: str | None
    is_numbered: bool = False  # whether both operands have lost events
    asks_for_roles: bool = False  # whether conditions read the roles of lost events

    @property
    def is_early(self) -> bool:
        """Whether results can be emitted early: conditions on a segment must be decided when it opens."""
        confidence, quantities = self.event.confidence, [side.declared.least for side in self.operands]
        wanted = confidence is not None and confidence.early and self.event.top is None and self.same is None
        known_keys = all(quantities) or not any(side.needs_segments for side in self.operands)
        return wanted and self.is_numbered and known_keys and not any(side.closes for side in self.operands)

    @property
    def operands(self) -> tuple[RelationOperand, RelationOperand]:
        return self.left, self.right

    @property
    def is_within_one_stream(self) -> bool:
        return self.left.stream == self.right.stream


def relation_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[SegmentRelation | None]:
    """The relation that an event asks for; None, and why, where the event needs possible worlds."""
    if not isinstance(event.pattern, p.Quantified):
        return Verdict(None, "the pattern is not a relation between segments")
    derived: tuple[DerivedSegments | None, DerivedSegments | None] = (None, None)
    if any(program.stream(source) is None for leaf in p.leaves(event.pattern) for source in leaf.sources):
        rewritten = over_streams(event, program)
        if rewritten.conclusion is None:
            return Verdict(None, rewritten.reason)
        event, derived = rewritten.conclusion.event, (rewritten.conclusion.left, rewritten.conclusion.right)
    pattern = event.pattern
    assert isinstance(pattern, p.Quantified)
    why = next(_obstacles(event, pattern, program), None)
    if why is not None:
        return Verdict(None, why)
    left, right = _side(pattern.left, derived[0]), _side(pattern.right, derived[1])
    if left is None or right is None:
        return Verdict(None, "only the data shows whether events have the roles that the derived segments require")
    same = None if pattern.same is None else pattern.same.name
    uncertainties = [_uncertainty(side.stream, program) for side in (left, right)]
    found = SegmentRelation(
        event,
        left,
        right,
        pattern.relations,
        same,
        all(uncertainty is not None for uncertainty in uncertainties),
        any(
            _reads(side, uncertainty.role)
            for side, uncertainty in zip((left, right), uncertainties, strict=True)
            if uncertainty is not None
        ),
    )
    return Verdict(found, "lost events lie evenly between recorded ones, and only the order of events matters")


def _uncertainty(name: str, program: p.ProgramPlan) -> LostEvents | None:
    stream = program.stream(name)
    uncertainty = None if stream is None else stream.schema.uncertainty
    return uncertainty if isinstance(uncertainty, LostEvents) else None


def _reads(side: RelationOperand, column: str | None) -> bool:
    conditions = (*side.declared.leaf.conditions, *side.opens, *side.closes)
    read = (part for condition in conditions for part in e.walk(condition) if isinstance(part, e.ColumnOf))
    return any(part.column == column for part in read)


def _side(operand: p.Operand, derived: DerivedSegments | None) -> RelationOperand | None:
    """The operand; None where only the data shows whether derived segments are the segments of the stream."""
    stream = operand.leaf.sources[0]
    if derived is None:
        return RelationOperand(operand, stream)
    if not derived.asks_for_roles:
        return RelationOperand(operand, stream, needs_segments=True)
    opening, closing = p.leaves(derived.sequence)
    asked = [_words(condition, derived.role) for condition in opening.conditions]
    only_opens = any(words is not None and words <= OPENING for words in asked)
    if derived.sequence.policy is not p.Policy.STRICT or not only_opens:
        return None
    return RelationOperand(operand, stream, opening.conditions, closing.conditions, needs_segments=True)


def _words(condition: e.Expr, role: str | None) -> frozenset[str] | None:
    """The roles that a condition allows, in lower case; None if the condition does not read the role."""
    match condition:
        case e.Compare(operator="=", left=e.ColumnOf(column=column), right=e.Literal(value=str() as word)):
            return frozenset((word.lower(),)) if column == role else None
        case e.InList(item=e.ColumnOf(column=column), choices=choices) if column == role:
            return frozenset(str(one.value).lower() for one in choices)
        case _:
            return None


def _obstacles(event: p.EventPlan, pattern: p.Quantified, program: p.ProgramPlan) -> Iterator[str]:
    if event.demand is p.Demand.SAMPLED:
        yield "the event demands SAMPLED"
    streams = []
    for operand in (pattern.left, pattern.right):
        stream = program.stream(operand.leaf.sources[0])
        assert stream is not None
        streams.append(stream)
        yield from _of_side(event, operand, None if pattern.same is None else pattern.same.name, stream)
    uncertainties = [stream.schema.uncertainty for stream in streams]
    if not any(isinstance(uncertainty, LostEvents) for uncertainty in uncertainties):
        yield "no stream of the event has lost events"
    axes = {uncertainty.intensity for uncertainty in uncertainties if isinstance(uncertainty, LostEvents)}
    if len(axes) > 1:
        yield "its streams have different intensities"
    if pattern.comparisons:
        yield "a condition compares segments of both sides"
    if pattern.within is not None:
        yield "WITHIN compares lengths of time, not only the order of events"
    yield from _undetermined(event, pattern)


def _of_side(event: p.EventPlan, operand: p.Operand, same: str | None, stream: p.StreamPlan) -> Iterator[str]:
    schema, uncertainty = stream.schema, stream.schema.uncertainty
    if uncertainty is not None and not isinstance(uncertainty, LostEvents):
        yield f"{schema.name} has another kind of uncertainty than lost events"
    if isinstance(uncertainty, LostEvents):
        if operand.pairing is None:
            yield f"events of {schema.name} do not open and close segments"
        if uncertainty.rate is not None and uncertainty.shape > 1:
            yield f"{schema.name} has a RATE and Erlang gaps"
    outside = [column.name for column in event.partition if column.name not in schema.key]
    if outside:
        yield f"one KEY of {schema.name} may have several values of `{outside[0]}`, by which the event is partitioned"
    derived = {column.name for column in stream.derived}
    if same in derived:
        yield f"`{same}` of {schema.name} is derived"
    if operand.leaf.atoms:
        yield "segments are looked up in a table"
    for part in (part for condition in operand.leaf.conditions for part in e.walk(condition)):
        if isinstance(part, e.TimeOf):
            yield "a condition reads the time of a segment, which depends on the world"
        if isinstance(part, e.ColumnOf) and part.column in (schema.start, schema.end):
            yield f"a condition reads `{part.column}`, which depends on the world"
        if isinstance(part, e.ColumnOf) and part.column in derived:
            yield f"a condition reads `{part.column}`, which is derived"
        if isinstance(part, e.InTable):
            yield "segments are looked up in a table"


def _undetermined(event: p.EventPlan, pattern: p.Quantified) -> Iterator[str]:
    """Obstacles to one result per pair of keys: results of several pairs would not be independent."""
    shown_columns = {(one.expr.slot, one.expr.column) for one in event.head if isinstance(one.expr, e.ColumnOf)}
    shown_columns |= {
        (operand.leaf.slot, column.name) for operand in (pattern.left, pattern.right) for column in event.partition
    }
    equal: list[tuple[tuple[int, str], tuple[int, str]]] = []
    for condition in (part for one in event.having for part in e.conjuncts(one)):
        match condition:
            case e.Compare(operator="=", left=e.ColumnOf(slot=slot, column=column), right=e.Literal()):
                shown_columns.add((slot, column))
            case e.Compare(operator="=", left=e.Literal(), right=e.ColumnOf(slot=slot, column=column)):
                shown_columns.add((slot, column))
            case e.Compare(operator="=", left=e.ColumnOf() as one, right=e.ColumnOf() as other):
                equal.append(((one.slot, one.column), (other.slot, other.column)))
            case _:
                pass
    for one_place, other_place in [*equal, *equal[::-1]]:
        if one_place in shown_columns or other_place in shown_columns:
            shown_columns |= {one_place, other_place}
    for operand in (pattern.left, pattern.right):
        for part in operand.key:
            if (operand.leaf.slot, part.name) not in shown_columns:
                yield f"the head does not show `{part.name}` of both sides, and pairs of keys share their worlds"


@dataclass(frozen=True, slots=True)
class StreamRelation:
    """A relation rewritten to read streams, with the derived segments that its operands were."""

    event: p.EventPlan
    left: DerivedSegments | None
    right: DerivedSegments | None


def over_streams(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[StreamRelation | None]:
    """The relation of an event with streams in place of derived segments; None, and why, where that is impossible."""
    pattern = event.pattern
    if not isinstance(pattern, p.Quantified):
        return Verdict(None, "the pattern is not a relation between segments")
    found: list[DerivedSegments | None] = []
    for operand in (pattern.left, pattern.right):
        (source,) = operand.leaf.sources
        derived = program.event(source)
        verdict = None if derived is None else derived_segments_of(derived, program)
        if verdict is not None and verdict.conclusion is None:
            return Verdict(None, f"{source} does not derive the segments of a stream: {verdict.reason}")
        found.append(None if verdict is None else verdict.conclusion)
    left, right = found
    if left is None and right is None:
        return Verdict(None, "the relation already compares segments of streams")
    why = next(_relation_obstacles(event, pattern, left, right), None)
    if why is not None:
        return Verdict(None, why)
    rewritten = _rewritten(event, pattern, left, right, program)
    names = " and ".join(dict.fromkeys(one.stream for one in (left, right) if one is not None))
    return Verdict(StreamRelation(rewritten, left, right), f"its operands are the segments of {names}")


def _relation_obstacles(
    event: p.EventPlan, pattern: p.Quantified, left: DerivedSegments | None, right: DerivedSegments | None
) -> Iterator[str]:
    sides = ((pattern.left, left), (pattern.right, right))
    streams = [operand.leaf.sources[0] if one is None else one.stream for operand, one in sides]
    if streams[0] == streams[1] and not pattern.is_within_one_stream:
        yield f"both sides are segments of {streams[0]}, so keys would be compared with themselves"
    if pattern.same is not None:
        yield "ON SAME reads a column of only one of the two events"
    holds_of_none = not all(operand.least for operand, _ in sides)
    for operand, one in sides:
        if one is None:
            continue
        if operand.leaf.conditions and holds_of_none:
            yield f"a key of {one.stream} without matching segments stays open if its last segment was never closed"
        if any(one.key.get(column.name) != column.name for column in event.partition):
            yield f"the event is PARTITION BY a column that has another name in {one.stream}"
        known = _columns(one)
        for part in (part for condition in operand.leaf.conditions for part in e.walk(condition)):
            if isinstance(part, e.TimeOf) or (isinstance(part, e.ColumnOf) and part.column not in known):
                yield "a condition reads more than the event that opens a segment"


def _columns(derived: DerivedSegments) -> dict[str, str]:
    """The columns of a segment: those of the KEY and of the event that opens it, by their names in the stream."""
    return {**derived.opening, **derived.key}


def _rewritten(
    event: p.EventPlan,
    pattern: p.Quantified,
    left: DerivedSegments | None,
    right: DerivedSegments | None,
    program: p.ProgramPlan,
) -> p.EventPlan:
    names: dict[int, Mapping[str, str]] = {}
    sources = {}
    for operand, one in ((pattern.left, left), (pattern.right, right)):
        if one is not None:
            names[operand.leaf.slot] = _columns(one)
            sources[operand.leaf.sources[0]] = one.stream

    def renamed(expr: e.Expr) -> e.Expr:
        if isinstance(expr, e.ColumnOf) and expr.slot in names:
            return replace(expr, column=names[expr.slot][expr.column])
        return e.rebuilt(expr, renamed)

    def side(operand: p.Operand, one: DerivedSegments | None) -> p.Operand:
        if one is None:
            return operand
        conditions = tuple(renamed(condition) for condition in operand.leaf.conditions)
        leaf = replace(operand.leaf, sources=(one.stream,), conditions=conditions)
        stream = program.stream(one.stream)
        assert stream is not None
        kinds = {column.name: column for column in stream.schema.columns}
        key = tuple(kinds[name] for name in dict.fromkeys(one.key[column.name] for column in operand.key))
        return replace(operand, leaf=leaf, key=key, pairing=p.Pairing(number=kinds.get(one.number)))

    return replace(
        event,
        head=tuple(p.Output(output.name, renamed(output.expr)) for output in event.head),
        having=tuple(renamed(condition) for condition in event.having),
        pattern=replace(pattern, left=side(pattern.left, left), right=side(pattern.right, right)),
        scope=tuple(sorted({sources.get(name, name) for name in event.scope})),
        slots=tuple(
            replace(slot, sources=tuple(sources.get(name, name) for name in slot.sources)) for slot in event.slots
        ),
    )
