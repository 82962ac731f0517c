"""Probabilities of relations between segments with lost ends, for many pairs of keys: exact, or sampled.

The exact algorithm is a forward pass over cells: the stretches of time between consecutive recorded points of either
key. Its result is that of the resolution algorithm of SimpMatch (section 3.3), which walks a tree of possible worlds;
here worlds with the same future are merged, so the cost is polynomial in the number of lost points. In a cell, a gap
with r lost points still to come puts j of them there with probability Binomial(j; r, p), p = length of the cell / rest
of the gap, and all orders of the points of both keys in the cell are equally likely (section 3.2).

    left:  opens at 0, closing lost, next recorded point at 10      right: opens at 4, closes at 6
    cells: (0, 4), (4, 6), (6, 10); the left segment closes in each with probability 0.4, 0.2 and 0.4
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.relation.points import ALL, PointLists, RelationQuery
from inkling.evaluators.sampling import Sampling
from inkling.kernels.relation import rules as kernel
from inkling.kernels.relation.crossed import forward_among
from inkling.kernels.relation.forward import forward
from inkling.kernels.relation.recorded import GAVE_UP, NO_PLACE
from inkling.kernels.relation.rules import AFTER, AT, BEFORE, HIT, WHOLLY_BEFORE
from inkling.kernels.relation.samples import sample
from inkling.model.batch import FOREVER, Floats, Ints, Mask


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on states and operations of one pair; beyond them, `n_samples` samples with an error up to `error`."""

    n_samples: int = 20_000
    error: float = 0.01
    seed: int = 0
    states: int = 2**25
    operations: int = 2**34

    @classmethod
    def of(cls, sampling: Sampling) -> Limits:
        """The limits from the settings of a run."""
        return cls(n_samples=sampling.n_worlds, error=sampling.epsilon, seed=sampling.seed)


LATER = ((BEFORE, BEFORE), (AT, BEFORE), (AT, AT), (AFTER, BEFORE), (AFTER, AT), (AFTER, AFTER))
"""How the end of a left segment can compare with both ends of a right segment that opens after the left one."""


def rules_of(query: RelationQuery, too_many: int) -> Ints:
    """The query as the rules that kernels read, for right keys with fewer than `too_many` segments."""
    all_right = query.right == ALL
    hit = 1 - query.table if all_right else query.table
    by_sign = hit.reshape(3, 3, 3, 3)
    while_open = by_sign[:, BEFORE, AFTER, :]
    at_once = while_open.min(axis=1)
    ending, place = np.unique(while_open - at_once[:, None], axis=0, return_inverse=True)
    # a right segment that opens while the left one is open has place 0, like no open right segment
    order = np.argsort(np.arange(len(ending)) != place[BEFORE], kind="stable")
    ending, place = ending[order], np.argsort(order)[place]
    rules = np.zeros(kernel.N_RULES, np.int64)
    rules[kernel.N_PLACES] = len(ending)
    rules[kernel.LEAST] = -1 if all_right else min(query.right, too_many)
    rules[kernel.CAP] = 1 if all_right else rules[kernel.LEAST]
    rules[kernel.LABELED] = query.labeled
    rules[kernel.EVERY] = query.all_left
    rules[kernel.LATER_MAY_HIT] = max(by_sign[BEFORE, BEFORE, *ends] for ends in LATER)
    rules[kernel.PLACE : kernel.PLACE + 3] = place
    rules[kernel.AT_ONCE : kernel.AT_ONCE + 3] = at_once
    rules[kernel.ENDING : kernel.ENDING + ending.size] = ending.reshape(-1)
    rules[kernel.MAY_HIT : kernel.MAY_HIT + len(ending)] = ending.max(axis=1)
    rules[kernel.HIT :] = hit
    return rules


def labels_in_order(right: PointLists) -> Ints:
    """The labels of the segments of every key, sorted, and the number of each segment in its key."""
    key = np.repeat(np.arange(len(right.segments) - 1), np.diff(right.segments))
    order = np.lexsort((right.label, key))
    return np.stack([right.label[order], order - right.segments[key]])


KNOWN = -1
"""In place of a number of further right segments: the lists have all of them."""


@dataclass(frozen=True, slots=True)
class RelationProbabilities:
    """Per pair, the probability that at least 0, 1, … left segments qualify; with ALL one column, that all do."""

    at_least: Floats
    error: Floats  # 0 where exact, else the error bound of the sample


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds on these probabilities, from what is known by a time."""

    lower: Floats
    upper: Floats


def chances(
    left: PointLists, right: PointLists, ones: Ints, others: Ints, query: RelationQuery, limits: Limits
) -> RelationProbabilities:
    """The final probabilities; pairs beyond the limits, or whose left segments overlap, are sampled."""
    left, right = _writable(left), _writable(right)
    at_least, error = np.zeros((len(ones), _n_columns(query))), np.zeros(len(ones))
    rest = np.zeros(len(ones), bool)
    in_step = left.simple[ones] & right.simple[others]
    if (some := np.flatnonzero(in_step)).size:
        every, known = np.full(len(some), FOREVER), np.ones(len(some), bool)
        followers = np.full(len(some), KNOWN)
        at_least[some], _, rest[some] = _pass(
            left, right, ones[some], others[some], query, every, known, followers, limits
        )
    if (some := np.flatnonzero(~in_step)).size:
        at_least[some], rest[some] = _pass_among(left, right, ones[some], others[some], query, limits)
    if (some := np.flatnonzero(rest)).size:
        at_least[some], error[some] = sampled(left, right, ones[some], others[some], query, limits)
    return RelationProbabilities(at_least, error)


def bounds(
    left: PointLists,
    right: PointLists,
    ones: Ints,
    others: Ints,
    query: RelationQuery,
    until: Ints,
    left_total_known: Mask,
    right_total_known: Mask,
    limits: Limits | None = None,
) -> Bounds:
    """Bounds from the cells up to the frontier of each pair, `until`.

    Where the total of a key is known, its lists have all of its points.
    """
    limits = Limits() if limits is None else limits
    left, right = _writable(left), _writable(right)
    lower, upper = np.zeros((len(ones), _n_columns(query))), np.ones((len(ones), _n_columns(query)))
    lower[:, 0] = 0.0 if query.all_left else 1.0
    some = np.flatnonzero(left.simple[ones] & right.simple[others])
    pairs = left, right, ones[some], others[some], query, until[some], left_total_known[some]
    totals = right_total_known[some]
    none, any_number = np.where(totals, KNOWN, 0), np.where(totals, KNOWN, FOREVER)
    worst, best = (any_number, none) if query.right == ALL else (none, any_number)
    low, high, gave_up = _pass(*pairs, worst, limits)
    if _depends_on_followers(query) and not totals.all():
        _, high, gives_up = _pass(*pairs, best, limits)
        gave_up |= gives_up
    lower[some[~gave_up]], upper[some[~gave_up]] = low[~gave_up], high[~gave_up]
    return Bounds(lower, np.maximum(lower, upper))


def _n_columns(query: RelationQuery) -> int:
    return 1 if query.all_left else query.most + 1


def _pass(
    left: PointLists,
    right: PointLists,
    ones: Ints,
    others: Ints,
    query: RelationQuery,
    until: Ints,
    knows_left: Mask,
    followers: Ints,
    limits: Limits,
) -> tuple[Floats, Floats, Mask]:
    """Lower and upper bounds, and which pairs exceed the limits; `followers`: right segments after the frontier."""
    rules = rules_of(query, _more_than_any(right))
    labels = labels_in_order(right) if query.labeled else np.zeros((2, 0), np.int64)
    lower, upper, status = forward(
        left, right, ones, others, rules, labels, query.most, until, knows_left, followers, limits.states,
        limits.operations,
    )  # fmt: skip
    if (status == NO_PLACE).any():
        raise ValueError("points were lost before the first or after the last recorded one, and no rate is given")
    return lower, upper, status == GAVE_UP


def _pass_among(
    left: PointLists, right: PointLists, ones: Ints, others: Ints, query: RelationQuery, limits: Limits
) -> tuple[Floats, Mask]:
    """The same where right segments overlap, which must not have lost ends; left segments must not overlap."""
    found, gave_up = np.zeros((len(ones), _n_columns(query))), np.ones(len(ones), bool)
    some = np.flatnonzero(left.simple[ones] & ~keys_that_lose(right)[others])
    rules = rules_of(query, _more_than_any(right))
    found[some], status = forward_among(
        left, right, ones[some], others[some], rules, query.most, limits.states, limits.operations
    )
    gave_up[some] = status == GAVE_UP
    return found, gave_up


def _more_than_any(right: PointLists) -> int:
    """One more than the largest number of segments of a key."""
    return int(np.diff(right.segments).max(initial=0)) + 1


def _depends_on_followers(query: RelationQuery) -> bool:
    """Whether right segments that open after a left one has closed are related to it."""
    return bool(rules_of(query, 1)[HIT + WHOLLY_BEFORE])


def _writable(lists: PointLists) -> PointLists:
    """The lists as writable arrays: kernels are compiled for these only."""
    return PointLists(*(np.require(one, requirements=["C", "W"]) for one in lists))


def sampled(
    left: PointLists, right: PointLists, ones: Ints, others: Ints, query: RelationQuery, limits: Limits
) -> tuple[Floats, Floats]:
    """Sampled probabilities and their errors; pairs without lost points have one world, which is evaluated once."""
    is_certain = ~(keys_that_lose(left)[ones] | keys_that_lose(right)[others])
    n_samples = np.where(is_certain, 1, limits.n_samples)
    rules = rules_of(query, _more_than_any(right))
    labels = labels_in_order(right)
    hits = sample(left, right, ones, others, rules, labels, query.most, n_samples, np.uint64(limits.seed))
    return hits / n_samples[:, None], np.where(is_certain, 0.0, limits.error)


def keys_that_lose(lists: PointLists) -> NDArray[np.bool_]:
    """Which keys have lost points."""
    before = np.append(0, np.cumsum(lists.lost))
    return before[lists.begins[1:]] > before[lists.begins[:-1]]
