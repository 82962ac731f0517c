"""Streams: columns, the roles of columns, and columns derived from row to row."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.language import syntax as s
from inkling.logical import expr as e
from inkling.logical.binding.catalog import Catalog, Source, Timing
from inkling.logical.binding.clocks import TimeUses, check_times
from inkling.logical.binding.columns import ColumnList, as_declared
from inkling.logical.binding.expressions import ExpressionBinder, Reference, to_span
from inkling.logical.binding.imprecise_time import check_own_lengths, words_of_time
from inkling.logical.binding.mistakes import Mistakes
from inkling.logical.binding.revision import check_op, check_op_for
from inkling.logical.binding.stream_doubt import bind_doubt, bind_pairing
from inkling.logical.plan import DerivedColumn, StreamPlan, TicksOnly
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock, Span
from inkling.model.types import Type

TIME_KINDS = (Type.INTEGER, Type.TIME)


@dataclass(frozen=True, slots=True)
class BoundStream:
    plan: StreamPlan
    ticks_only: tuple[TicksOnly, ...]


def bind_stream(decl: s.StreamDecl, catalog: Catalog, mistakes: Mistakes) -> BoundStream | None:
    """The plan of one stream, which also enters the catalog; None when it has a mistake."""
    n_errors = mistakes.n_errors
    name = decl.name.text
    columns = ColumnList(name, mistakes)
    columns.declare(decl.columns)
    id_type = columns.require(decl.id, "ID") if decl.id else Type.INTEGER
    for key in decl.key:
        columns.require(key, "KEY")
    if decl.order_by:
        columns.require(decl.order_by, "ORDER BY", Type.INTEGER, Type.STRING, Type.TIME)
    if isinstance(decl.time, s.TimeBetween | s.TimeAbout) and decl.order_by:
        mistakes.wrong(
            "INK0302",
            f"ORDER BY does not fit {words_of_time(decl.time)}",
            decl.order_by,
            notes=["events at imprecise times have no fixed order"],
        )
    check_op(decl, columns, mistakes)
    start, end, time_type = _time(decl, columns, mistakes)
    tick = _tick(decl, mistakes)
    check_op_for(decl, tick, mistakes)
    grid = _grid(decl, tick, time_type, mistakes) if _declares_time(decl) else None
    doubt = bind_doubt(decl, columns, catalog, mistakes, tick, grid or 1)
    pairing = bind_pairing(decl, columns, mistakes)
    catalog.timings[name] = Timing(_clock(decl, time_type), tick)
    uses = TimeUses()
    uses.spans += [(to_span(length), length.span) for length in _lengths(decl)]
    derived, reset_when = _derive(decl, columns, catalog, mistakes, uses)
    ticks_only = check_times(uses, (name,), decl.name.span, catalog, mistakes)
    if catalog.timings[name].clock is None:
        check_own_lengths(_lengths(decl), mistakes)
    has_mistake = mistakes.n_errors > n_errors
    catalog.sources[name] = Source(
        name,
        dict(columns.types),
        id_type,
        is_ordered=decl.order_by is not None,
        is_interval=isinstance(decl.time, s.TimeSpan),
        streams=frozenset({name}),
        doubtful=frozenset({name} if doubt else ()),
        key=tuple(key.text for key in decl.key),
        pairing=pairing,
        op=decl.op.text if decl.op else None,
        has_mistake=has_mistake,
    )
    if decl.op is not None or decl.speculative:
        catalog.revising.add(name)
    if has_mistake:
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
        doubt,
        to_span(decl.late) if decl.late else None,
        decl.op.text if decl.op else None,
        grid,
        to_span(decl.op_for) if decl.op_for else None,
        decl.speculative,
    )
    return BoundStream(StreamPlan(schema, tuple(derived), reset_when), ticks_only)


def _time_columns(decl: s.StreamDecl) -> tuple[s.Ident, ...]:
    match decl.time:
        case s.TimePoint(column=column):
            return (column,)
        case s.TimeSpan(start=start, end=end):
            return (start, end)
        case s.TimeBetween(lo=lo, hi=hi):
            return (lo, hi)
        case s.TimeAbout(column=column):
            return (column,)
        case None:
            return ()


def _lengths(decl: s.StreamDecl) -> list[s.Duration]:
    """The lengths of time that a declaration names, besides its tick."""
    found = [length for length in (decl.late, decl.op_for, decl.at_most) if length is not None]
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
    return any(column.text in declared for column in _time_columns(decl))


def _time(decl: s.StreamDecl, columns: ColumnList, mistakes: Mistakes) -> tuple[str, str, Type]:
    """Start column, end column and their type; a time column that is not declared becomes a column."""
    names = _time_columns(decl)
    if not names:
        mistakes.wrong(
            "INK0301",
            f"stream `{decl.name}` does not say when its events happen",
            decl.name,
            notes=["every event has a time: a point, or an interval from one column to another"],
            helps=["add `TIME t`, or `TIME FROM started TO ended`"],
        )
        return "", "", Type.TIME
    kinds = [columns.optional(name, "TIME", *TIME_KINDS) for name in names]
    known = [kind for kind in kinds if kind is not None]
    time_type = known[0] if known else Type.TIME
    if len(set(known)) > 1:
        mistakes.wrong(
            "INK0303",
            f"`{names[0]}` and `{names[1]}` hold times of different kinds",
            names[1],
            notes=[f"`{names[0]}` is {as_declared(known[0])}, `{names[1]}` is {as_declared(known[1])}"],
        )
    if len(names) == 2 and names[0].text == names[1].text:
        mistakes.wrong(
            "INK0302",
            f"start and end of stream `{decl.name}` are the same column",
            names[1],
            helps=[f"write `TIME {names[0]}` for events that are points"],
        )
    for name in names:
        if name.text not in columns.types:
            columns.add(name, time_type)
    return names[0].text, names[-1].text, time_type


def _clock(decl: s.StreamDecl, time_type: Type) -> Clock | None:
    if not _declares_time(decl):
        return Clock.TICKS if decl.tick else None
    return Clock.TICKS if time_type is Type.INTEGER else Clock.TIMESTAMP


def _tick(decl: s.StreamDecl, mistakes: Mistakes) -> Span | None:
    if decl.tick is None:
        return None
    if decl.tick.unit == "TICKS" or decl.tick.amount == 0:
        mistakes.wrong(
            "INK0304",
            "TICK needs a length of time",
            decl.tick,
            helps=["say how long one tick lasts, for example `TICK 1 SECONDS`"],
        )
        return None
    return to_span(decl.tick)


def _grid(decl: s.StreamDecl, tick: Span | None, time_type: Type, mistakes: Mistakes) -> int | None:
    """How many microseconds a tick of timestamps has."""
    if decl.tick is None or tick is None or time_type is Type.INTEGER:
        return None
    if decl.numbered_by:
        mistakes.wrong(
            "INK0302",
            f"TICK does not fit the timestamps of `{decl.name}`, which are numbered",
            decl.tick,
            notes=["a lost event happened somewhere between two others, not at a tick"],
            helps=["leave TICK out, or declare the time column INT"],
        )
        return None
    if tick.microseconds.denominator != 1:
        mistakes.wrong(
            "INK0304",
            f"a tick of timestamps lasts whole microseconds, found {tick}",
            decl.tick,
        )
        return None
    return int(tick.microseconds)


def _derive(
    decl: s.StreamDecl, columns: ColumnList, catalog: Catalog, mistakes: Mistakes, uses: TimeUses
) -> tuple[list[DerivedColumn], e.Expr | None]:
    binder = ExpressionBinder(_RowNames(columns, mistakes), catalog, mistakes, uses)
    derived = []
    for item in decl.derive:
        value = binder.value(item.value)
        if columns.add(item.name, value.type if value else None) and value is not None:
            derived.append(DerivedColumn(item.name.text, value))
    reset_when = None
    if decl.reset_when is not None:
        reset_when = binder.condition(decl.reset_when)
        if reset_when is not None:
            _check_reset(reset_when, decl, {column.name for column in derived}, mistakes)
    return derived, reset_when


def _check_reset(reset_when: e.Expr, decl: s.StreamDecl, derived: set[str], mistakes: Mistakes) -> None:
    """What was before a reset does not count, so a reset cannot depend on it."""
    assert decl.reset_when is not None
    looks_back = any(
        isinstance(part, e.PreviousColumn | e.SinceChange) or (isinstance(part, e.ColumnOf) and part.column in derived)
        for part in e.walk(reset_when)
    )
    if looks_back:
        mistakes.wrong(
            "INK0370",
            "RESET WHEN looks at stored columns of the row alone",
            decl.reset_when,
            notes=["derived columns, PREV and SINCE_CHANGE start anew after a reset, so they cannot decide on one"],
        )


@dataclass(frozen=True, slots=True)
class _RowNames:
    """Names inside a stream declaration: columns of the row at hand and of the row before it."""

    columns: ColumnList
    mistakes: Mistakes

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
                self.mistakes.wrong(
                    "INK0306",
                    f"`{self.mistakes.words(node)}` has no meaning in a stream declaration",
                    node,
                    notes=["only columns, PREV(column) and SINCE_CHANGE(column) can be read here"],
                )
                return None

    def table_test(self, node: s.Call, binder: ExpressionBinder) -> e.Expr | None:
        self.mistakes.wrong(
            "INK0418",
            "background tables cannot be used in a stream declaration yet",
            node,
            helps=["look the table up in the conditions of an event"],
        )
        return None

    def _type(self, name: s.Ident) -> Type | None:
        if name.text not in self.columns.types:
            self.columns.unknown(name)
            return None
        return self.columns.types[name.text]
