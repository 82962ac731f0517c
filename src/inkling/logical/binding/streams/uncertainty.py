"""Binds the clauses of a declaration that describe the uncertainty of its stream.

Where a declaration leaves open when events happened: between two times, or around one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.diagnostics import Diagnostics, listed
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.streams.columns import ColumnList, as_declared
from inkling.logical.binding.streams.lost_events import about_losses, bind_lost_events
from inkling.logical.plan import Pairing
from inkling.model.schema import Column
from inkling.model.time import Clock, Span
from inkling.model.types import Type
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime, ProbableValue, TimeError, Uncertainty


def words_of_time(time: s.TimeDecl | None) -> str:
    """How a declaration of an imprecise time is called."""
    match time:
        case s.TimeBetween():
            return "TIME BETWEEN"
        case s.TimeAbout(error=s.ClockErrors()):
            return "TIME … CLOCK"
        case s.TimeAbout():
            return "TIME … ±"
        case _:
            return "TIME"


def bind_imprecise(
    decl: s.StreamDecl, columns: ColumnList, diagnostics: Diagnostics, tick: Span | None, step: int
) -> ImpreciseTime | None:
    """The uncertainty about times; `tick` is how long a tick lasts, and `step` how many units of the clock it has."""
    widest = None if decl.at_most is None else to_span(decl.at_most)
    match decl.time:
        case s.TimeBetween(lo=lo, hi=hi, weights=weights):
            return ImpreciseTime(lo.text, hi.text, weights.text if weights else None, step, None, widest)
        case s.TimeAbout(column=column, error=error):
            bound = _error(error, columns, diagnostics)
            if bound is None:
                return None
            found = ImpreciseTime(column.text, column.text, None, step, bound, widest)
            _check_width(decl, error, tick, diagnostics)
            return found
        case _:
            if decl.at_most is not None:
                diagnostics.wrong(
                    "INK0380",
                    f"AT MOST limits imprecise times, and those of `{decl.name}` are certain",
                    decl.at_most,
                    helps=[
                        "leave AT MOST out, or declare how imprecise the times are, for example `TIME t ± 5 SECONDS`"
                    ],
                )
            return None


def _error(
    error: s.Duration | s.Ident | s.ClockErrors, columns: ColumnList, diagnostics: Diagnostics
) -> TimeError | None:
    match error:
        case s.Duration():
            return to_span(error)
        case s.Ident():
            columns.optional(error, "±", Type.INTEGER)
            return ErrorColumn(error.text)
        case s.ClockErrors(column=column, usual=usual, others=others):
            columns.require(column, "CLOCK", Type.STRING)
            seen: dict[str, s.ClockError] = {}
            for other in others:
                first = seen.setdefault(other.clock, other)
                if first is not other:
                    diagnostics.wrong(
                        "INK0381",
                        f"the clock '{other.clock}' has two errors: {to_span(first.at_most)} and"
                        f" {to_span(other.at_most)}",
                        other,
                        notes=[f"the first is at {diagnostics.place(first)}"],
                    )
            return ClockErrors(column.text, to_span(usual), tuple((one.clock, to_span(one.at_most)) for one in others))


def _check_width(
    decl: s.StreamDecl, error: s.Duration | s.Ident | s.ClockErrors, tick: Span | None, diagnostics: Diagnostics
) -> None:
    """An error makes an interval of twice its length, which AT MOST has to leave room for."""
    if decl.at_most is None or isinstance(error, s.Ident):
        return
    errors = [error] if isinstance(error, s.Duration) else [error.usual, *(one.at_most for one in error.others)]
    for one in errors:
        span = to_span(one)
        wide = Span(2 * span.amount, span.unit)
        if _is_longer(wide, to_span(decl.at_most), tick):
            diagnostics.wrong(
                "INK0382",
                f"AT MOST {to_span(decl.at_most)} is shorter than the interval of ± {span}",
                decl.at_most,
                notes=[f"a time with an error of ± {span} has an interval of {wide}"],
                helps=[f"write `AT MOST {wide}` or more, or leave it out"],
            )
            return


def _is_longer(one: Span, other: Span, tick: Span | None) -> bool:
    """False, too, where only one counts ticks and nothing says how long these last."""
    if one.unit == other.unit == "TICKS":
        return one.amount > other.amount
    lengths = [_microseconds(span, tick) for span in (one, other)]
    return lengths[0] is not None and lengths[1] is not None and lengths[0] > lengths[1]


def _microseconds(span: Span, tick: Span | None) -> Fraction | None:
    if span.unit != "TICKS":
        return span.microseconds
    return None if tick is None else span.amount * tick.microseconds


def check_own_lengths(lengths: Iterable[s.Duration], diagnostics: Diagnostics) -> None:
    """Lengths in the declaration of a stream whose data show the unit of times: whole numbers of either."""
    for length in lengths:
        span = to_span(length)
        try:
            span.units(Clock.TICKS if span.unit == "TICKS" else Clock.TIMESTAMP)
        except ValueError as problem:
            diagnostics.wrong("INK0304", f"`{diagnostics.words(length)}` cannot be measured", length, str(problem))


def bind_uncertainty(
    decl: s.StreamDecl, columns: ColumnList, catalog: Catalog, diagnostics: Diagnostics, tick: Span | None, step: int
) -> Uncertainty | None:
    """The uncertainty of a stream; columns whose type follows from their option need not be declared.

    `step` is how many units of the clock lie between two moments.
    """
    _check_uncertainty_columns(decl, columns, diagnostics)
    found: dict[str, Uncertainty] = {}
    imprecise = bind_imprecise(decl, columns, diagnostics, tick, step)
    if imprecise is not None:
        found[words_of_time(decl.time)] = imprecise
    if decl.probability:
        columns.optional(decl.probability, "PROBABILITY", Type.DOUBLE, Type.INTEGER)
        found["PROBABILITY"] = ProbableValue(decl.probability.text, tuple(column.text for column in decl.given))
    if decl.numbered_by:
        found["NUMBERED BY"] = bind_lost_events(decl, decl.numbered_by, columns, catalog, diagnostics)
    if len(found) > 1:
        diagnostics.wrong(
            "INK0417",
            f"several kinds of uncertainty in one stream are not supported yet: {listed(found)}",
            decl.name,
            helps=["declare one stream per kind of uncertainty"],
        )
    return next(iter(found.values()), None)


def bind_pairing(decl: s.StreamDecl, columns: ColumnList, diagnostics: Diagnostics) -> Pairing | None:
    """SEGMENTS: how the events of the stream open and close segments."""
    segments = decl.segments
    if segments is None:
        return None
    if isinstance(decl.time, s.TimeSpan):
        diagnostics.wrong(
            "INK0302",
            "SEGMENTS cannot be combined with TIME FROM … TO",
            segments,
            notes=["with TIME FROM … TO an event is a segment; with SEGMENTS, events open and close segments"],
            helps=["leave SEGMENTS out"],
        )
    if decl.numbered_by:
        return Pairing(number=_column(decl.numbered_by, columns))
    about = about_losses(segments)
    if about is not None:
        diagnostics.wrong(
            "INK0302",
            "COUNT, BOUNDS, RATE and TIMEOUT need NUMBERED BY",
            about,
            notes=["they describe lost events, which only gaps in sequence numbers reveal"],
            helps=["add `NUMBERED BY column`"],
        )
    if segments.role is None:
        return Pairing()
    columns.require(segments.role, "ROLE", Type.STRING)
    return Pairing(role=_column(segments.role, columns))


def _column(name: s.Ident, columns: ColumnList) -> Column | None:
    kind = columns.types.get(name.text)
    return None if kind is None else Column(name.text, kind)


MAY_BE_NUMBERS_TOO = {"ID", "ORDER BY"}
"""Roles that the column of NUMBERED BY may have besides."""


def _check_uncertainty_columns(decl: s.StreamDecl, columns: ColumnList, diagnostics: Diagnostics) -> None:
    _check_roles(decl, diagnostics)
    if isinstance(decl.time, s.TimeBetween) and decl.time.weights is not None:
        _check_weights(decl.time.weights, columns, diagnostics)
    if decl.given:
        _check_given(decl, columns, diagnostics)
    if decl.segments is not None:
        for bound in (decl.segments.lo, decl.segments.hi):
            if bound is not None and isinstance(decl.time, s.TimePoint):
                _check_bound(bound, decl.time.column, columns, diagnostics)
    if decl.numbered_by is not None and isinstance(decl.time, s.TimeSpan):
        diagnostics.wrong(
            "INK0302",
            "NUMBERED BY cannot be combined with TIME FROM … TO",
            decl.numbered_by,
            notes=["sequence numbers reveal lost events, but not how long they lasted"],
            helps=["number the events that begin and end an interval, and add SEGMENTS"],
        )


def _check_roles(decl: s.StreamDecl, diagnostics: Diagnostics) -> None:
    taken = {column.text: role for role, column in _certain_roles(decl)}
    for role, column in _uncertainty_roles(decl):
        other = taken.setdefault(column.text, "")
        taken[column.text] = other or role
        if not other or (role == "NUMBERED BY" and other in MAY_BE_NUMBERS_TOO):
            continue
        what = f"{role} names `{column}` twice" if other == role else f"`{column}` cannot be both {other} and {role}"
        diagnostics.wrong("INK0302", what, column, helps=["name another column"])


def _certain_roles(decl: s.StreamDecl) -> Iterator[tuple[str, s.Ident]]:
    yield from (("DERIVE", item.name) for item in decl.derive)
    yield from (("KEY", column) for column in decl.key)
    match decl.time:
        case s.TimePoint(column=column) | s.TimeAbout(column=column):
            yield "TIME", column
        case s.TimeSpan(start=first, end=last) | s.TimeBetween(lo=first, hi=last):
            yield "TIME", first
            yield "TIME", last
    single = {"OP": decl.op, "ORDER BY": decl.order_by, "ID": decl.id}
    yield from ((role, column) for role, column in single.items() if column is not None)


def _uncertainty_roles(decl: s.StreamDecl) -> Iterator[tuple[str, s.Ident]]:
    if isinstance(decl.time, s.TimeBetween) and decl.time.weights is not None:
        yield "WEIGHTS", decl.time.weights
    if isinstance(decl.time, s.TimeAbout) and isinstance(decl.time.error, s.Ident):
        yield "±", decl.time.error
    if decl.probability is not None:
        yield "PROBABILITY", decl.probability
    yield from (("GIVEN", column) for column in decl.given)
    if decl.numbered_by is not None:
        yield "NUMBERED BY", decl.numbered_by
    if decl.segments is not None:
        segments = decl.segments
        rate = segments.rate if isinstance(segments.rate, s.Ident) else None
        named = (
            ("ROLE", segments.role),
            ("COUNT", segments.count),
            ("BOUNDS", segments.lo),
            ("BOUNDS", segments.hi),
            ("RATE", rate),
        )
        yield from ((role, column) for role, column in named if column is not None)


def _check_weights(weights: s.Ident, columns: ColumnList, diagnostics: Diagnostics) -> None:
    """Weights are no value of the language, so no declared type fits them."""
    kind = columns.types.get(weights.text)
    if kind is not None:
        diagnostics.wrong(
            "INK0216",
            f"WEIGHTS needs a column of numbers, one per tick, found {as_declared(kind)}",
            weights,
            f"`{weights}` is declared {as_declared(kind)}",
            notes=["conditions cannot read weights"],
            helps=[f"leave `{weights}` out of the columns of `{columns.owner}`; WEIGHTS reads it"],
        )


def _check_given(decl: s.StreamDecl, columns: ColumnList, diagnostics: Diagnostics) -> None:
    """GIVEN names the previous value of every uncertain column, in their order."""
    known = {column.text for _, column in (*_certain_roles(decl), *_uncertainty_roles(decl))}
    values = {name: kind for name, kind in columns.types.items() if name not in known}
    if len(values) != len(decl.given):
        owned = f"`{columns.owner}` has {listed(values)}" if values else f"`{columns.owner}` has none"
        diagnostics.wrong(
            "INK0331",
            f"GIVEN needs a column for the previous value of every uncertain column, found {len(decl.given)}"
            f" for {len(values)}",
            decl.given[-1],
            notes=[f"columns without another role are uncertain; {owned}"],
            helps=[f"write `GIVEN {', '.join(f'previous_{name}' for name in values)}`"] if values else [],
        )
        return
    for column, (value, kind) in zip(decl.given, values.items(), strict=True):
        found = columns.types.get(column.text)
        if found is not None and kind is not None and found is not kind:
            diagnostics.wrong(
                "INK0331",
                f"`{column}` must have the type of `{value}`, {as_declared(kind)}",
                column,
                f"`{column}` is declared {as_declared(found)}",
                helps=[f"declare `{column}` {as_declared(kind)}, or leave it out of the columns"],
            )


def _check_bound(bound: s.Ident, time: s.Ident, columns: ColumnList, diagnostics: Diagnostics) -> None:
    kind, counted = columns.types.get(bound.text), columns.types.get(time.text)
    if kind is None or counted is None or kind is counted or not {kind, counted} <= {Type.INTEGER, Type.TIME}:
        return
    diagnostics.wrong(
        "INK0303",
        f"`{time}` and `{bound}` have different types",
        bound,
        notes=[f"`{time}` is {as_declared(counted)}, `{bound}` is {as_declared(kind)}"],
        helps=[f"declare both alike, or leave `{bound}` out of the columns"],
    )
