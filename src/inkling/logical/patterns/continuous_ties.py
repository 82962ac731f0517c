"""Results that would be distinguished by the time of a lost event, so that each single result has probability 0.

The time of a lost event is continuous: no single time has a positive probability.
"""

from collections.abc import Iterator

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.expr import Edge
from inkling.logical.plan import can_be_empty
from inkling.logical.recursion import dependencies_of
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents


def lost_border(event: p.EventPlan, program: p.ProgramPlan, edge: Edge) -> str | None:
    """A stream whose lost events can be the start or end of a match; None if there is none."""
    return next(_borders(event.pattern, event, program, edge), None)


def lost_time(expr: e.Expr, event: p.EventPlan, program: p.ProgramPlan) -> str | None:
    """A stream with lost events whose time an expression can read; None if there is none."""
    found = (name for part in e.walk(expr) for name in _sources(part, event, program))
    return next(found, None)


def _borders(pattern: p.Pattern, event: p.EventPlan, program: p.ProgramPlan, edge: Edge) -> Iterator[str]:
    match pattern:
        case p.Leaf():
            yield from _of_leaf(pattern, event, program, edge)
        case p.Sequence(parts=parts):
            for part in _outermost(parts, edge):
                yield from _borders(part, event, program, edge)
        case p.OtherRun():
            for source in event.scope:
                yield from _of_source(source, program, edge)
        case _:
            for inner in p.sub_patterns(pattern):
                yield from _borders(inner, event, program, edge)


def _outermost(parts: tuple[p.Part, ...], edge: Edge) -> Iterator[p.Pattern]:
    """The parts that can be the first or last of a match of a sequence; deadlines depend on the part before them."""
    for part in parts if edge is Edge.START else reversed(parts):
        if isinstance(part, p.Absent | p.Deadline | p.StreamStart):
            continue
        yield part
        if not can_be_empty(part):
            return


def _of_leaf(leaf: p.Leaf, event: p.EventPlan, program: p.ProgramPlan, edge: Edge) -> Iterator[str]:
    for source in leaf.sources or event.scope:
        stream = program.stream(source)
        if stream is None or not _reads_unknown_values(leaf, stream, program):
            yield from _of_source(source, program, edge)


def _of_source(source: str, program: p.ProgramPlan, edge: Edge) -> Iterator[str]:
    stream, used = program.stream(source), program.event(source)
    if stream is not None and isinstance(stream.schema.uncertainty, LostEvents):
        yield source
    if used is None:
        return
    below = dependencies_of(used, program)
    if used.name in below:  # a recursive event can start and end with any event that it depends on
        yield from (name for name in sorted(below) if name in _losing(program))
    else:
        yield from _borders(used.pattern, used, program, edge)


def _losing(program: p.ProgramPlan) -> set[str]:
    return {stream.schema.name for stream in program.streams if isinstance(stream.schema.uncertainty, LostEvents)}


def _sources(part: e.Expr, event: p.EventPlan, program: p.ProgramPlan) -> Iterator[str]:
    match part:
        case e.TimeOf(edge=edge, slot=slot):
            for pattern in _filling(event.pattern, slot):
                yield from _borders(pattern, event, program, edge)
        case e.ColumnOf(slot=slot, column=column) | e.ListColumn(slot=slot, column=column):
            yield from _of_column(slot, column, event, program)
        case e.Aggregate(slot=slot, column=str(column)):
            yield from _of_column(slot, column, event, program)
        case _:
            pass


def _of_column(slot: int, column: str, event: p.EventPlan, program: p.ProgramPlan) -> Iterator[str]:
    for name in event.slots[slot].sources:
        stream = program.stream(name)
        if stream is not None and stream.schema.start == column:
            for leaf in _filling(event.pattern, slot):
                yield from _borders(leaf, event, program, Edge.END)


def _filling(pattern: p.Pattern, slot: int) -> Iterator[p.Pattern]:
    if isinstance(pattern, p.Leaf | p.Narrowed) and pattern.slot == slot:
        yield pattern
    for inner in p.sub_patterns(pattern):
        yield from _filling(inner, slot)


def _reads_unknown_values(leaf: p.Leaf, stream: p.StreamPlan, program: p.ProgramPlan) -> bool:
    """Whether the leaf reads values that lost events do not have, so that only recorded events match."""
    schema = stream.schema
    if not isinstance(schema.uncertainty, LostEvents):
        return False
    computed = {column.name for column in stream.derived}
    unknown = {column.name for column in schema.columns} - _known(schema, schema.uncertainty, program) - computed
    looked_up = [arg for atom in leaf.atoms for arg in atom.args if arg is not None]
    return any(_never_true(condition, leaf.slot, unknown) for condition in leaf.conditions) or any(
        _is_null(arg, leaf.slot, unknown) for arg in looked_up
    )


def _known(schema: StreamSchema, uncertainty: LostEvents, program: p.ProgramPlan) -> set[str]:
    """The columns that lost events can have a value of."""
    supplied = {column.name for table in program.tables if table.name == uncertainty.known for column in table.columns}
    return {
        *schema.key,
        uncertainty.number,
        schema.start,
        *supplied,
        *([] if uncertainty.role is None else [uncertainty.role]),
    }


def _never_true(condition: e.Expr, slot: int, unknown: set[str]) -> bool:
    if e.looks_back(condition):
        return False  # in the first round of a repetition the condition is true
    match condition:
        case e.AllOf(items=items):
            return any(_never_true(item, slot, unknown) for item in items)
        case e.AnyOf(items=items):
            return all(_never_true(item, slot, unknown) for item in items)
        case e.Compare(left=left, right=right):
            return _is_null(left, slot, unknown) or _is_null(right, slot, unknown)
        case e.InList(item=item) | e.IsNull(item=item, negated=True):
            return _is_null(item, slot, unknown)
        case e.InTable(args=args):
            return any(arg is not None and _is_null(arg, slot, unknown) for arg in args)
        case _:
            return _is_null(condition, slot, unknown)


def _is_null(expr: e.Expr, slot: int, unknown: set[str]) -> bool:
    match expr:
        case e.ColumnOf(slot=own, column=column):
            return own == slot and column in unknown
        case e.Negate(item=item):
            return _is_null(item, slot, unknown)
        case e.Arithmetic(left=left, right=right):
            return _is_null(left, slot, unknown) or _is_null(right, slot, unknown)
        case e.FunctionCall(args=args):
            return any(_is_null(arg, slot, unknown) for arg in args)
        case _:
            return False
