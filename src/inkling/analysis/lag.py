"""How far behind the watermark an event's results stay because the events it reads wait themselves."""

from __future__ import annotations

from collections.abc import Callable

from inkling.analysis.settling import settling_time
from inkling.analysis.wait import wait_of, waits_without_limit
from inkling.logical import plan as p
from inkling.logical.recursion import group_of
from inkling.model.time import FOREVER, Span


def lag_of(event: p.EventPlan, program: p.ProgramPlan, measure: Callable[[Span], int]) -> int:
    """The matches of an event are known up to the watermark minus this.

    A derived event that waits becomes known long after it ended. Until then nobody can say that it did not happen,
    nor that another one was the next.
    """
    behind = 0
    group = group_of(event, program)
    for source in group.outer_sources:
        used = program.event(source)
        if used is not None:
            behind = max(behind, settled_after(used, program, measure) + waiting_time(used, program, measure))
    if group.is_recursive:  # it reads its own results, which wait as long as what they rest on
        behind += waiting_time(event, program, measure)
    return min(behind, FOREVER)


def settled_after(event: p.EventPlan, program: p.ProgramPlan, measure: Callable[[Span], int]) -> int:
    """How long after a result of an event is known nothing can change it any more, its own waits counted."""
    return lag_of(event, program, measure) + settling_time(event, measure)


def waiting_time(event: p.EventPlan, program: p.ProgramPlan, measure: Callable[[Span], int]) -> int:
    """The longest time between the end of a result and the moment it is known; what sums up a stream waits for all."""
    if event.per is p.Per.VALUES or waits_without_limit(event, program):
        return FOREVER
    total = 0
    for window in wait_of(event, program).conclusion:
        if isinstance(window, p.Points):
            total += window.count - 1
        elif isinstance(window, Span):
            total += measure(window)
    return total
