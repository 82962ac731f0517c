"""Where a declaration says the doubt of its stream comes from."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.columns import ColumnList, as_declared
from inkling.logical.binding.imprecise_time import bind_imprecise, words_of_time
from inkling.logical.binding.lost_events import about_losses, bind_lost_events
from inkling.logical.binding.mistakes import Mistakes, listed
from inkling.logical.plan import Pairing
from inkling.model.schema import Column
from inkling.model.time import Span
from inkling.model.types import Type
from inkling.model.uncertainty import Doubt, ProbableValue


def bind_doubt(
    decl: s.StreamDecl, columns: ColumnList, catalog: Catalog, mistakes: Mistakes, tick: Span | None, step: int
) -> Doubt | None:
    """The doubt of a stream; columns whose option tells their type need not be declared.

    `step` is how many units of the clock lie between two moments.
    """
    _check_doubt_columns(decl, columns, mistakes)
    found: dict[str, Doubt] = {}
    imprecise = bind_imprecise(decl, columns, mistakes, tick, step)
    if imprecise is not None:
        found[words_of_time(decl.time)] = imprecise
    if decl.probability:
        columns.optional(decl.probability, "PROBABILITY", Type.DOUBLE, Type.INTEGER)
        found["PROBABILITY"] = ProbableValue(decl.probability.text, tuple(column.text for column in decl.given))
    if decl.numbered_by:
        found["NUMBERED BY"] = bind_lost_events(decl, decl.numbered_by, columns, catalog, mistakes)
    if len(found) > 1:
        mistakes.wrong(
            "INK0417",
            f"several kinds of doubt in one stream are not supported yet: {listed(found)}",
            decl.name,
            helps=["declare one stream per kind of doubt"],
        )
    return next(iter(found.values()), None)


def bind_pairing(decl: s.StreamDecl, columns: ColumnList, mistakes: Mistakes) -> Pairing | None:
    """SEGMENTS: how the events of the stream open and close segments."""
    segments = decl.segments
    if segments is None:
        return None
    if isinstance(decl.time, s.TimeSpan):
        mistakes.wrong(
            "INK0302",
            "SEGMENTS does not fit TIME FROM … TO",
            segments,
            notes=["such events are segments themselves; with SEGMENTS, one event opens and another closes"],
            helps=["leave SEGMENTS out"],
        )
    if decl.numbered_by:
        return Pairing(number=_column(decl.numbered_by, columns))
    about = about_losses(segments)
    if about is not None:
        mistakes.wrong(
            "INK0302",
            "COUNT, BOUNDS, RATE and TIMEOUT do not fit SEGMENTS without NUMBERED BY",
            about,
            notes=["they tell about lost events, which only gaps in a numbering show"],
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


def _check_doubt_columns(decl: s.StreamDecl, columns: ColumnList, mistakes: Mistakes) -> None:
    _check_roles(decl, mistakes)
    if isinstance(decl.time, s.TimeBetween) and decl.time.weights is not None:
        _check_weights(decl.time.weights, columns, mistakes)
    if decl.given:
        _check_given(decl, columns, mistakes)
    if decl.segments is not None:
        for bound in (decl.segments.lo, decl.segments.hi):
            if bound is not None and isinstance(decl.time, s.TimePoint):
                _check_bound(bound, decl.time.column, columns, mistakes)
    if decl.numbered_by is not None and isinstance(decl.time, s.TimeSpan):
        mistakes.wrong(
            "INK0302",
            "NUMBERED BY does not fit TIME FROM … TO",
            decl.numbered_by,
            notes=["numbers show when an event was lost, but not how long it lasted"],
            helps=["number the events that begin and end an interval, and add SEGMENTS"],
        )


def _check_roles(decl: s.StreamDecl, mistakes: Mistakes) -> None:
    taken = {column.text: role for role, column in _certain_roles(decl)}
    for role, column in _doubt_roles(decl):
        other = taken.setdefault(column.text, "")
        taken[column.text] = other or role
        if not other or (role == "NUMBERED BY" and other in MAY_BE_NUMBERS_TOO):
            continue
        what = f"{role} names `{column}` twice" if other == role else f"`{column}` cannot be both {other} and {role}"
        mistakes.wrong("INK0302", what, column, helps=["name another column"])


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


def _doubt_roles(decl: s.StreamDecl) -> Iterator[tuple[str, s.Ident]]:
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


def _check_weights(weights: s.Ident, columns: ColumnList, mistakes: Mistakes) -> None:
    """Weights are no value of the language, so no declared type fits them."""
    kind = columns.types.get(weights.text)
    if kind is not None:
        mistakes.wrong(
            "INK0216",
            f"WEIGHTS needs a column of numbers, one per tick, found {as_declared(kind)}",
            weights,
            f"`{weights}` is declared {as_declared(kind)}",
            notes=["conditions cannot read weights"],
            helps=[f"leave `{weights}` out of the columns of `{columns.owner}`; it is read all the same"],
        )


def _check_given(decl: s.StreamDecl, columns: ColumnList, mistakes: Mistakes) -> None:
    """GIVEN names the previous value of every column that is in doubt, in their order."""
    known = {column.text for _, column in (*_certain_roles(decl), *_doubt_roles(decl))}
    values = {name: kind for name, kind in columns.types.items() if name not in known}
    if len(values) != len(decl.given):
        in_doubt = f"`{columns.owner}` has {listed(values)}" if values else f"`{columns.owner}` has none"
        mistakes.wrong(
            "INK0331",
            f"GIVEN needs a column for the previous value of every column in doubt, found {len(decl.given)}"
            f" for {len(values)}",
            decl.given[-1],
            notes=[f"columns without another role are in doubt; {in_doubt}"],
            helps=[f"write `GIVEN {', '.join(f'previous_{name}' for name in values)}`"] if values else [],
        )
        return
    for column, (value, kind) in zip(decl.given, values.items(), strict=True):
        found = columns.types.get(column.text)
        if found is not None and kind is not None and found is not kind:
            mistakes.wrong(
                "INK0331",
                f"`{column}` is to hold the previous value of `{value}`, which is {as_declared(kind)}",
                column,
                f"`{column}` is declared {as_declared(found)}",
                helps=[f"declare `{column}` {as_declared(kind)}, or leave it out of the columns"],
            )


def _check_bound(bound: s.Ident, time: s.Ident, columns: ColumnList, mistakes: Mistakes) -> None:
    kind, counted = columns.types.get(bound.text), columns.types.get(time.text)
    if kind is None or counted is None or kind is counted or not {kind, counted} <= {Type.INTEGER, Type.TIME}:
        return
    mistakes.wrong(
        "INK0303",
        f"`{time}` and `{bound}` hold times of different kinds",
        bound,
        notes=[f"`{time}` is {as_declared(counted)}, `{bound}` is {as_declared(kind)}"],
        helps=[f"declare both alike, or leave `{bound}` out of the columns"],
    )
