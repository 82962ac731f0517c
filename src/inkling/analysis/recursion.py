"""How the results of an event that rests on itself are found."""

from __future__ import annotations

from enum import Enum

from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p
from inkling.logical.recursion import group_of, is_monotone


class Rounds(Enum):
    """What one round of deriving finds."""

    DEEPER = "round by round"
    LATER = "end by end"


def recursion_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Rounds | None]:
    """How a recursion goes on, or None where there is none."""
    group = group_of(event, program)
    if not group.is_recursive:
        return Verdict(None, "it does not rest on itself")
    with_others = sorted(group.names - {event.name})
    itself = f"it rests on itself{' through ' + ', '.join(with_others) if with_others else ''}"
    if all(is_monotone(one, group.names) for one in group.events):
        return Verdict(Rounds.DEEPER, f"{itself}; each round finds what rests on results of the round before")
    return Verdict(Rounds.LATER, f"{itself}, also on what did not happen; each round settles what ends next in a key")
