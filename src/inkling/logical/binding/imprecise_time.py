"""Where a declaration leaves open when events happened: between two times, or around one."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from inkling.language import syntax as s
from inkling.logical.binding.columns import ColumnList
from inkling.logical.binding.expressions import to_span
from inkling.logical.binding.mistakes import Mistakes
from inkling.model.time import Clock, Span
from inkling.model.types import Type
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime, TimeError


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
    decl: s.StreamDecl, columns: ColumnList, mistakes: Mistakes, tick: Span | None, step: int
) -> ImpreciseTime | None:
    """The doubt about times; `tick` is how long a tick lasts, and `step` how many units of the clock it has."""
    widest = None if decl.at_most is None else to_span(decl.at_most)
    match decl.time:
        case s.TimeBetween(lo=lo, hi=hi, weights=weights):
            return ImpreciseTime(lo.text, hi.text, weights.text if weights else None, step, None, widest)
        case s.TimeAbout(column=column, error=error):
            bound = _error(error, columns, mistakes)
            if bound is None:
                return None
            found = ImpreciseTime(column.text, column.text, None, step, bound, widest)
            _check_width(decl, error, tick, mistakes)
            return found
        case _:
            if decl.at_most is not None:
                mistakes.wrong(
                    "INK0380",
                    f"AT MOST limits imprecise times, and those of `{decl.name}` are certain",
                    decl.at_most,
                    helps=["leave AT MOST out, or say how imprecise times are, for example `TIME t ± 5 SECONDS`"],
                )
            return None


def _error(error: s.Duration | s.Ident | s.ClockErrors, columns: ColumnList, mistakes: Mistakes) -> TimeError | None:
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
                    mistakes.wrong(
                        "INK0381",
                        f"the clock '{other.clock}' has two errors: {to_span(first.at_most)} and"
                        f" {to_span(other.at_most)}",
                        other,
                        notes=[f"the first stands at {mistakes.place(first)}"],
                    )
            return ClockErrors(column.text, to_span(usual), tuple((one.clock, to_span(one.at_most)) for one in others))


def _check_width(
    decl: s.StreamDecl, error: s.Duration | s.Ident | s.ClockErrors, tick: Span | None, mistakes: Mistakes
) -> None:
    """An error makes an interval of twice its length, which AT MOST has to leave room for."""
    if decl.at_most is None or isinstance(error, s.Ident):
        return
    errors = [error] if isinstance(error, s.Duration) else [error.usual, *(one.at_most for one in error.others)]
    for one in errors:
        span = to_span(one)
        wide = Span(2 * span.amount, span.unit)
        if _is_longer(wide, to_span(decl.at_most), tick):
            mistakes.wrong(
                "INK0382",
                f"AT MOST {to_span(decl.at_most)} leaves no room for ± {span}",
                decl.at_most,
                notes=[f"a time that may be wrong by {span} to both sides lies in an interval of {wide}"],
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


def check_own_lengths(lengths: Iterable[s.Duration], mistakes: Mistakes) -> None:
    """Lengths in the declaration of a stream whose data tell what times count: whole numbers of either."""
    for length in lengths:
        span = to_span(length)
        try:
            span.units(Clock.TICKS if span.unit == "TICKS" else Clock.TIMESTAMP)
        except ValueError as problem:
            mistakes.wrong("INK0304", f"`{mistakes.words(length)}` cannot be measured", length, str(problem))
