"""`NUMBERED BY` and what `SEGMENTS` adds to it: how many events were lost, between which times, and what they were."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.columns import ColumnList
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.lost_tables import bind_intensity, bind_known
from inkling.logical.binding.mistakes import Mistakes
from inkling.model.types import Type
from inkling.model.uncertainty import LostEvents, Rate


def bind_lost_events(
    decl: s.StreamDecl, number: s.Ident, columns: ColumnList, catalog: Catalog, mistakes: Mistakes
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
    _check_lengths(decl, segments, mistakes)
    return LostEvents(
        number.text,
        _text(segments.role),
        _text(segments.count),
        bounds,
        _rate(segments.rate),
        decl.erlang or 1,
        None if decl.intensity is None else bind_intensity(decl.intensity, decl, columns, catalog, mistakes),
        None if decl.known is None else bind_known(decl.known, decl, columns, catalog, mistakes),
        None if segments.timeout is None else to_span(segments.timeout),
    )


def about_losses(segments: s.SegmentsDecl) -> s.Node | None:
    """The first part of SEGMENTS that means nothing where no event can be lost."""
    told = (segments.count, segments.lo, segments.rate, segments.timeout)
    return min((part for part in told if part is not None), key=lambda part: part.span.start, default=None)


def _check_lengths(decl: s.StreamDecl, segments: s.SegmentsDecl, mistakes: Mistakes) -> None:
    if segments.rate is not None and decl.intensity is not None:
        mistakes.wrong(
            "INK0302",
            "RATE does not fit INTENSITY",
            segments.rate,
            notes=["a rate is one number, and the table has another one for each time"],
            helps=["leave one of them out"],
        )
    if segments.timeout is not None and segments.timeout.amount == 0:
        mistakes.wrong(
            "INK0304",
            "TIMEOUT needs a length of time",
            segments.timeout,
            helps=["say how long a key may be silent, for example `TIMEOUT 30 MINUTES`"],
        )


def _rate(rate: s.Rate | s.Ident | None) -> Rate | str | None:
    match rate:
        case s.Rate(count=count, per=per):
            return Rate(float(count), to_span(per))
        case _:
            return _text(rate)


def _text(name: s.Ident | None) -> str | None:
    return None if name is None else name.text
