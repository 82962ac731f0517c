"""How long after its last event a result can still be undecided."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from operator import or_

from inkling.analysis.verdict import Verdict
from inkling.logical import plan as p
from inkling.logical.moments import final_moments
from inkling.logical.recursion import group_of
from inkling.logical.text import window_text

Waits = tuple[p.Window, ...]
"""Lengths of time whose sum bounds the wait; none when a result is known with its last event."""


def wait_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Waits]:
    """The longest wait between the last event of a match and the moment nothing can undo it."""
    own = tuple(_own_waits(event.pattern).elements())
    moments = Counter(limit for limit in final_moments(event) if limit is not None)
    inherited = {
        source: waits
        for source in group_of(event, program).outer_sources
        if (used := program.event(source)) is not None and (waits := wait_of(used, program).conclusion)
    }
    reasons = [f"{window_text(window)} for an absence" for window in own]
    reasons += [f"{window_text(window)} for a time that AT names" for window in moments]
    reasons += ["until a time that AT names"] if None in final_moments(event) else []
    reasons += [f"{source} itself waits" for source in inherited]
    total = (*own, *moments, *(window for waits in inherited.values() for window in waits))
    return Verdict(total, "; ".join(reasons) or "a result is known with its last event")


def waits_without_limit(event: p.EventPlan, program: p.ProgramPlan) -> bool:
    """Whether a result, or one that it rests on, may wait for a time that can lie any time after the last event."""
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
            if isinstance(parts[-1], p.Absent):
                assert within is not None, "an absence at the end of a sequence has a limit"
                waits[within] += 1
            return waits
        case _:
            return sum(map(_own_waits, p.sub_patterns(part)), Counter[p.Window]())
