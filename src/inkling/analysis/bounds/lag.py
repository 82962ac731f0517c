"""How far results are behind the watermark: how long they wait, and how long until they are final."""

from collections import Counter
from collections.abc import Callable
from functools import reduce
from operator import or_

from inkling.analysis.bounds.window import outermost_sequences, total_length
from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p
from inkling.logical.by_identity import by_identity
from inkling.logical.patterns.maximal import grows
from inkling.logical.patterns.moments import final_moments
from inkling.logical.plan import may_end_absent
from inkling.logical.printing.text import window_text
from inkling.logical.recursion import group_of
from inkling.model.time import FOREVER, Duration


def lag_of(event: p.EventPlan, program: p.ProgramPlan, unit: Callable[[Duration], int]) -> int:
    """The matches of an event are complete up to the watermark minus this lag.

    A derived event that waits is emitted long after its end. Until then, its absence is not final, nor which event is
    the next one.
    """
    behind = 0
    group = group_of(event, program)
    for source in group.outer_sources:
        used = program.event(source)
        if used is not None:
            behind = max(behind, settled_after(used, program, unit) + waiting_time(used, program, unit))
    if group.is_recursive:  # it reads its own results, which wait as long as what they depend on
        behind += waiting_time(event, program, unit)
    return min(behind, FOREVER)


def settled_after(event: p.EventPlan, program: p.ProgramPlan, unit: Callable[[Duration], int]) -> int:
    """How long after a result of an event is emitted it is final, including its own waits."""
    return lag_of(event, program, unit) + settling_time(event, unit)


def waiting_time(event: p.EventPlan, program: p.ProgramPlan, unit: Callable[[Duration], int]) -> int:
    """The longest time between the end of a result and its emission; PER VALUES waits for the end of the stream."""
    if event.per is p.Per.VALUES or waits_without_limit(event, program):
        return FOREVER
    return total_length(wait_of(event, program).conclusion, unit)


def settling_time(event: p.EventPlan, unit: Callable[[Duration], int]) -> int:
    """How long the results of an event are buffered because of its own waits.

    Matches of one result, or matches that CONSUME RESTART compares, may be complete at different times: an absence at
    the end of a sequence is final long after the last event, and another match may not wait for it.
    """
    moments = _moments(event)
    if None in moments:
        return FOREVER
    limits = _limits(event.pattern) + Counter(limit for limit in moments if limit is not None)
    if grows(event.pattern):
        if not limits and not event.restart:
            return 0  # every match waits as long as the window
        limits += Counter([_limit(event)])
    elif not limits or (_wait_alike(event.pattern, limits) and not event.restart):
        return 0
    return sum(limit.count - 1 if isinstance(limit, p.Points) else unit(limit) for limit in limits.elements())


def _moments(event: p.EventPlan) -> tuple[Duration | p.Points | None, ...]:
    """How long a match may wait for the clock while another one of the same events is known already."""
    if event.per is not p.Per.MATCH or not any(_is_choice(part) for part in p.parts_of(event.pattern)):
        return ()  # a match ends, and is known, when the clock is there
    deadlines = (part.after for part in p.parts_of(event.pattern) if isinstance(part, p.Deadline))
    return (*final_moments(event), *deadlines)


def _is_choice(part: p.Part) -> bool:
    """Whether one list of events may be a match in several ways, at the end of which the clock decides."""
    if isinstance(part, p.Repetition):
        return any(isinstance(one, p.TimePoint | p.Deadline) for one in p.parts_of(part))
    return isinstance(part, p.Disjunction)


def _limits(pattern: p.Pattern) -> Counter[Duration | p.Points]:
    """The limits of the absences at the end of sequences."""
    found: Counter[Duration | p.Points] = Counter()
    for part in p.parts_of(pattern):
        if isinstance(part, p.Sequence) and may_end_absent(part):
            assert isinstance(part.within, Duration | p.Points), "an absence at the end of a sequence has a limit"
            found[part.within] += 1
    return found


def _wait_alike(pattern: p.Pattern, limits: Counter[Duration | p.Points]) -> bool:
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


Waits = tuple[p.Window, ...]
"""Lengths of time whose sum bounds the wait; none when a result is known with its last event."""


@by_identity
def wait_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Waits]:
    """The longest wait between the last event of a match and the moment nothing can undo it."""
    own = tuple(_own_waits(event.pattern).elements())
    growing = (_limit(event),) if grows(event.pattern) else ()
    moments = Counter(limit for limit in final_moments(event) if limit is not None)
    inherited = {
        source: waits
        for source in group_of(event, program).outer_sources
        if (used := program.event(source)) is not None and (waits := wait_of(used, program).conclusion)
    }
    reasons = [f"{window_text(window)} for an absence" for window in own]
    reasons += [f"{window_text(window)} for the time in AT" for window in moments]
    reasons += ["until the time in AT"] if None in final_moments(event) else []
    reasons += [f"{source} itself waits" for source in inherited]
    reasons += [f"{window_text(window)} for MAXIMAL" for window in growing]
    total = (*own, *growing, *moments, *(window for waits in inherited.values() for window in waits))
    return Verdict(total, "; ".join(reasons) or "a result is known with its last event")


def _limit(event: p.EventPlan) -> Duration | p.Points:
    assert isinstance(event.within, Duration | p.Points), "a MAXIMAL repetition at the end needs a limit"
    return event.within


@by_identity
def waits_without_limit(event: p.EventPlan, program: p.ProgramPlan) -> bool:
    """Whether a result, or one that it depends on, may wait for a time that can lie any time after the last event."""
    used = (program.event(source) for source in group_of(event, program).outer_sources)
    return None in final_moments(event) or any(waits_without_limit(one, program) for one in used if one is not None)


def _own_waits(part: p.Part) -> Counter[p.Window]:
    """Lengths of time that a part waits; of alternatives the longest is enough, so what they share counts once."""
    match part:
        case p.Deadline(after=after):
            return Counter([after])
        case p.Disjunction(items=items):
            return reduce(or_, map(_own_waits, items))
        case p.Sequence(parts=parts, within=within):
            waits = sum(map(_own_waits, parts), Counter[p.Window]())
            if may_end_absent(part):
                assert within is not None, "an absence at the end of a sequence has a limit"
                waits[within] += 1
            return waits
        case _:
            return sum(map(_own_waits, p.sub_patterns(part)), Counter[p.Window]())
