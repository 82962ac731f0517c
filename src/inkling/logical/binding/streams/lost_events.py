"""`NUMBERED BY` and what `SEGMENTS` adds to it: how many events were lost, between which times, and what they were."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.streams.columns import ColumnList, as_declared
from inkling.model.schema import TableSchema
from inkling.model.types import Type
from inkling.model.uncertainty import LostEvents, Rate


def bind_lost_events(
    decl: s.StreamDecl, number: s.Ident, columns: ColumnList, catalog: Catalog, diagnostics: Diagnostics
) -> LostEvents:
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
    return LostEvents(
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
    """The first part of SEGMENTS that means nothing where no event can be lost."""
    clauses = (segments.count, segments.lo, segments.rate, segments.timeout)
    return min((part for part in clauses if part is not None), key=lambda part: part.span.start, default=None)


def _check_lengths(decl: s.StreamDecl, segments: s.SegmentsDecl, diagnostics: Diagnostics) -> None:
    if segments.rate is not None and decl.intensity is not None:
        diagnostics.wrong(
            "INK0302",
            "RATE cannot be combined with INTENSITY",
            segments.rate,
            notes=["RATE is constant, INTENSITY is a table of rates over time"],
            helps=["remove one of them"],
        )
    if segments.timeout is not None and segments.timeout.amount == 0:
        diagnostics.wrong(
            "INK0304",
            "TIMEOUT needs a length of time",
            segments.timeout,
            helps=["write for example `TIMEOUT 30 MINUTES`"],
        )


def _rate(rate: s.Rate | s.Ident | None) -> Rate | str | None:
    match rate:
        case s.Rate(count=count, per=per):
            return Rate(float(count), to_span(per))
        case _:
            return _text(rate)


def _text(name: s.Ident | None) -> str | None:
    return None if name is None else name.text


def _bind_intensity(
    name: s.Ident, decl: s.StreamDecl, columns: ColumnList, catalog: Catalog, diagnostics: Diagnostics
) -> str:
    """A table of times, each with the rate from then on."""
    table = _table(name, catalog, diagnostics)
    if table is None:
        return name.text
    kinds = tuple(column.type for column in table.columns)
    time = _time_type(decl, columns)
    allowed = (Type.INTEGER, Type.TIME) if time is None else (time,)
    if len(kinds) != 2 or kinds[0] not in allowed or kinds[1] not in (Type.DOUBLE, Type.INTEGER):
        since = as_declared(allowed[0])
        found = ", ".join(f"{column.name} {as_declared(column.type)}" for column in table.columns)
        diagnostics.wrong(
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
    """A table with numbers of events, some columns of KEY, and what the events of these numbers are."""
    table = _table(name, catalog, diagnostics)
    if table is None:
        return name.text
    problems = list(_problems_of_known(table, decl, columns))
    for problem, note in problems[:1]:
        diagnostics.wrong(
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
    """Columns that say something else than what an event was."""
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
    """What times of the stream are; None where only the data show it."""
    if not isinstance(decl.time, s.TimePoint):
        return None
    declared = {column.name.text for column in decl.columns}
    if decl.time.column.text in declared:
        return columns.types[decl.time.column.text]
    return Type.INTEGER if decl.tick is not None else None


def _table(name: s.Ident, catalog: Catalog, diagnostics: Diagnostics) -> TableSchema | None:
    found = catalog.tables.get(name.text)
    if found is None and name.text not in catalog.broken_tables:
        diagnostics.wrong(
            "INK0206", f"no table is called `{name}`", name, helps=did_you_mean(name.text, catalog.tables)
        )
    return found
