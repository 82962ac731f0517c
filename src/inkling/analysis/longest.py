"""How many events a match can have, and which repetition leaves that open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inkling.logical import plan as p
from inkling.logical.occurrences import can_be_empty


@dataclass(frozen=True, slots=True)
class _Endless:
    """Stands for a number of events without limit."""

    because: p.Repetition


_Count = int | _Endless


def longest_match(event: p.EventPlan) -> int | None:
    """The most events that a match is made of until it is reported; None when there is no limit."""
    count = _longest_of(event, event.restart)
    return None if isinstance(count, _Endless) else count


def endless_repetition(event: p.EventPlan, *, restart: bool) -> p.Repetition | None:
    """A repetition that makes matches as long as the stream, with or without CONSUME RESTART."""
    count = _longest_of(event, restart)
    return count.because if isinstance(count, _Endless) else None


def _longest_of(event: p.EventPlan, restart: bool) -> _Count:
    return _at_most(_longest(event.pattern, restart), event.within)


def _longest(part: p.Part, ends: bool) -> _Count:
    """Events of a part. `ends`: once the part has happened the whole match has, and everything starts anew."""
    match part:
        case p.Leaf():
            return 1
        case p.Sequence(parts=parts):
            return _sum(list(_counts(parts, ends)))
        case p.Disjunction(items=items):
            return _largest([_longest(item, ends) for item in items])
        case p.Conjunction(items=items) | p.Parallel(items=items):
            return _sum([_longest(item, False) for item in items])
        case p.Related(left=left, right=right):
            return _sum([_longest(left, False), _longest(right, False)])
        case p.Except(pattern=inner):
            return _longest(inner, False)
        case p.Quantified():
            raise AssertionError("relations between segments are no work for automata")
        case p.Sliding():
            raise AssertionError("windows are no work for automata")
        case p.Narrowed(pattern=inner, within=within):
            return _at_most(_longest(inner, ends), within)
        case p.Repetition():
            return _repeated(part, ends)
        case p.OtherRun() | p.Absent() | p.Deadline() | p.StreamStart() | p.TimePoint():
            return 0


def _counts(parts: tuple[p.Part, ...], ends: bool) -> Iterator[_Count]:
    for place, part in enumerate(parts):
        complete = ends and all(can_be_empty(after) for after in parts[place + 1 :])
        yield _longest(part, complete)
        if complete and not can_be_empty(part):
            return  # the match is reported before anything else happens


def _repeated(part: p.Repetition, ends: bool) -> _Count:
    rounds = max(part.low, 1) if ends else part.high
    if rounds == 1:
        return _longest(part.pattern, ends)
    once = _longest(part.pattern, False)
    if isinstance(once, _Endless) or once == 0:
        return once
    return _Endless(part) if rounds is None else once * rounds


def _sum(counts: list[_Count]) -> _Count:
    endless = next((count for count in counts if isinstance(count, _Endless)), None)
    return endless or sum(count for count in counts if isinstance(count, int))


def _largest(counts: list[_Count]) -> _Count:
    endless = next((count for count in counts if isinstance(count, _Endless)), None)
    return endless or max(count for count in counts if isinstance(count, int))


def _at_most(count: _Count, within: p.Window | None) -> _Count:
    if not isinstance(within, p.EventCount):
        return count
    return within.count if isinstance(count, _Endless) else min(count, within.count)
