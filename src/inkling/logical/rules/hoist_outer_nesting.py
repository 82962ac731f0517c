"""`EVENT e AS PATTERN (p WITHIN d HAVING c)` is `EVENT e AS PATTERN p WITHIN d HAVING c`.

A window of the event bounds its state; the same window one level further in only filters.
"""

from __future__ import annotations

from dataclasses import replace

from inkling.logical import plan as p


def hoist_outer_nesting(event: p.EventPlan) -> p.EventPlan:
    match event.pattern:
        case p.Narrowed(pattern=inner, within=within, having=having, slot=None):
            if within is not None and event.within is not None and within != event.within:
                return event
            return replace(event, pattern=inner, within=within or event.within, having=(*having, *event.having))
        case _:
            return event
