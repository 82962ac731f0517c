"""`(p)` is `p` when the parentheses neither limit, filter nor name it."""

from __future__ import annotations

from dataclasses import replace

from inkling.logical import plan as p
from inkling.logical.rules.everywhere import everywhere


def unwrap_nesting(event: p.EventPlan) -> p.EventPlan:
    pattern = everywhere(event.pattern, _unwrapped)
    return event if pattern is event.pattern else replace(event, pattern=pattern)


def _unwrapped(pattern: p.Pattern) -> p.Pattern:
    match pattern:
        case p.Narrowed(pattern=p.Repetition()):
            # a sequence hops to a nested repetition as a whole, and to a bare one element by element
            return pattern
        case p.Narrowed(pattern=inner, within=None, having=(), slot=None):
            return inner
        case _:
            return pattern
