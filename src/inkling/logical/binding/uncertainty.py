"""The clauses of a stream that describe its uncertainty: imprecise times, probabilities, and lost events.

`NUMBERED BY` declares that events may be lost; `SEGMENTS` says which events open and close segments.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog, ColumnList, as_declared
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.expressions import to_span
from inkling.logical.plan import Pairing
from inkling.model import uncertainty as u
from inkling.model.schema import Column, TableSchema
from inkling.model.time import Clock, Duration
from inkling.model.types import Type


def words_of_time(time: s.TimeDecl | None) -> str:
    """The clause of a declaration of time, for messages."""
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
    decl: s.StreamDecl, columns: ColumnList, diagnostics: Diagnostics, tick: Duration | None, step: int
) -> u.ImpreciseTime | None:
    """The imprecise time of a stream; `tick` is the length of a tick, `step` its length in units of the clock."""
    widest = None if decl.at_most is None else to_span(decl.at_most)
    match decl.time:
        case s.TimeBetween(lo=lo, hi=hi, weights=weights):
            return u.ImpreciseTime(lo.text, hi.text, weights.text if weights else None, step, None, widest)
        case s.TimeAbout(column=column, error=error):
            bound = _error(error, columns, diagnostics)
            if bound is None:
                return None
            found = u.ImpreciseTime(column.text, column.text, None, step, bound, widest)
            _check_width(decl, error, tick, diagnostics)
            return found
        case _:
            if decl.at_most is not None:
                diagnostics.error(
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
) -> u.TimeError | None:
    match error:
        case s.Duration():
            return to_span(error)
        case s.Ident():
            columns.optional(error, "±", Type.INTEGER)
            return u.ErrorColumn(error.text)
        case s.ClockErrors(column=column, usual=usual, others=others):
            columns.require(column, "CLOCK", Type.STRING)
            seen: dict[str, s.ClockError] = {}
            for other in others:
                first = seen.setdefault(other.clock, other)
                if first is not other:
                    diagnostics.error(
                        "INK0381",
                        f"the clock '{other.clock}' has two errors: {to_span(first.at_most)} and"
                        f" {to_span(other.at_most)}",
                        other,
                        notes=[f"the first is at {diagnostics.location(first)}"],
                    )
            return u.ClockErrors(
                column.text, to_span(usual), tuple((one.clock, to_span(one.at_most)) for one in others)
            )


def _check_width(
    decl: s.StreamDecl, error: s.Duration | s.Ident | s.ClockErrors, tick: Duration | None, diagnostics: Diagnostics
) -> None:
    """Reports an AT MOST that is shorter than twice the error of a time."""
    if decl.at_most is None or isinstance(error, s.Ident):
        return
    errors = [error] if isinstance(error, s.Duration) else [error.usual, *(one.at_most for one in error.others)]
    for one in errors:
        span = to_span(one)
        wide = Duration(2 * span.amount, span.unit)
        if _is_longer(wide, to_span(decl.at_most), tick):
            diagnostics.error(
                "INK0382",
                f"AT MOST {to_span(decl.at_most)} is shorter than the interval of ± {span}",
                decl.at_most,
                notes=[f"a time with an error of ± {span} has an interval of {wide}"],
                helps=[f"write `AT MOST {wide}` or more, or leave it out"],
            )
            return


def _is_longer(one: Duration, other: Duration, tick: Duration | None) -> bool:
    """Whether one duration is longer; False if only one counts ticks and the length of a tick is unknown."""
    if one.unit == other.unit == "TICKS":
        return one.amount > other.amount
    lengths = [_microseconds(span, tick) for span in (one, other)]
    return lengths[0] is not None and lengths[1] is not None and lengths[0] > lengths[1]


def _microseconds(span: Duration, tick: Duration | None) -> Fraction | None:
    if span.unit != "TICKS":
        return span.microseconds
    return None if tick is None else span.amount * tick.microseconds


def check_own_lengths(lengths: Iterable[s.Duration], diagnostics: Diagnostics) -> None:
    """Reports durations that are no whole number of ticks or microseconds, where the data determine the clock."""
    for length in lengths:
        span = to_span(length)
        try:
            span.units(Clock.TICKS if span.unit == "TICKS" else Clock.TIMESTAMP)
        except ValueError as problem:
            diagnostics.error("INK0304", f"`{diagnostics.text_of(length)}` cannot be measured", length, str(problem))


def bind_uncertainty(
    decl: s.StreamDecl,
    columns: ColumnList,
    catalog: Catalog,
    diagnostics: Diagnostics,
    tick: Duration | None,
    step: int,
) -> u.Uncertainty | None:
    """The uncertainty of a stream; columns whose type follows from their option need not be declared.

    `step` is the number of clock units between two points in time.
    """
    _check_uncertainty_columns(decl, columns, diagnostics)
    found: dict[str, u.Uncertainty] = {}
    imprecise = bind_imprecise(decl, columns, diagnostics, tick, step)
    if imprecise is not None:
        found[words_of_time(decl.time)] = imprecise
    if decl.probability:
        columns.optional(decl.probability, "PROBABILITY", Type.DOUBLE, Type.INTEGER)
        found["PROBABILITY"] = u.ProbableValue(decl.probability.text, tuple(column.text for column in decl.given))
    if decl.numbered_by:
        found["NUMBERED BY"] = bind_lost_events(decl, decl.numbered_by, columns, catalog, diagnostics)
    if len(found) > 1:
        _reject_together(decl, diagnostics)
    return next(iter(found.values()), None)


def _reject_together(decl: s.StreamDecl, diagnostics: Diagnostics) -> None:
    """Reports kinds of uncertainty that a stream cannot have at once."""
    if decl.numbered_by is not None and decl.probability is not None:
        diagnostics.error(
            "INK0302",
            "NUMBERED BY cannot be combined with PROBABILITY",
            decl.probability,
            notes=[
                "numbers count the events that happened, so a missing number is a lost event; a probable event may not"
                " have happened at all"
            ],
            helps=[f"leave NUMBERED BY out, and declare `{decl.numbered_by}` as a column"],
        )
    elif decl.given:
        diagnostics.error(
            "INK0302",
            f"GIVEN cannot be combined with {words_of_time(decl.time)}",
            decl.given[0],
            notes=[
                "probabilities depend on the value before, and imprecise times do not determine which value that is"
            ],
            helps=["leave GIVEN out, or use the recorded times: `TIME column`"],
        )
    elif decl.numbered_by is not None:
        diagnostics.error(
            "INK0417",
            f"{words_of_time(decl.time)} together with NUMBERED BY is not supported yet",
            decl.name,
            notes=["lost events lie between the recorded times of their neighbors, which must be exact"],
            helps=["use the recorded times, `TIME column`, or leave NUMBERED BY out"],
        )
    else:
        diagnostics.error(
            "INK0417",
            f"{words_of_time(decl.time)} together with PROBABILITY is not supported yet",
            decl.name,
            notes=[
                "alternatives are rows of one KEY and time, and rows with imprecise times may or may not have one time"
            ],
            helps=[
                "declare two streams with a common column, one with the imprecise times and one with the probabilities,"
                " and join them: `PATTERN When a AND What b WHERE a.id = b.id`"
            ],
        )


def bind_pairing(decl: s.StreamDecl, columns: ColumnList, diagnostics: Diagnostics) -> Pairing | None:
    """SEGMENTS: which events of the stream open and close segments."""
    segments = decl.segments
    if segments is None:
        return None
    if isinstance(decl.time, s.TimeSpan):
        diagnostics.error(
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
        diagnostics.error(
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


NUMBERING_ROLES = {"ID", "ORDER BY"}
"""Roles that the column of NUMBERED BY may also have."""


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
        diagnostics.error(
            "INK0302",
            "NUMBERED BY cannot be combined with TIME FROM … TO",
            decl.numbered_by,
            notes=["sequence numbers reveal lost events, but not how long they lasted"],
            helps=["number the events that begin and end an interval, and add SEGMENTS"],
        )


def roles_of(decl: s.StreamDecl) -> Iterator[tuple[str, s.Ident]]:
    """The columns of a stream that have a role, each with the role."""
    yield from _certain_roles(decl)
    yield from _uncertainty_roles(decl)


def _check_roles(decl: s.StreamDecl, diagnostics: Diagnostics) -> None:
    taken = {column.text: role for role, column in _certain_roles(decl)}
    for role, column in _uncertainty_roles(decl):
        other = taken.setdefault(column.text, "")
        taken[column.text] = other or role
        if not other or (role == "NUMBERED BY" and other in NUMBERING_ROLES):
            continue
        what = f"{role} names `{column}` twice" if other == role else f"`{column}` cannot be both {other} and {role}"
        diagnostics.error("INK0302", what, column, helps=["name another column"])


def _certain_roles(decl: s.StreamDecl) -> Iterator[tuple[str, s.Ident]]:
    yield from (("DERIVE", item.name) for item in decl.derive)
    yield from key_and_time(decl)
    single = {"OP": decl.op, "ORDER BY": decl.order_by, "ID": decl.id}
    yield from ((role, column) for role, column in single.items() if column is not None)


def key_and_time(decl: s.StreamDecl) -> Iterator[tuple[str, s.Ident]]:
    """The columns of KEY and TIME, each with its role."""
    yield from (("KEY", column) for column in decl.key)
    yield from (("TIME", column) for column in time_columns(decl))


def time_columns(decl: s.StreamDecl) -> tuple[s.Ident, ...]:
    match decl.time:
        case s.TimePoint(column=column) | s.TimeAbout(column=column):
            return (column,)
        case s.TimeSpan(start=first, end=last) | s.TimeBetween(lo=first, hi=last):
            return (first, last)
        case None:
            return ()


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
    """Reports declared weights: weights are lists, for which the language has no type."""
    kind = columns.types.get(weights.text)
    if kind is not None:
        diagnostics.error(
            "INK0216",
            f"WEIGHTS needs a column of numbers, one per tick, found {as_declared(kind)}",
            weights,
            f"`{weights}` is declared {as_declared(kind)}",
            notes=["conditions cannot read weights"],
            helps=[f"leave `{weights}` out of the columns of `{columns.owner}`; WEIGHTS reads it"],
        )


def _check_given(decl: s.StreamDecl, columns: ColumnList, diagnostics: Diagnostics) -> None:
    """Checks that GIVEN names the previous value of every uncertain column, in the same order."""
    known = {column.text for _, column in roles_of(decl)}
    values = {name: kind for name, kind in columns.types.items() if name not in known}
    if len(values) != len(decl.given):
        owned = f"`{columns.owner}` has {listed(values)}" if values else f"`{columns.owner}` has none"
        diagnostics.error(
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
            diagnostics.error(
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
    diagnostics.error(
        "INK0303",
        f"`{time}` and `{bound}` have different types",
        bound,
        notes=[f"`{time}` is {as_declared(counted)}, `{bound}` is {as_declared(kind)}"],
        helps=[f"declare both alike, or leave `{bound}` out of the columns"],
    )


def bind_lost_events(
    decl: s.StreamDecl, number: s.Ident, columns: ColumnList, catalog: Catalog, diagnostics: Diagnostics
) -> u.LostEvents:
    columns.optional(number, "NUMBERED BY", Type.INTEGER)
    segments = decl.segments or s.SegmentsDecl()
    if segments.role:
        columns.require(segments.role, "ROLE", Type.STRING)
    if segments.count:
        columns.optional(segments.count, "COUNT", Type.INTEGER)
    if isinstance(segments.rate, s.Ident):
        columns.optional(segments.rate, "RATE", Type.DOUBLE)
    bounds = None
    if segments.lo and segments.hi:
        for column in (segments.lo, segments.hi):
            columns.optional(column, "BOUNDS", Type.INTEGER, Type.TIME)
        bounds = (segments.lo.text, segments.hi.text)
    _check_lengths(decl, segments, diagnostics)
    return u.LostEvents(
        number.text,
        _text(segments.role),
        _text(segments.count),
        bounds,
        _rate(segments.rate),
        decl.erlang or 1,
        None if decl.intensity is None else _bind_intensity(decl.intensity, decl, columns, catalog, diagnostics),
        None if decl.known is None else _bind_known(decl.known, decl, columns, catalog, diagnostics),
        None if segments.timeout is None else to_span(segments.timeout),
    )


def about_losses(segments: s.SegmentsDecl) -> s.Node | None:
    """The first part of SEGMENTS that applies only to lost events; None if there is none."""
    clauses = (segments.count, segments.lo, segments.rate, segments.timeout)
    return min((part for part in clauses if part is not None), key=lambda part: part.span.start, default=None)


def _check_lengths(decl: s.StreamDecl, segments: s.SegmentsDecl, diagnostics: Diagnostics) -> None:
    if segments.rate is not None and decl.intensity is not None:
        diagnostics.error(
            "INK0302",
            "RATE cannot be combined with INTENSITY",
            segments.rate,
            notes=["RATE is constant, INTENSITY is a table of rates over time"],
            helps=["remove one of them"],
        )
    if segments.timeout is not None and segments.timeout.amount == 0:
        diagnostics.error(
            "INK0304",
            "TIMEOUT needs a length of time",
            segments.timeout,
            helps=["write for example `TIMEOUT 30 MINUTES`"],
        )


def _rate(rate: s.Rate | s.Ident | None) -> u.Rate | str | None:
    match rate:
        case s.Rate(count=count, per=per):
            return u.Rate(float(count), to_span(per))
        case _:
            return _text(rate)


def _text(name: s.Ident | None) -> str | None:
    return None if name is None else name.text


def _bind_intensity(
    name: s.Ident, decl: s.StreamDecl, columns: ColumnList, catalog: Catalog, diagnostics: Diagnostics
) -> str:
    """INTENSITY: a table with times and the rate of events from each time on."""
    table = _table(name, catalog, diagnostics)
    if table is None:
        return name.text
    kinds = tuple(column.type for column in table.columns)
    time = _time_type(decl, columns)
    allowed = (Type.INTEGER, Type.TIME) if time is None else (time,)
    if len(kinds) != 2 or kinds[0] not in allowed or kinds[1] not in (Type.DOUBLE, Type.INTEGER):
        since = as_declared(allowed[0])
        found = ", ".join(f"{column.name} {as_declared(column.type)}" for column in table.columns)
        diagnostics.error(
            "INK0338",
            f"INTENSITY needs a table of two columns, a time of type {' or '.join(map(as_declared, allowed))}"
            " and a rate of type DOUBLE",
            name,
            f"`{name}` has ({found})",
            notes=["each row has the rate of events from its time on"],
            helps=[f"declare it as `TABLE {name}(since {since}, rate DOUBLE)`"],
        )
    return name.text


def _bind_known(
    name: s.Ident, decl: s.StreamDecl, columns: ColumnList, catalog: Catalog, diagnostics: Diagnostics
) -> str:
    """KNOWN FROM: a table with sequence numbers, columns of KEY, and known values of lost events."""
    table = _table(name, catalog, diagnostics)
    if table is None:
        return name.text
    problems = list(_problems_of_known(table, decl, columns))
    for problem, note in problems[:1]:
        diagnostics.error(
            "INK0338",
            f"KNOWN FROM `{name}` {problem}",
            name,
            notes=[note],
            helps=[f"declare `{name}` with `{decl.numbered_by} INT`, columns of KEY, and what lost events were"],
        )
    return name.text


def _problems_of_known(table: TableSchema, decl: s.StreamDecl, columns: ColumnList) -> Iterator[tuple[str, str]]:
    assert decl.numbered_by is not None
    number, keys = decl.numbered_by.text, {key.text for key in decl.key}
    roles = dict(_other_roles(decl))
    kinds = {column.name: column.type for column in table.columns}
    if number not in kinds:
        yield (f"lacks the column `{number}`", f"NUMBERED BY `{number}` says which event a row is about")
    for column, kind in kinds.items():
        declared = Type.INTEGER if column == number else columns.types.get(column)
        if column in roles:
            yield (
                f"cannot have the column `{column}`",
                f"`{column}` is {roles[column]} of `{columns.owner}`, which no table supplies for a lost event",
            )
        elif column != number and column not in columns.types:
            yield (
                f"has a column `{column}`, which `{columns.owner}` lacks",
                f"`{columns.owner}` has {listed(columns.types)}",
            )
        elif declared is not None and declared is not kind:
            yield (
                f"has `{column}` as {as_declared(kind)}, and `{columns.owner}` has it as {as_declared(declared)}",
                "both supply values of the same column",
            )
    if not set(kinds) - {number} - keys:
        yield "has no information about lost events", "it needs a column besides the number and the key"


def _other_roles(decl: s.StreamDecl) -> Iterator[tuple[str, str]]:
    """Columns that have a role, so that KNOWN FROM cannot supply them."""
    if isinstance(decl.time, s.TimePoint):
        yield decl.time.column.text, "the TIME"
    if decl.id is not None and decl.id != decl.numbered_by:
        yield decl.id.text, "the ID"
    yield from ((item.name.text, "a derived column") for item in decl.derive)
    segments = decl.segments or s.SegmentsDecl()
    rate = segments.rate if isinstance(segments.rate, s.Ident) else None
    named = {"OP": decl.op, "ROLE": segments.role, "COUNT": segments.count, "RATE": rate}
    yield from ((column.text, f"the {role}") for role, column in named.items() if column is not None)
    yield from ((bound.text, "a column of BOUNDS") for bound in (segments.lo, segments.hi) if bound is not None)


def _time_type(decl: s.StreamDecl, columns: ColumnList) -> Type | None:
    """The type of the times of a stream; None if the data determine it."""
    if not isinstance(decl.time, s.TimePoint):
        return None
    declared = {column.name.text for column in decl.columns}
    if decl.time.column.text in declared:
        return columns.types[decl.time.column.text]
    return Type.INTEGER if decl.tick is not None else None


def _table(name: s.Ident, catalog: Catalog, diagnostics: Diagnostics) -> TableSchema | None:
    found = catalog.tables.get(name.text)
    if found is None and name.text not in catalog.broken_tables:
        diagnostics.error("INK0206", f"unknown table `{name}`", name, helps=did_you_mean(name.text, catalog.tables))
    return found
