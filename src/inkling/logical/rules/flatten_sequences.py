"""`SEQ(a, SEQ(b, c))` is `SEQ(a, b, c)`, for ANY in ANY and for STRICT in STRICT.

Not for NEXT: there an occurrence of the whole inner sequence is what a hop goes to, and only such occurrences
stand in its way.
"""

from __future__ import annotations

from dataclasses import replace

from inkling.logical import plan as p
from inkling.logical.rules.everywhere import everywhere


def flatten_sequences(event: p.EventPlan) -> p.EventPlan:
    pattern = everywhere(event.pattern, _flattened)
    return event if pattern is event.pattern else replace(event, pattern=pattern)


def _flattened(pattern: p.Pattern) -> p.Pattern:
    if not isinstance(pattern, p.Sequence) or pattern.policy is p.Policy.NEXT:
        return pattern
    parts: list[p.Part] = []
    for part in pattern.parts:
        if isinstance(part, p.Sequence) and part.policy is pattern.policy and _is_plain(part):
            parts.extend(part.parts)
        else:
            parts.append(part)
    return pattern if len(parts) == len(pattern.parts) else replace(pattern, parts=tuple(parts))


def _is_plain(sequence: p.Sequence) -> bool:
    """Whether all parts are events; a NOT sees the bindings of its own sequence, not of the one around it."""
    return not any(isinstance(part, p.Absent | p.Deadline | p.StreamStart) for part in sequence.parts)
