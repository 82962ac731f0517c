"""Rewrites a program over uncertain streams into a certain program over possible worlds.

Every stream gets a column with the number of the world, which is part of its KEY, and every event is also PARTITION BY
that column. Each partition of the certain program is then one world.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.recursion import dependencies_of
from inkling.logical.rewrites.everywhere import everywhere
from inkling.model.schema import Column, StreamSchema, certain
from inkling.model.time import Duration
from inkling.model.types import Type

_OURS = "\ue000"
"""First character of the columns that worlds add: a private character, which no program contains."""

WORLD = f"{_OURS}world"
_WORLD_COLUMN = Column(WORLD, Type.INTEGER)

ORIGINAL_ID = f"{_OURS}id"
"""Column of the rows in worlds with the original id of the event."""


def key_output(place: int) -> str:
    """Column of the results in worlds with one part of the partition key."""
    return f"{_OURS}key{place}"


def uncertain_events(program: p.ProgramPlan) -> frozenset[str]:
    """The events that depend on an uncertain stream."""
    uncertain = {stream.schema.name for stream in program.streams if stream.schema.uncertainty is not None}
    for event in program.events:
        if uncertain & dependencies_of(event, program):
            uncertain.add(event.name)
    return frozenset(event.name for event in program.events if event.name in uncertain)


def uncertain_part(program: p.ProgramPlan) -> p.ProgramPlan:
    """The uncertain events of a program and all they depend on."""
    wanted = uncertain_events(program)
    needed: set[str] = set()
    for event in program.events:
        if event.name in wanted:
            needed |= {event.name, *dependencies_of(event, program)}
    return replace(
        program,
        streams=tuple(stream for stream in program.streams if stream.schema.name in needed),
        events=tuple(event for event in program.events if event.name in needed),
    )


def in_worlds(program: p.ProgramPlan, *, sub_tick: bool = False) -> p.ProgramPlan:
    """The uncertain events of a program and all they depend on, distinguished by world.

    On a clock with `sub_tick` resolution, POINTS become durations, and plain numbers that count ticks are scaled.
    """
    part = uncertain_part(program)
    streams = {stream.schema.name: stream for stream in program.streams}
    return replace(
        program,
        streams=tuple(_stream(stream, sub_tick) for stream in part.streams),
        events=tuple(_event(event, streams, sub_tick) for event in part.events),
    )


def _stream(stream: p.StreamPlan, sub_tick: bool) -> p.StreamPlan:
    """Events in worlds have ids of their own, so the original id becomes an ordinary column."""
    schema = certain(stream.schema)
    columns = (*schema.columns, Column(ORIGINAL_ID, _id_type(schema)), _WORLD_COLUMN)
    derived = tuple(replace(one, expr=_on_sub_tick_clock(one.expr, lambda _: False)) for one in stream.derived)
    return replace(
        stream,
        schema=replace(schema, id=None, columns=columns, key=(*schema.key, WORLD)),
        derived=derived if sub_tick else stream.derived,
    )


def _event(event: p.EventPlan, streams: dict[str, p.StreamPlan], sub_tick: bool) -> p.EventPlan:
    def own_id(expr: e.Expr) -> e.Expr:
        if isinstance(expr, e.IdOf) and not expr.of_any:
            return e.ColumnOf(expr.slot, ORIGINAL_ID, expr.type)
        return e.rebuilt(expr, own_id)

    def counts_ticks(expr: e.Expr) -> bool:
        if not isinstance(expr, e.ColumnOf | e.ListColumn) or expr.type not in (Type.TIME, Type.DURATION):
            return False
        read = [streams[source] for source in event.slots[expr.slot].sources if source in streams]
        return any(all(one.name != expr.column for one in stream.derived) for stream in read)

    def changed(expr: e.Expr) -> e.Expr:
        return _on_sub_tick_clock(own_id(expr), counts_ticks) if sub_tick else own_id(expr)

    keys = tuple(
        p.Output(key_output(place), e.KeyColumn(column.name, column.type))
        for place, column in enumerate(event.partition)
    )
    head = (*_outputs(event.head, changed), *keys, p.Output(WORLD, e.KeyColumn(WORLD, Type.INTEGER)))
    added = tuple(Column(output.name, output.type) for output in head[len(event.head) :])
    given = len(event.head)
    columns = (*event.schema.columns[:given], *added, *event.schema.columns[given:])
    return replace(
        event,
        head=head,
        returns=_outputs(event.returns, changed),
        pattern=_by_original_id(
            everywhere(event.pattern, lambda pattern: _pattern(pattern, changed, sub_tick)), streams
        ),
        within=_window(event.within, sub_tick),
        having=tuple(changed(condition) for condition in event.having),
        partition=(*event.partition, _WORLD_COLUMN),
        consumption=_consumption(event.consumption, changed),
        schema=replace(event.schema, columns=columns),
    )


def _consumption(consumption: p.Consumption | None, change: Callable[[e.Expr], e.Expr]) -> p.Consumption | None:
    if consumption is None or consumption.prefer is None or isinstance(consumption.prefer, p.Preference):
        return consumption
    return replace(consumption, prefer=change(consumption.prefer))


def _outputs(outputs: tuple[p.Output, ...], change: Callable[[e.Expr], e.Expr]) -> tuple[p.Output, ...]:
    return tuple(p.Output(output.name, change(output.expr)) for output in outputs)


def _pattern(pattern: p.Pattern, change: Callable[[e.Expr], e.Expr], sub_tick: bool) -> p.Pattern:
    match pattern:
        case p.Leaf(conditions=conditions, atoms=atoms, checks=checks):
            looked_up = tuple(
                replace(atom, args=tuple(None if arg is None else change(arg) for arg in atom.args)) for atom in atoms
            )
            tests, checked = tuple(change(one) for one in conditions), tuple(change(one) for one in checks)
            return replace(pattern, conditions=tests, atoms=looked_up, checks=checked)
        case p.Narrowed(having=having, within=within):
            return replace(pattern, having=tuple(change(one) for one in having), within=_window(within, sub_tick))
        case p.Sequence(within=within):
            return replace(pattern, within=_window(within, sub_tick))
        case p.Quantified(within=within):
            limit = _window(within, sub_tick)
            assert not isinstance(limit, p.EventCount), "a relation between segments compares times"
            return replace(pattern, within=limit)
        case _:
            return pattern


def _by_original_id(pattern: p.Pattern, streams: dict[str, p.StreamPlan]) -> p.Pattern:
    """A window over a stream that orders simultaneous events by their original ids."""
    if not isinstance(pattern, p.Sliding) or pattern.leaf.sources[0] not in streams:
        return pattern
    return replace(pattern, called=Column(ORIGINAL_ID, _id_type(streams[pattern.leaf.sources[0]].schema)))


def _id_type(schema: StreamSchema) -> Type:
    return next((column.type for column in schema.columns if column.name == schema.id), Type.INTEGER)


def _window(window: p.Window | None, sub_tick: bool) -> p.Window | None:
    return Duration(Fraction(window.count - 1), "TICKS") if sub_tick and isinstance(window, p.Points) else window


SUB_TICKS = 2**16
"""Sub-ticks per tick on the clock of worlds with lost events, so that lost events have times between two ticks."""

_TIMES = (Type.TIME, Type.DURATION)


def _on_sub_tick_clock(expr: e.Expr, counts_ticks: Callable[[e.Expr], bool]) -> e.Expr:
    """The expression with all times and lengths of time in sub-tick units.

    `counts_ticks` marks columns with times in ticks, as they were read.
    """

    def scaled(part: e.Expr) -> e.Expr:
        if counts_ticks(part):
            return _multiplied(part)
        part = e.rebuilt(part, scaled)
        match part:
            case e.Compare(left=left, right=right):
                return replace(part, left=_scaled_like(left, right), right=_scaled_like(right, left))
            case e.Arithmetic(operator="+" | "-", left=left, right=right):
                return replace(part, left=_scaled_like(left, right), right=_scaled_like(right, left))
            case e.InList(item=item, choices=choices) if item.type in _TIMES:
                return replace(part, choices=tuple(_larger(one) for one in choices))
            case _:
                return part

    return scaled(expr)


def _scaled_like(number: e.Expr, other: e.Expr) -> e.Expr:
    """A plain number beside a time counts ticks, so it is scaled."""
    is_plain = number.type in (Type.INTEGER, Type.DOUBLE)
    return _multiplied(number) if is_plain and other.type in _TIMES else number


def _multiplied(number: e.Expr) -> e.Expr:
    if isinstance(number, e.Literal):
        return _larger(number)
    return e.Arithmetic("*", number, e.Literal(SUB_TICKS, Type.INTEGER), number.type)


def _larger(number: e.Literal) -> e.Literal:
    return replace(number, value=number.value * SUB_TICKS) if isinstance(number.value, int | float) else number
