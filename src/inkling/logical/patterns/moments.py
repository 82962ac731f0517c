"""Points in time in a pattern (`AT q`): parts without events, and matches that end with a point in time."""

from collections.abc import Iterator

from inkling.logical import plan as p
from inkling.logical.plan import can_be_empty
from inkling.model.time import Duration


def happens_without_events(part: p.Part) -> bool:
    """Whether a part can match without any event."""
    match part:
        case p.TimePoint() | p.OtherRun():
            return True
        case p.Leaf() | p.Quantified() | p.Absent() | p.Deadline() | p.StreamStart():
            return False
        case p.Sequence(parts=parts):
            return _all_by_clock([one for one in parts if not isinstance(one, p.Absent | p.Deadline | p.StreamStart)])
        case p.Conjunction(items=items):
            return _all_by_clock(list(items))
        case p.Disjunction(items=items):
            return any(happens_without_events(item) for item in items)
        case p.Parallel(items=items):
            return all(happens_without_events(item) for item in items)
        case p.Related(left=left, right=right):
            return happens_without_events(left) and happens_without_events(right)
        case p.Except(pattern=inner) | p.LeftJoin(left=inner) | p.Repetition(pattern=inner) | p.Narrowed(pattern=inner):
            return happens_without_events(inner)
        case _:
            return False


def _all_by_clock(parts: list[p.Part]) -> bool:
    by_clock = [happens_without_events(part) for part in parts]
    return any(by_clock) and all(one or can_be_empty(part) for one, part in zip(by_clock, parts, strict=True))


def final_moments(event: p.EventPlan) -> tuple[Duration | p.Points | None, ...]:
    """For each point in time that can end a match, how long after the last event it can be; None without limit."""
    limit = event.within if isinstance(event.within, Duration | p.Points) else event.keep
    return tuple(_final(event.pattern, limit))


def _final(part: p.Part, limit: Duration | p.Points | None) -> Iterator[Duration | p.Points | None]:
    match part:
        case p.TimePoint():
            yield limit
        case p.Narrowed(pattern=inner, within=within):
            own = isinstance(within, Duration | p.Points) and not happens_without_events(inner)
            yield from _final(inner, within if own and isinstance(within, Duration | p.Points) else limit)
        case p.Sequence(parts=parts):
            for one in reversed(parts):
                if not isinstance(one, p.Absent | p.Deadline | p.StreamStart):
                    yield from _final(one, limit)
                    if not can_be_empty(one):
                        return
        case p.Except(pattern=inner) | p.LeftJoin(left=inner):
            yield from _final(inner, limit)
        case p.Absent() | p.OtherRun():
            return
        case _:
            for inner in p.sub_patterns(part):
                yield from _final(inner, limit)
