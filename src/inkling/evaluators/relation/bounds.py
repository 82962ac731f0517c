"""Bounds on the probability of a relation while further events may arrive, and when the lower bound is high enough."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from inkling.evaluators.relation.forward import bounds
from inkling.evaluators.relation.lists import RelationQuery
from inkling.evaluators.relation.operands import RECORDED, OperandKeys
from inkling.logical import plan as p
from inkling.model.batch import FOREVER, Ints
from inkling.results import ROUNDING, reaches


@dataclass(frozen=True, slots=True)
class EarlyBounds:
    """Per question, the first time at which the lower bound is large enough, and both bounds then; FOREVER if none."""

    time: Ints
    lower: np.ndarray
    upper: np.ndarray


def first_moments(
    left: OperandKeys,
    right: OperandKeys,
    ones: Ints,
    others: Ints,
    quantity: Ints,
    asked: RelationQuery,
    confidence: p.Confidence,
    since: int,
    until: int,
) -> EarlyBounds:
    """Looks at the times of all rows after `since`, up to `until`, at which both keys are there.

    Bounds never get worse, so halves of the times can be left out.
    """
    n = len(ones)
    every = np.unique(np.concatenate([left.known, left.complete, right.known, right.complete]))
    times = every[(every > since) & (every <= min(until, FOREVER - 1))]
    there = np.maximum(left.known[left.offsets[ones]], right.known[right.offsets[others]])
    low, high = np.searchsorted(times, there), np.full(n, len(times))
    lower, upper = np.zeros(n), np.ones(n)
    while (open_ones := np.flatnonzero(low < high)).size:
        middle = (low[open_ones] + high[open_ones]) // 2
        at_least, at_most = _at(
            left, right, ones[open_ones], others[open_ones], quantity[open_ones], asked, times, middle
        )
        enough = reaches(at_least, confidence, ROUNDING) & (at_least > 0)
        high[open_ones[enough]] = middle[enough]
        lower[open_ones[enough]], upper[open_ones[enough]] = at_least[enough], at_most[enough]
        low[open_ones[~enough]] = middle[~enough] + 1
    return EarlyBounds(np.where(high < len(times), np.append(times, FOREVER)[high], FOREVER), lower, upper)


NUMBERS_AT_ONCE = 1 << 22


def _at(
    left: OperandKeys,
    right: OperandKeys,
    ones: Ints,
    others: Ints,
    quantity: Ints,
    asked: RelationQuery,
    times: Ints,
    place: Ints,
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds for one number of segments each; questions about the same pair and time are asked once."""
    names = (ones * len(right) + others) * len(times) + place
    _, first, which = np.unique(names, return_index=True, return_inverse=True)
    lower, upper = np.empty(len(ones)), np.empty(len(ones))
    at_once = max(1, NUMBERS_AT_ONCE // (asked.most + 1))
    order = np.argsort(which, kind="stable")
    borders = np.searchsorted(which[order], np.arange(0, len(first) + at_once, at_once))
    for number, (begin, end) in enumerate(pairwise(borders.tolist())):
        chosen = first[number * at_once : (number + 1) * at_once]
        found = bounds_by(left, right, ones[chosen], others[chosen], asked, times[place[chosen]])
        mine = order[begin:end]
        rows = which[mine] - number * at_once
        lower[mine], upper[mine] = (each[rows, quantity[mine]] for each in found)
    return lower, upper


def bounds_by(
    left: OperandKeys, right: OperandKeys, ones: Ints, others: Ints, asked: RelationQuery, time: Ints
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on the probability of at least 0, 1, … qualifying segments, by what is known at some time, per pair."""
    frontier = np.minimum(_frontier(left, ones, time), _frontier(right, others, time))
    totals = left.complete[ones] <= time, right.complete[others] <= time
    found = bounds(left.unfinished, right.unfinished, ones, others, asked, frontier, *totals)
    if asked.all_left:  # a segment that is still to come may not qualify
        return np.where(totals[0][:, None], found.lower, 0.0), found.upper
    return found.lower, np.where(totals[0][:, None], found.upper, 1.0)


def _frontier(keys: OperandKeys, key: Ints, time: Ints) -> Ints:
    """Up to when everything about each key is known by a time."""
    if keys.kind == RECORDED:
        return np.full(len(key), -FOREVER)
    begin, end = keys.offsets[key], keys.offsets[key + 1]
    place = last_up_to(keys.known, begin, end, time)
    last = np.where(place >= begin, keys.closed[np.maximum(place, 0)] if len(keys.closed) else 0, -FOREVER)
    return np.where(keys.complete[key] <= time, FOREVER, last)


def last_up_to(values: Ints, begin: Ints, end: Ints, value: Ints) -> Ints:
    """Per stretch of sorted values, the place of the last one that is not above a value; before its begin if none."""
    low, high = begin.copy(), end.copy()
    while (low < high).any():
        middle = (low + high) // 2
        inside = low < high
        below = inside & (np.append(values, 0)[np.minimum(middle, len(values))] <= value)
        low = np.where(below, middle + 1, low)
        high = np.where(inside & ~below, middle, high)
    return low - 1
