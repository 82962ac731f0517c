"""What every plan satisfies: the promises that evaluators may rely on without checking.

- Slots are numbered 0, 1, … in the order in which a match fills them; each leaf has its own.
- A condition is BOOLEAN and only looks at slots that are filled where it is tested.
- A column exists, with its type, in every source of the slot it is read from.
- Only a standing repetition hides a slot behind FIRST, LAST or an aggregate.
- A look-up supplies a value before anything uses it.
- A sequence has something that happens; a NOT at its border has a limit in time.
- Events stand after the events they use, unless they need each other.
- Partition columns exist in everything that an event reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.kit.invariant_patterns import pattern_violations

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.recursion import groups_of
from inkling.model.schema import EventSchema, StreamSchema
from inkling.model.types import Type

Sources = Mapping[str, Mapping[str, Type]]


def violations(plan: p.ProgramPlan) -> tuple[str, ...]:
    """Every broken promise in words; empty for a sound plan."""
    return tuple(_violations(plan))


def _violations(plan: p.ProgramPlan) -> Iterator[str]:
    sources: dict[str, Mapping[str, Type]] = {}
    for stream in plan.streams:
        yield from (f"stream {stream.schema.name}: {problem}" for problem in _stream(stream))
        sources[stream.schema.name] = _types(stream.schema)
    known = (*plan.tables, *(rule.schema for rule in plan.rules))
    tables = {table.name: {column.name: column.type for column in table.columns} for table in known}
    for group in groups_of(plan):
        sources.update({event.name: _types(event.schema) for event in group.events if group.is_recursive})
        for event in group.events:
            yield from (f"event {event.name}: {problem}" for problem in _event(event, sources, tables))
            sources[event.name] = _types(event.schema)


def _types(schema: StreamSchema | EventSchema) -> dict[str, Type]:
    return {column.name: column.type for column in schema.columns}


def _stream(stream: p.StreamPlan) -> Iterator[str]:
    schema = stream.schema
    known = [column.name for column in schema.columns]
    if len(known) != len(set(known)):
        yield "two columns have one name"
    roles = [schema.id, *schema.key, schema.start, schema.end, schema.order_by]
    yield from (f"`{role}` has a role but is no column" for role in roles if role is not None and role not in known)
    visible = set(known) - {column.name for column in stream.derived}
    for derived in stream.derived:
        column = schema.column(derived.name)
        if column is None or column.type is not derived.expr.type:
            yield f"derived column `{derived.name}` has another type than its expression"
        yield from _row_expression(derived.expr, visible)
        visible.add(derived.name)
    if stream.reset_when is not None:
        yield from _row_expression(stream.reset_when, visible)


def _row_expression(expr: e.Expr, visible: set[str]) -> Iterator[str]:
    for part in e.walk(expr):
        match part:
            case e.ColumnOf(slot=slot, column=column):
                if slot != e.ROW or column not in visible:
                    yield f"`{column}` is not a column known here"
            case e.PreviousColumn(column=column) | e.SinceChange(column=column):
                if column not in visible:
                    yield f"`{column}` is not a column known here"
            case e.FactColumn(atom=atom) if atom < 0:
                pass  # of the row that a look-up tests
            case e.ListColumn() | e.Aggregate() | e.TimeOf() | e.IdOf() | e.KeyColumn() | e.Quantity() | e.FactColumn():
                yield f"{type(part).__name__} has no meaning in a stream"
            case _:
                pass


def _event(event: p.EventPlan, sources: Sources, tables: Mapping[str, Mapping[str, Type]]) -> Iterator[str]:
    unknown = [name for name in event.sources if name not in sources]
    if unknown:
        yield f"it reads {', '.join(unknown)} before they exist"
        return
    if not event.scope:
        yield "its scope is empty"
    for column in event.partition:
        kinds = {sources[name].get(column.name) for name in event.sources}
        if kinds != {column.type}:
            yield f"partition column `{column.name}` differs between sources"
    outputs = [(output.name, output.type) for output in (*event.head, *event.returns)]
    if outputs != [(column.name, column.type) for column in event.schema.columns]:
        yield "its schema is not its head and RETURN"
    if len({name for name, _ in outputs}) != len(outputs):
        yield "two columns of a result have one name"
    yield from pattern_violations(event, sources, tables)
