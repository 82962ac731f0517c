"""The horizon of an event: the longest time from the first event of a result until the result is final."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p
from inkling.logical.patterns.maximal import grows
from inkling.logical.printing.text import span_text
from inkling.logical.recursion import may_lack
from inkling.model.time import Duration


@dataclass(frozen=True, slots=True)
class Horizon:
    """The sum of windows and deadlines between the first event of a result and its emission."""

    windows: tuple[p.Window, ...]


def horizon_of(event: p.EventPlan) -> Verdict[Horizon | None]:
    """How far back an evaluation has to look, or None when there is no limit."""
    deadlines = tuple(part.after for part in p.parts_of(event.pattern) if isinstance(part, p.Deadline))
    if isinstance(event.pattern, p.Quantified):
        return Verdict(None, "ALL, SOME and AT LEAST look at every segment of a key")
    if isinstance(event.pattern, p.Sliding):
        return _reach_of_window(event.pattern, event.on_change)
    if event.per is p.Per.VALUES:
        return Verdict(None, "PER VALUES: a result can depend on events at any two times")
    if event.restart:
        return Verdict(None, "CONSUME RESTART: each result depends on earlier results")
    if event.consumption is not None:
        policy = event.consumption.selection.value
        return Verdict(None, f"CONSUME {policy}: which events are consumed depends on all earlier events")
    # a match that MAXIMAL compares with may begin a window earlier
    growing = (event.within,) if event.within is not None and grows(event.pattern) else ()
    if event.keep is not None:
        return Verdict(
            Horizon((event.keep, *growing, *_looked_back(event.pattern))), f"KEEP FOR {span_text(event.keep)}"
        )
    if any(isinstance(part, p.StreamStart) for part in p.parts_of(event.pattern)):
        return Verdict(None, "AT START: an absence since the beginning depends on all earlier events")
    if isinstance(event.within, p.EventCount):
        return Verdict(None, f"WITHIN {event.within.count} EVENTS limits events, not time")
    if event.within is None and not _limits_itself(event.pattern):
        return Verdict(None, "no WITHIN: a match can last any length of time")
    by_end = event.per is p.Per.END
    settled = [part for part in outermost_sequences(event.pattern) if _is_settled_by(part, event.within, by_end)]
    inner = tuple(
        part.within
        for part in p.parts_of(event.pattern)
        if isinstance(part, p.Narrowed | p.Sequence)
        and isinstance(part.within, Duration | p.Points)
        and not any(part is one for one in settled)
    )
    inner += tuple(_of_left_joins(event.pattern))
    if event.within is None:
        limits = (*inner, *deadlines)
        reason = "limits and deadlines inside the pattern" if limits else "a single event is known immediately"
        return Verdict(Horizon(limits), reason)
    reason = f"{window_text(event.within)} and deadlines inside the pattern"
    return Verdict(Horizon((event.within, *growing, *inner, *deadlines)), reason)


def _reach_of_window(pattern: p.Sliding, on_change: bool) -> Verdict[Horizon | None]:
    if on_change:
        return Verdict(None, "ON CHANGE: each result depends on the previous one")
    if pattern.since is not None:
        return Verdict(None, "SINCE: every event can open a window, and none is ever closed")
    if isinstance(pattern.last, p.EventCount):
        return Verdict(None, f"LAST {pattern.last.count} EVENTS limits events, not time")
    return Verdict(Horizon((pattern.last,)), f"LAST {span_text(pattern.last)}")


def outermost_sequences(pattern: p.Pattern) -> Iterator[p.Sequence]:
    """The sequences that start where the match starts and end where it ends."""
    match pattern:
        case p.Sequence():
            yield pattern
        case p.Narrowed(pattern=inner):
            yield from outermost_sequences(inner)
        case p.Disjunction(items=items):
            for item in items:
                yield from outermost_sequences(item)
        case _:
            pass


def _is_settled_by(sequence: p.Sequence, within: p.Window | None, by_end: bool) -> bool:
    """Whether absences at its borders need nothing beyond the window of the whole match.

    One at the end is settled a window after the start, one at the start looks a window back from the end. Only with
    both is there something to look at a window before what starts a window ago; or where matches are compared that
    end together, of which one may have started that much earlier.
    """
    if sequence.within != within:
        return False
    sure = [place for place, part in enumerate(sequence.parts) if not may_lack(part)]
    absent = [place for place, part in enumerate(sequence.parts) if isinstance(part, p.Absent)]
    at_start = any(not sure or place < sure[0] for place in absent)
    at_end = any(not sure or place > sure[-1] for place in absent)
    return not (at_end and (at_start or by_end))


def _of_left_joins(pattern: p.Pattern) -> Iterator[Duration | p.Points]:
    """Per fact, and per OPTIONAL that may end before the match does, how far it looks back from there."""
    match pattern:
        case p.LeftJoin(left=left, right=right, kind=kind):
            of_end = isinstance(left, p.LeftJoin) and left.kind is not p.JoinKind.OUTER  # it looks back from there too
            if kind is not p.JoinKind.OUTER and not of_end:
                yield from _limit_of(pattern)
            yield from _of_left_joins(left)
            yield from _looking_back(right)
        case p.Narrowed(pattern=inner):
            yield from _of_left_joins(inner)
        case p.Disjunction(items=items):
            for item in items:
                yield from _of_left_joins(item)
        case _:
            yield from _looking_back(pattern)


def _looking_back(pattern: p.Pattern) -> Iterator[Duration | p.Points]:
    for part in p.parts_of(pattern):
        if isinstance(part, p.LeftJoin):
            yield from _limit_of(part)


def _limit_of(join: p.LeftJoin) -> Iterator[Duration | p.Points]:
    yield from [limit for limit in join.limits if isinstance(limit, Duration | p.Points)][-1:]


def _limits_itself(pattern: p.Pattern) -> bool:
    """Whether a pattern without WITHIN around it is still known within limits that are written inside it."""
    match pattern:
        case p.Leaf():
            return True
        case p.Narrowed(pattern=inner, within=within):
            return isinstance(within, Duration | p.Points) or _limits_itself(inner)
        case p.Disjunction(items=items):
            return all(_limits_itself(item) for item in items)
        case p.Sequence(parts=parts):
            placed = [part for part in parts if not isinstance(part, p.Absent | p.Deadline | p.StreamStart)]
            return len(placed) == 1 and _limits_itself(placed[0])
        case _:
            return False


def total_horizon(events: Iterable[p.EventPlan], unit: Callable[[Duration], int]) -> int | None:
    """How far back any result can reach through all these events, one depending on another; None without limit."""
    total = 0
    for event in events:
        horizon = horizon_of(event).conclusion
        if horizon is None:
            return None
        total += total_length(horizon.windows, unit)
    return total


def total_length(windows: Iterable[p.Window], unit: Callable[[Duration], int]) -> int:
    """How long windows of time are together; those that count events have no length."""
    lengths = (
        window.count - 1 if isinstance(window, p.Points) else unit(window)
        for window in windows
        if isinstance(window, p.Points | Duration)
    )
    return sum(lengths)


def _looked_back(pattern: p.Pattern) -> Iterator[p.Window]:
    """How far before a match, besides its own length, absences at the start of sequences and OPTIONAL look."""
    yield from _of_left_joins(pattern)
    for part in p.parts_of(pattern):
        match part:
            case p.StreamStart(back=back) if back is not None:
                yield back
            case p.Sequence(within=within) if within is not None:
                yield within
            case _:
                pass


def window_text(window: p.Window) -> str:
    match window:
        case p.Points(count=count):
            return f"WITHIN {count} POINTS"
        case p.EventCount(count=count):
            return f"WITHIN {count} EVENTS"
        case _:
            return f"WITHIN {window}"
