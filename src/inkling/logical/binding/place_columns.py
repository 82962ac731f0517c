"""Columns of the events that may fill a place."""

from __future__ import annotations

from inkling.language import syntax as s
from inkling.logical.binding.columns import refuse_op
from inkling.logical.binding.mistakes import Mistakes, did_you_mean, listed
from inkling.logical.binding.places import Place
from inkling.model.types import Type


def typed_column(place: Place, column: s.Ident, mistakes: Mistakes) -> Type | None:
    """The type of a column of a place, or None after saying what is wrong with it."""
    if column.text in place.columns:
        return place.columns[column.text]
    if not place.is_broken:
        _report(place, column, mistakes)
    return None


def _report(place: Place, column: s.Ident, mistakes: Mistakes) -> None:
    told_by = next((source.name for source in place.sources if source.op == column.text), None)
    if told_by is not None:
        refuse_op(told_by, column, mistakes)
        return
    near = did_you_mean(column.text, place.columns)
    partly = [source.name for source in place.sources if column.text in source.columns]
    if not place.sources:
        mistakes.wrong(
            "INK0204",
            f"`_` has no column `{column}`",
            column,
            notes=["`_` is any event of the scope, so it has only the columns that all of them share"],
            helps=near,
        )
    elif partly:
        lacking = [source.name for source in place.sources if source.name not in partly]
        note = f"there is none in {listed(lacking)}"
        if not lacking:
            kinds = (f"{source.columns[column.text]} in `{source.name}`" for source in place.sources)
            note = f"it is {', '.join(kinds)}"
        mistakes.wrong(
            "INK0218",
            f"`{column}` is not a column of every event that `{place.title}` can be",
            column,
            notes=[note],
        )
    else:
        owner = " | ".join(source.name for source in place.sources)
        notes = [] if near or not place.columns else [f"it has {listed(place.columns)}"]
        mistakes.wrong("INK0204", f"`{owner}` has no column `{column}`", column, notes=notes, helps=near)
