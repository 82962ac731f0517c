"""Where the next part of a pattern may lie, given the parts placed so far, and Allen's relations between both."""

from dataclasses import replace

import numpy as np

from inkling.evaluators.network.partials import (
    AFTER_ALL,
    BEFORE_ALL,
    MatchContexts,
    Occurrences,
    Partials,
    StartBy,
    at_most,
    strictly_before,
)
from inkling.logical.patterns.allen import INVERSES, RELATIONS
from inkling.model.batch import Ints

Spans = Occurrences | Partials


def related(relations: tuple[str, ...], left: Spans, right: Spans) -> np.ndarray:
    """Whether each pair stands in one of the relations."""
    fits = np.zeros(len(left), bool)
    for name in relations:
        if name == "PAR":
            fits |= _share_time(left, right)
        elif name in INVERSES:
            fits |= _holds(INVERSES[name], right, left)
        else:
            fits |= _holds(name, left, right)
    return fits


def related_starts(relations: tuple[str, ...], left: Spans) -> tuple[Ints, Ints]:
    """The first and the last start time of an interval in one of the relations to `left`."""
    far = np.full(len(left), FAR)
    ends = {"start": left.start, "end": left.end, "": far}
    low = np.minimum.reduce([-far if not _STARTS[name][0] else ends[_STARTS[name][0]] for name in relations])
    high = np.maximum.reduce([ends[_STARTS[name][1]] for name in relations])
    return low, high


FAR = np.int64(2**62)
_STARTS = {
    "PRECEDES": ("end", ""),
    "PRECEDED_BY": ("", "start"),
    "MEETS": ("end", "end"),
    "MET_BY": ("", "start"),
    "OVERLAPS": ("start", "end"),
    "OVERLAPPED_BY": ("", "start"),
    "STARTS": ("start", "start"),
    "STARTED_BY": ("start", "start"),
    "DURING": ("", "start"),
    "CONTAINS": ("start", "end"),
    "FINISHES": ("", "start"),
    "FINISHED_BY": ("start", "end"),
    "EQUALS": ("start", "start"),
    "INTERSECTS": ("", "end"),
    "STARTS_BEFORE": ("start", ""),
    "ENDS_AFTER": ("", "end"),
    "PAR": ("", "end"),
}
"""Per relation, the borders of the left interval between which the right one starts; empty: no limit."""


def _holds(name: str, left: Spans, right: Spans) -> np.ndarray:
    one, other = (left.start, left.end), (right.start, right.end)
    match name:
        case "OVERLAPS":
            return (one[0] < other[0]) & (other[0] < one[1]) & (one[1] < other[1])
        case "STARTS":
            return (one[0] == other[0]) & (one[1] < other[1])
        case "DURING":
            return (other[0] < one[0]) & (one[1] < other[1])
        case "FINISHES":
            return (other[0] < one[0]) & (one[1] == other[1])
        case "EQUALS":
            return (one[0] == other[0]) & (one[1] == other[1])
        case "INTERSECTS":
            return (one[0] <= other[1]) & (other[0] <= one[1])
        case _:
            return np.asarray(RELATIONS[name](*one, *other))  # type: ignore[arg-type]


def _share_time(left: Spans, right: Spans) -> np.ndarray:
    overlap = np.maximum(left.start, right.start) < np.minimum(left.end, right.end)
    left_point = (left.start == left.end) & (right.start < left.start) & (left.start < right.end)
    right_point = (right.start == right.end) & (left.start < right.start) & (right.start < left.end)
    return overlap | left_point | right_point


def start_anywhere(contexts: MatchContexts) -> MatchContexts:
    """Without the limit on the start: only the earliest of several parts must meet it."""
    return replace(contexts, first_until=contexts.until, first_until_place=np.full(len(contexts), AFTER_ALL))


def starting_early(found: Occurrences, contexts: MatchContexts) -> Occurrences:
    """Occurrences that start by the limit of their context."""
    bound, place = contexts.first_until[found.origin], contexts.first_until_place[found.origin]
    return found.where(at_most(found.start, found.start_place, bound, place))


def starting_late(found: Occurrences, contexts: MatchContexts) -> Occurrences:
    """Occurrences that start after the moment that their context begins with."""
    after, place = contexts.after[found.origin], contexts.after_place[found.origin]
    return found.where(strictly_before(after, place, found.start, found.start_place))


def starting_by(contexts: MatchContexts, limit: StartBy) -> MatchContexts:
    """Contexts with a further limit on the start."""
    tighter = ~at_most(contexts.first_until, contexts.first_until_place, limit.time, limit.place)
    return replace(
        contexts,
        first_until=np.where(tighter, limit.time, contexts.first_until),
        first_until_place=np.where(tighter, limit.place, contexts.first_until_place),
    )


def bound_between(
    placed: Occurrences, contexts: MatchContexts, after: Ints, after_place: Ints, until: Ints
) -> MatchContexts:
    """Contexts with the bindings of what is placed, for occurrences that start after a moment and until a time."""
    key, last_place = contexts.key[placed.origin], np.full(len(placed), AFTER_ALL)
    bound = key, placed.tail, placed.registers, placed.moments
    return MatchContexts(*bound, after, after_place, until, until, last_place)


def at_start(partials: Partials, contexts: MatchContexts) -> MatchContexts:
    """Where the first part of a sequence may lie."""
    origin = partials.origin
    return replace(
        bound_between(partials, contexts, contexts.after[origin], contexts.after_place[origin], contexts.until[origin]),
        first_until=contexts.first_until[origin],
        first_until_place=contexts.first_until_place[origin],
    )


def after_last(partials: Partials, contexts: MatchContexts, window: int | None) -> MatchContexts:
    """Where the next part of a sequence may lie: after the last one, within the window of the first."""
    origin = partials.origin
    until = contexts.until[origin]
    if window is not None:
        until = np.minimum(until, partials.start + window)
    return bound_between(partials, contexts, partials.last, partials.last_place, until)


def deadline(partials: Partials, after: int) -> Occurrences:
    """The moment `after` the last part, as an occurrence."""
    due, n = partials.last + after, len(partials)
    first, last = np.full(n, BEFORE_ALL), np.full(n, AFTER_ALL)
    return Occurrences(np.arange(n), partials.tail, partials.registers, partials.moments, due, first, due, last, due)


def anywhere(partials: Partials, contexts: MatchContexts, window: int | None) -> MatchContexts:
    """Where another item of a conjunction may lie: anywhere the context allows, within the window of the others."""
    origin = partials.origin
    after, after_place, until = contexts.after[origin], contexts.after_place[origin], contexts.until[origin]
    if window is not None:
        low = np.where(partials.placed, partials.end - window - 1, after)
        tighter = partials.placed & (low >= after)
        after, after_place = np.where(tighter, low, after), np.where(tighter, AFTER_ALL, after_place)
        until = np.where(partials.placed, np.minimum(until, partials.start + window), until)
    return bound_between(partials, contexts, after, after_place, until)


def ended_by(partials: Partials, contexts: MatchContexts, window: int | None) -> MatchContexts:
    """Where something may lie that has ended when the placed parts have, and lasts at most `window` with them."""
    n = len(partials)
    after = np.full(n, -FAR) if window is None else partials.end - window - 1
    return bound_between(partials, contexts, after, np.full(n, AFTER_ALL), partials.end)


def related_candidates(relations: tuple[str, ...], partials: Partials, lookup: MatchContexts) -> MatchContexts:
    """Where an interval in one of the relations to the placed parts may lie."""
    low, high = related_starts(relations, partials)
    later = low - 1 >= lookup.after
    earlier = high < lookup.first_until
    return replace(
        lookup,
        after=np.where(later, low - 1, lookup.after),
        after_place=np.where(later, AFTER_ALL, lookup.after_place),
        first_until=np.where(earlier, high, lookup.first_until),
        first_until_place=np.where(earlier, AFTER_ALL, lookup.first_until_place),
    )


def moment(time: int, contexts: MatchContexts) -> Occurrences:
    """A moment of the clock as an occurrence, in contexts that allow it."""
    n = len(contexts)
    now, first, last = np.full(n, time), np.full(n, BEFORE_ALL), np.full(n, AFTER_ALL)
    fits = strictly_before(contexts.after, contexts.after_place, now, first) & (contexts.until >= time)
    fits &= at_most(now, first, contexts.first_until, contexts.first_until_place)
    found = Occurrences(np.arange(n), contexts.tail, contexts.registers, contexts.moments, now, first, now, last, now)
    return found.where(fits)


def on_same_interval(found: Occurrences, contexts: MatchContexts) -> MatchContexts:
    """Where an occurrence with the same start and end may lie, given the bindings of the found one."""
    after_place = np.full(len(found), AFTER_ALL)
    return replace(bound_between(found, contexts, found.start - 1, after_place, found.end), first_until=found.start)
