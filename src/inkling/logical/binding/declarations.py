"""Binds STREAM and TABLE: columns and their roles, the time, the OP column, and columns derived from row to row."""

from collections.abc import Iterator
from dataclasses import dataclass

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.catalog import Catalog, CatalogSource, ColumnList, Timing, as_declared, check_arity
from inkling.logical.binding.clocks import TimeUses, check_times
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.expressions import ExpressionBinder, Reference, to_span
from inkling.logical.binding.knowledge.rule_calls import lookup_test
from inkling.logical.binding.knowledge.rule_clauses import is_wildcard
from inkling.logical.binding.uncertainty import (
    bind_pairing,
    bind_uncertainty,
    check_own_lengths,
    key_and_time,
    time_columns,
    words_of_time,
)
from inkling.logical.plan import DerivedColumn, StreamPlan, TicksOnly
from inkling.model.schema import StreamSchema, TableSchema
from inkling.model.time import Clock, Duration
from inkling.model.types import TYPE_NAMES, Type


def bind_table(decl: s.TableDecl, catalog: Catalog, diagnostics: Diagnostics) -> TableSchema | None:
    """The schema of one table, which also enters the catalog; None when it has an error."""
    n_errors = diagnostics.n_errors
    columns = ColumnList(decl.name.text, diagnostics)
    columns.declare(decl.columns)
    if diagnostics.n_errors > n_errors:
        catalog.broken_tables.add(decl.name.text)
        return None
    table = TableSchema(decl.name.text, columns.finished(), decl.path)
    catalog.tables[table.name] = table
    return table


def check_op(decl: s.StreamDecl, columns: ColumnList, diagnostics: Diagnostics) -> None:
    """Checks the OP column, which distinguishes events from withdrawals and is not a column of events."""
    if decl.op is None:
        return
    columns.optional(decl.op, "OP", Type.STRING)
    other = next((role for role, column in _roles(decl) if column.text == decl.op.text), None)
    if other is not None:
        diagnostics.error(
            "INK0302",
            f"`{decl.op}` cannot be both {other} and OP",
            decl.op,
            notes=["the OP column holds `+` or `-`"],
            helps=["name another column"],
        )
    else:
        columns.set_aside(decl.op)
    if decl.id is None:
        diagnostics.error(
            "INK0390",
            f"`{decl.name}` has withdrawals, but its events have no id",
            decl.op,
            notes=["a withdrawal identifies its event by id"],
            helps=["add `ID column`"],
        )


def check_op_for(decl: s.StreamDecl, tick: Duration | None, diagnostics: Diagnostics) -> None:
    """Reports a time for withdrawals that is shorter than LATENESS."""
    if decl.op_for is None or decl.late is None:
        return
    late, window = to_span(decl.late), to_span(decl.op_for)
    if (late.unit == "TICKS") != (window.unit == "TICKS") and tick is None:
        return  # a unit that does not match the clock is reported elsewhere
    if window.length(tick) < late.length(tick):
        diagnostics.error(
            "INK0302",
            f"events of `{decl.name}` can arrive later than they can be withdrawn",
            decl.op_for,
            notes=[f"LATENESS is `{diagnostics.text_of(decl.late)}`, which is longer"],
            helps=[f"write `FOR {diagnostics.text_of(decl.late)}` or longer"],
        )


def warn_of_empty_output(
    decl: s.EventDecl, streams: frozenset[str], catalog: Catalog, diagnostics: Diagnostics
) -> None:
    """Warns of ON RETRACT where no result can be withdrawn."""
    if decl.on_retract is None or streams & catalog.revising:
        return
    diagnostics.warn(
        "INK0392",
        f"no result of `{decl.name}` is ever withdrawn, so `{decl.on_retract}` stays empty",
        decl.on_retract,
        notes=[f"neither OP nor SPECULATIVE is declared for {listed(sorted(streams))}"] if streams else [],
        helps=["declare `OP column FOR 1 HOUR` or `LATENESS 10 MINUTES SPECULATIVE` for a stream it reads"],
    )


def _roles(decl: s.StreamDecl) -> Iterator[tuple[str, s.Ident]]:
    yield from key_and_time(decl)
    single = {"ID": decl.id, "ORDER BY": decl.order_by}
    yield from ((role, column) for role, column in single.items() if column is not None)


TIME_KINDS = (Type.INTEGER, Type.TIME)


@dataclass(frozen=True, slots=True)
class BoundStream:
    """The plan of a stream, and the plain numbers that count ticks."""

    plan: StreamPlan
    ticks_only: tuple[TicksOnly, ...]


def bind_stream(decl: s.StreamDecl, catalog: Catalog, diagnostics: Diagnostics) -> BoundStream | None:
    """The plan of one stream, which also enters the catalog; None when it has an error."""
    n_errors = diagnostics.n_errors
    name = decl.name.text
    columns = ColumnList(name, diagnostics)
    columns.declare(decl.columns)
    id_type = columns.require(decl.id, "ID") if decl.id else Type.INTEGER
    for key in decl.key:
        columns.require(key, "KEY")
    if decl.order_by:
        columns.require(decl.order_by, "ORDER BY", Type.INTEGER, Type.STRING, Type.TIME)
    if isinstance(decl.time, s.TimeBetween | s.TimeAbout) and decl.order_by:
        diagnostics.error(
            "INK0302",
            f"ORDER BY cannot be combined with {words_of_time(decl.time)}",
            decl.order_by,
            notes=["events at imprecise times have no fixed order"],
        )
    check_op(decl, columns, diagnostics)
    start, end, time_type = _time(decl, columns, diagnostics)
    tick = _tick(decl, diagnostics)
    check_op_for(decl, tick, diagnostics)
    grid = _grid(decl, tick, time_type, diagnostics) if _declares_time(decl) else None
    uncertainty = bind_uncertainty(decl, columns, catalog, diagnostics, tick, grid or 1)
    pairing = bind_pairing(decl, columns, diagnostics)
    catalog.timings[name] = Timing(_clock(decl, time_type), tick)
    uses = TimeUses()
    uses.spans += [(to_span(length), length.span) for length in _lengths(decl)]
    derived, reset_when = _derive(decl, columns, catalog, diagnostics, uses)
    ticks_only = check_times(uses, (name,), decl.name.span, catalog, diagnostics)
    if catalog.timings[name].clock is None:
        check_own_lengths(_lengths(decl), diagnostics)
    has_error = diagnostics.n_errors > n_errors
    catalog.sources[name] = CatalogSource(
        name,
        dict(columns.types),
        id_type,
        is_ordered=decl.order_by is not None,
        is_interval=isinstance(decl.time, s.TimeSpan),
        streams=frozenset({name}),
        uncertain=frozenset({name} if uncertainty else ()),
        key=tuple(key.text for key in decl.key),
        pairing=pairing,
        op=decl.op.text if decl.op else None,
        has_error=has_error,
    )
    if decl.op is not None or decl.speculative:
        catalog.revising.add(name)
    if has_error:
        return None
    schema = StreamSchema(
        name,
        columns.finished(),
        decl.id.text if decl.id else None,
        tuple(key.text for key in decl.key),
        start,
        end,
        time_type,
        decl.order_by.text if decl.order_by else None,
        tick,
        uncertainty,
        to_span(decl.late) if decl.late else None,
        decl.op.text if decl.op else None,
        grid,
        to_span(decl.op_for) if decl.op_for else None,
        decl.speculative,
        to_span(decl.ahead) if decl.ahead else None,
        _clock(decl, time_type) is Clock.TIMESTAMP,
        decl.epoch.text if decl.epoch else None,
    )
    return BoundStream(StreamPlan(schema, tuple(derived), reset_when), ticks_only)


def _lengths(decl: s.StreamDecl) -> list[s.Duration]:
    """The durations of a declaration, without TICK."""
    found = [length for length in (decl.late, decl.ahead, decl.op_for, decl.at_most) if length is not None]
    match decl.time:
        case s.TimeAbout(error=s.Duration() as error):
            found.append(error)
        case s.TimeAbout(error=s.ClockErrors(usual=usual, others=others)):
            found += [usual, *(other.at_most for other in others)]
        case _:
            pass
    if decl.segments is not None and decl.segments.timeout is not None:
        found.append(decl.segments.timeout)
    if decl.segments is not None and isinstance(decl.segments.rate, s.Rate):
        found.append(decl.segments.rate.per)
    return found


def _declares_time(decl: s.StreamDecl) -> bool:
    declared = {column.name.text for column in decl.columns}
    return decl.epoch is not None or any(column.text in declared for column in time_columns(decl))


def _time(decl: s.StreamDecl, columns: ColumnList, diagnostics: Diagnostics) -> tuple[str, str, Type]:
    """Start column, end column and their type; a time column that is not declared becomes a column."""
    names = time_columns(decl)
    if not names:
        stamped = [one.name.text for one in decl.columns if TYPE_NAMES.get(one.type.text.upper()) is Type.TIME]
        example = stamped[0] if len(stamped) == 1 else "t"
        diagnostics.error(
            "INK0301",
            f"stream `{decl.name}` has no TIME",
            decl.name,
            notes=["every event has a time: a point, or an interval from one column to another"],
            helps=[f"add `TIME {example}`, or `TIME FROM started TO ended`"],
        )
        return "", "", Type.TIME
    kinds = [columns.optional(name, "TIME", *TIME_KINDS) for name in names]
    known = [kind for kind in kinds if kind is not None]
    time_type = known[0] if known else Type.TIME
    if len(set(known)) > 1:
        diagnostics.error(
            "INK0303",
            f"`{names[0]}` and `{names[1]}` have different types",
            names[1],
            notes=[f"`{names[0]}` is {as_declared(known[0])}, `{names[1]}` is {as_declared(known[1])}"],
        )
    if len(names) == 2 and names[0].text == names[1].text:
        diagnostics.error(
            "INK0302",
            f"start and end of stream `{decl.name}` are the same column",
            names[1],
            helps=[f"write `TIME {names[0]}` for events that are points"],
        )
    if decl.epoch is not None and time_type is Type.INTEGER:
        diagnostics.error(
            "INK0303",
            f"EPOCH needs a column of timestamps, but `{names[0]}` is {as_declared(time_type)}",
            decl.epoch,
            notes=["with EPOCH, integers of the input become timestamps"],
            helps=[f"declare `{names[0]} TIMESTAMP`"],
        )
    for name in names:
        if name.text not in columns.types:
            columns.add(name, time_type)
    return names[0].text, names[-1].text, time_type


def _clock(decl: s.StreamDecl, time_type: Type) -> Clock | None:
    if not _declares_time(decl):
        return Clock.TICKS if decl.tick else None
    return Clock.TICKS if time_type is Type.INTEGER else Clock.TIMESTAMP


def _tick(decl: s.StreamDecl, diagnostics: Diagnostics) -> Duration | None:
    if decl.tick is None:
        return None
    if decl.tick.unit == "TICKS" or decl.tick.amount == 0:
        diagnostics.error(
            "INK0304", "TICK needs a length of time", decl.tick, helps=["write for example `TICK 1 SECONDS`"]
        )
        return None
    return to_span(decl.tick)


def _grid(decl: s.StreamDecl, tick: Duration | None, time_type: Type, diagnostics: Diagnostics) -> int | None:
    """The length of a tick in microseconds, for streams of timestamps."""
    if decl.tick is None or tick is None or time_type is Type.INTEGER:
        return None
    if decl.numbered_by:
        diagnostics.error(
            "INK0302",
            "TICK cannot be combined with NUMBERED BY and timestamps",
            decl.tick,
            notes=["a lost event happened somewhere between two others, not at a tick"],
            helps=["leave TICK out, or declare the time column INT"],
        )
        return None
    if tick.microseconds.denominator != 1:
        diagnostics.error("INK0304", f"a tick of timestamps lasts whole microseconds, found {tick}", decl.tick)
        return None
    return int(tick.microseconds)


def _derive(
    decl: s.StreamDecl, columns: ColumnList, catalog: Catalog, diagnostics: Diagnostics, uses: TimeUses
) -> tuple[list[DerivedColumn], e.Expr | None]:
    binder = ExpressionBinder(_RowNames(columns, catalog, diagnostics), catalog, diagnostics, uses)
    derived = []
    for item in decl.derive:
        value = binder.value(item.value)
        if columns.add(item.name, value.type if value else None) and value is not None:
            derived.append(DerivedColumn(item.name.text, value))
    reset_when = None
    if decl.reset_when is not None:
        reset_when = binder.condition(decl.reset_when)
        if reset_when is not None:
            _check_reset(reset_when, decl, {column.name for column in derived}, diagnostics)
    return derived, reset_when


def _check_reset(reset_when: e.Expr, decl: s.StreamDecl, derived: set[str], diagnostics: Diagnostics) -> None:
    """Reports a RESET WHEN that reads earlier rows, which a reset discards."""
    assert decl.reset_when is not None
    looks_back = any(
        isinstance(part, e.PreviousColumn | e.SinceChange) or (isinstance(part, e.ColumnOf) and part.column in derived)
        for part in e.walk(reset_when)
    )
    if looks_back:
        diagnostics.error(
            "INK0370",
            "RESET WHEN reads stored columns of the row only",
            decl.reset_when,
            notes=["derived columns, PREV and SINCE_CHANGE start over after a reset"],
        )


@dataclass(frozen=True, slots=True)
class _RowNames:
    """Names inside a stream declaration: columns of the current row and of the row before it."""

    columns: ColumnList
    catalog: Catalog
    diagnostics: Diagnostics

    def variable(self, node: s.Variable) -> e.Expr | None:
        kind = self._type(node.name)
        return None if kind is None else e.ColumnOf(e.ROW, node.name.text, kind)

    def reference(self, node: Reference) -> e.Expr | None:
        match node:
            case s.Previous(column=column):
                kind = self._type(column)
                return None if kind is None else e.PreviousColumn(column.text, kind)
            case s.SinceChange(column=column):
                return None if self._type(column) is None else e.SinceChange(column.text)
            case _:
                self.diagnostics.error(
                    "INK0306",
                    f"`{self.diagnostics.text_of(node)}` is not allowed in a stream declaration",
                    node,
                    notes=["only columns, PREV(column) and SINCE_CHANGE(column) can be read here"],
                )
                return None

    def table_test(self, node: s.Call, binder: ExpressionBinder) -> e.Expr | None:
        """Whether a table or rule has a row; `_` matches any value."""
        if not check_arity(node, self.catalog, self.diagnostics) or node.name.text not in self.catalog.facts:
            return None
        given: list[e.Expr | None] = []
        for arg in node.args:
            if is_wildcard(arg):
                given.append(None)
                continue
            if isinstance(arg, s.Variable) and arg.name.text not in self.columns.types:
                self.columns.unknown(arg.name, helps=["write `_` for any value, or compare the value in a RULE"])
                return None
            value = binder.value(arg)
            if value is None:
                return None
            given.append(value)
        return lookup_test(node, given, self.catalog, self.diagnostics, binder.times)

    def _type(self, name: s.Ident) -> Type | None:
        if name.text not in self.columns.types:
            self.columns.unknown(name)
            return None
        return self.columns.types[name.text]
