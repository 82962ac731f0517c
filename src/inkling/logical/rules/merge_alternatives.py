"""`(a OR b) OR c` is `a OR b OR c`, and the same with AND."""

from __future__ import annotations

from dataclasses import replace

from inkling.logical import plan as p
from inkling.logical.rules.everywhere import everywhere


def merge_alternatives(event: p.EventPlan) -> p.EventPlan:
    pattern = everywhere(event.pattern, _merged)
    return event if pattern is event.pattern else replace(event, pattern=pattern)


def _merged(pattern: p.Pattern) -> p.Pattern:
    if not isinstance(pattern, p.Disjunction | p.Conjunction):
        return pattern
    items: list[p.Pattern] = []
    for item in pattern.items:
        items.extend(item.items if type(item) is type(pattern) else (item,))
    return pattern if len(items) == len(pattern.items) else replace(pattern, items=tuple(items))
