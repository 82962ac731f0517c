"""How long after a result is known other matches can still change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from inkling.analysis.policies import parts_of
from inkling.analysis.window import outermost_sequences
from inkling.logical import plan as p
from inkling.logical.occurrences import can_be_empty
from inkling.model.time import Span


def settling_time(event: p.EventPlan, measure: Callable[[Span], int]) -> int:
    """How long the results of an event must be held back after they are known, for its own waits.

    Matches of one result, or matches that CONSUME RESTART compares, may become known at different times: an absence
    at the end of a sequence is settled long after the last event, and something else may not have to wait for it.
    """
    limits = _limits(event.pattern)
    if not limits or (_wait_alike(event.pattern, limits) and not event.restart):
        return 0
    return sum(limit.count - 1 if isinstance(limit, p.Points) else measure(limit) for limit in limits.elements())


def _limits(pattern: p.Pattern) -> Counter[Span | p.Points]:
    """The limits of the absences at the end of sequences; deadlines end a match, so nothing is known after them."""
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
