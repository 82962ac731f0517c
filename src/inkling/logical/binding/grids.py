"""POINTS of timestamps that lie on a grid: the length of time from the first to the last of them."""

from __future__ import annotations

from dataclasses import replace

from inkling.logical import plan as p
from inkling.logical.recursion import resting_on
from inkling.logical.rules.everywhere import everywhere
from inkling.model.time import Span


def with_points_of_grids(program: p.ProgramPlan) -> p.ProgramPlan:
    """The program with lengths of time instead of POINTS where all streams of an event have ticks of timestamps."""
    ticks = {one.schema.name: one.schema.tick for one in program.streams if one.schema.grid is not None}
    if not ticks:
        return program
    events = []
    for event in program.events:
        read = [one.schema for one in program.streams if one.schema.name in resting_on(event, program)]
        found = [tick for schema in read if (tick := ticks.get(schema.name)) is not None]
        events.append(_in_lengths(event, found[0]) if read and len(found) == len(read) else event)
    return replace(program, events=tuple(events))


def _in_lengths(event: p.EventPlan, tick: Span) -> p.EventPlan:
    def length(window: p.Window | None) -> p.Window | None:
        return Span((window.count - 1) * tick.amount, tick.unit) if isinstance(window, p.Points) else window

    def changed(pattern: p.Pattern) -> p.Pattern:
        if isinstance(pattern, p.Sequence | p.Narrowed) and isinstance(pattern.within, p.Points):
            return replace(pattern, within=length(pattern.within))
        return pattern

    return replace(event, pattern=everywhere(event.pattern, changed), within=length(event.within))
