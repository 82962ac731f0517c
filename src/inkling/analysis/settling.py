"""How long after a result is known other matches can still change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from inkling.analysis.policies import parts_of
from inkling.analysis.window import outermost_sequences
from inkling.logical import plan as p
from inkling.logical.moments import final_moments
from inkling.logical.occurrences import can_be_empty
from inkling.model.time import FOREVER, Span


def settling_time(event: p.EventPlan, measure: Callable[[Span], int]) -> int:
    """How long the results of an event must be held back after they are known, for its own waits.

    Matches of one result, or matches that CONSUME RESTART compares, may become known at different times: an absence
    at the end of a sequence is settled long after the last event, and something else may not have to wait for it.
    """
    moments = _moments(event)
    if None in moments:
        return FOREVER
    limits = _limits(event.pattern) + Counter(limit for limit in moments if limit is not None)
    if not limits or (_wait_alike(event.pattern, limits) and not event.restart):
        return 0
    return sum(limit.count - 1 if isinstance(limit, p.Points) else measure(limit) for limit in limits.elements())


def _moments(event: p.EventPlan) -> tuple[Span | p.Points | None, ...]:
    """How long a match may wait for the clock while another one of the same events is known already."""
    if event.per is not p.Per.MATCH or not any(_is_choice(part) for part in parts_of(event.pattern)):
        return ()  # a match ends, and is known, when the clock is there
    deadlines = (part.after for part in parts_of(event.pattern) if isinstance(part, p.Deadline))
    return (*final_moments(event), *deadlines)


def _is_choice(part: p.Part) -> bool:
    """Whether one list of events may be a match in several ways, at the end of which the clock decides."""
    if isinstance(part, p.Repetition):
        return any(isinstance(one, p.TimePoint | p.Deadline) for one in parts_of(part))
    return isinstance(part, p.Disjunction)


def _limits(pattern: p.Pattern) -> Counter[Span | p.Points]:
    """The limits of the absences at the end of sequences."""
    found: Counter[Span | p.Points] = Counter()
    for part in parts_of(pattern):
        if isinstance(part, p.Sequence) and _may_wait(part):
            assert isinstance(part.within, Span | p.Points), "an absence at the end of a sequence has a limit"
            found[part.within] += 1
    return found


def _may_wait(sequence: p.Sequence) -> bool:
    for part in reversed(sequence.parts):
        if isinstance(part, p.Absent):
            return True
        if not can_be_empty(part):
            return False
    return False


def _wait_alike(pattern: p.Pattern, limits: Counter[Span | p.Points]) -> bool:
    """Whether every match is known one and the same length of time after its start."""
    outermost = list(outermost_sequences(pattern))
    return (
        len(limits) == 1
        and limits.total() == len(outermost)
        and all(isinstance(sequence.parts[-1], p.Absent) for sequence in outermost)
        and _only_sequences(pattern)
    )


def _only_sequences(pattern: p.Pattern) -> bool:
    match pattern:
        case p.Sequence():
            return True
        case p.Narrowed(pattern=inner):
            return _only_sequences(inner)
        case p.Disjunction(items=items):
            return all(_only_sequences(item) for item in items)
        case _:
            return False
