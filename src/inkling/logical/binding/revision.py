"""Streams whose past can change: `OP column FOR d`, and outputs of what was withdrawn."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.language import syntax as s
from inkling.logical.binding.catalog import Catalog
from inkling.logical.binding.columns import ColumnList
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.mistakes import Mistakes, listed
from inkling.model.time import Span
from inkling.model.types import Type


def check_op(decl: s.StreamDecl, columns: ColumnList, mistakes: Mistakes) -> None:
    """What must hold of the column that tells events from withdrawals, which then is no column of events."""
    if decl.op is None:
        return
    columns.optional(decl.op, "OP", Type.STRING)
    other = next((role for role, column in _roles(decl) if column.text == decl.op.text), None)
    if other is not None:
        mistakes.wrong(
            "INK0302",
            f"`{decl.op}` cannot be both {other} and OP",
            decl.op,
            notes=["the column of OP says `+` or `-`, and nothing about the event"],
            helps=["name another column"],
        )
    else:
        columns.set_aside(decl.op)
    if decl.id is None:
        mistakes.wrong(
            "INK0390",
            f"`{decl.name}` has withdrawals, but its events have no id",
            decl.op,
            notes=["a withdrawal names its event by the id"],
            helps=["add `ID column`"],
        )


def check_op_for(decl: s.StreamDecl, tick: Span | None, mistakes: Mistakes) -> None:
    """Report a time for withdrawals that ends before late events have come."""
    if decl.op_for is None or decl.late is None:
        return
    late, window = to_span(decl.late), to_span(decl.op_for)
    if (late.unit == "TICKS") != (window.unit == "TICKS") and tick is None:
        return  # one of them does not fit the stream, which is told elsewhere
    if window.length(tick) < late.length(tick):
        mistakes.wrong(
            "INK0302",
            f"an event of `{decl.name}` can come later than it can be withdrawn",
            decl.op_for,
            notes=[f"LATENESS is `{mistakes.words(decl.late)}`, which is longer"],
            helps=[f"write `FOR {mistakes.words(decl.late)}` or longer"],
        )


def warn_of_empty_output(decl: s.EventDecl, streams: frozenset[str], catalog: Catalog, mistakes: Mistakes) -> None:
    """Warn of ON RETRACT where no result is ever withdrawn."""
    if decl.on_retract is None or streams & catalog.revising:
        return
    mistakes.warn(
        "INK0392",
        f"nothing of `{decl.name}` is ever withdrawn, so `{decl.on_retract}` stays empty",
        decl.on_retract,
        notes=[f"neither OP nor SPECULATIVE is declared for {listed(sorted(streams))}"] if streams else [],
        helps=["declare `OP column FOR 1 HOUR` or `LATENESS 10 MINUTES SPECULATIVE` for a stream behind it"],
    )


def _roles(decl: s.StreamDecl) -> Iterator[tuple[str, s.Ident]]:
    yield from (("KEY", column) for column in decl.key)
    match decl.time:
        case s.TimePoint(column=column) | s.TimeAbout(column=column):
            yield "TIME", column
        case s.TimeSpan(start=first, end=last) | s.TimeBetween(lo=first, hi=last):
            yield "TIME", first
            yield "TIME", last
    single = {"ID": decl.id, "ORDER BY": decl.order_by}
    yield from ((role, column) for role, column in single.items() if column is not None)
