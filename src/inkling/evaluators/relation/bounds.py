"""Bounds on the probability of a relation while further events may arrive (SimpMatch, section 3.3, on streams).

Everything up to the frontier, the time up to which both keys are completely known, is evaluated. The lower bound is the
probability that the query is already certainly true, the upper bound 1 minus that it is certainly false. Both are
monotone in time and meet at the final answer.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from inkling.evaluators.relation.forward import bounds
from inkling.evaluators.relation.operands import RECORDED, OperandKeys
from inkling.evaluators.relation.points import RelationQuery
from inkling.logical import plan as p
from inkling.model.batch import FOREVER, Ints
from inkling.results import ROUNDING, reaches


@dataclass(frozen=True, slots=True)
class EarlyBounds:
    """Per question, the first time at which the lower bound reaches CONFIDENCE (or FOREVER), and both bounds then."""

    time: Ints
    lower: np.ndarray
    upper: np.ndarray


def first_moments(
    left: OperandKeys,
    right: OperandKeys,
    ones: Ints,
    others: Ints,
    quantity: Ints,
    query: RelationQuery,
    confidence: p.Confidence,
    since: int,
    until: int,
) -> EarlyBounds:
    """Binary search over the times of rows after `since` and up to `until`: bounds are monotone in time."""
    n = len(ones)
    every = np.unique(np.concatenate([left.known, left.complete, right.known, right.complete]))
    times = every[(every > since) & (every <= min(until, FOREVER - 1))]
    there = np.maximum(left.known[left.offsets[ones]], right.known[right.offsets[others]])
    low, high = np.searchsorted(times, there), np.full(n, len(times))
    lower, upper = np.zeros(n), np.ones(n)
    while (open_ones := np.flatnonzero(low < high)).size:
        middle = (low[open_ones] + high[open_ones]) // 2
        at_least, at_most = _at(
            left, right, ones[open_ones], others[open_ones], quantity[open_ones], query, times, middle
        )
        enough = reaches(at_least, confidence, ROUNDING) & (at_least > 0)
        high[open_ones[enough]] = middle[enough]
        lower[open_ones[enough]], upper[open_ones[enough]] = at_least[enough], at_most[enough]
        low[open_ones[~enough]] = middle[~enough] + 1
    return EarlyBounds(np.where(high < len(times), np.append(times, FOREVER)[high], FOREVER), lower, upper)


NUMBERS_AT_ONCE = 1 << 22
"""The most probabilities in memory at once."""


def _at(
    left: OperandKeys,
    right: OperandKeys,
    ones: Ints,
    others: Ints,
    quantity: Ints,
    query: RelationQuery,
    times: Ints,
    place: Ints,
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds for one quantity each; each pair and time is evaluated once for all of its quantities."""
    names = (ones * len(right) + others) * len(times) + place
    _, first, which = np.unique(names, return_index=True, return_inverse=True)
    lower, upper = np.empty(len(ones)), np.empty(len(ones))
    at_once = max(1, NUMBERS_AT_ONCE // (query.most + 1))
    order = np.argsort(which, kind="stable")
    borders = np.searchsorted(which[order], np.arange(0, len(first) + at_once, at_once))
    for number, (begin, end) in enumerate(pairwise(borders.tolist())):
        chosen = first[number * at_once : (number + 1) * at_once]
        found = bounds_by(left, right, ones[chosen], others[chosen], query, times[place[chosen]])
        mine = order[begin:end]
        rows = which[mine] - number * at_once
        lower[mine], upper[mine] = (each[rows, quantity[mine]] for each in found)
    return lower, upper


def bounds_by(
    left: OperandKeys, right: OperandKeys, ones: Ints, others: Ints, query: RelationQuery, time: Ints
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on the probability of at least 0, 1, … qualifying segments, by what is known at some time, per pair."""
    frontier = np.minimum(_frontier(left, ones, time), _frontier(right, others, time))
    totals = left.complete[ones] <= time, right.complete[others] <= time
    found = bounds(left.unfinished, right.unfinished, ones, others, query, frontier, *totals)
    if query.all_left:  # a later segment may not qualify
        return np.where(totals[0][:, None], found.lower, 0.0), found.upper
    return found.lower, np.where(totals[0][:, None], found.upper, 1.0)


def _frontier(keys: OperandKeys, key: Ints, time: Ints) -> Ints:
    """The frontier of each key by a time: up to when all of its segments are known."""
    if keys.kind == RECORDED:
        return np.full(len(key), -FOREVER)
    begin, end = keys.offsets[key], keys.offsets[key + 1]
    place = last_up_to(keys.known, begin, end, time)
    last = np.where(place >= begin, keys.closed[np.maximum(place, 0)] if len(keys.closed) else 0, -FOREVER)
    return np.where(keys.complete[key] <= time, FOREVER, last)


def last_up_to(values: Ints, begin: Ints, end: Ints, value: Ints) -> Ints:
    """Per stretch of sorted values, the place of the last value ≤ a given one; one before the stretch if none is."""
    low, high = begin.copy(), end.copy()
    while (low < high).any():
        middle = (low + high) // 2
        inside = low < high
        below = inside & (np.append(values, 0)[np.minimum(middle, len(values))] <= value)
        low = np.where(below, middle + 1, low)
        high = np.where(inside & ~below, middle, high)
    return low - 1
