"""Where a declaration says the doubt of its stream comes from."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.columns import ColumnList
from inkling.logical.binding.doubt_columns import check_doubt_columns
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
    check_doubt_columns(decl, columns, mistakes)
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
