"""Probabilities of relations between segments with lost ends, for many pairs of keys: exact, or sampled.

The exact algorithm is a forward pass over the points of both keys in order of time. It is the resolution algorithm of
SimpMatch (section 3.3), with possible worlds merged as soon as their future is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.relation.lists import ALL, PointLists, RelationQuery
from inkling.evaluators.sampling import Sampling
from inkling.kernels.relation import rules as kernel
from inkling.kernels.relation.crossed import forward_among
from inkling.kernels.relation.forward import GAVE_UP, NO_PLACE, forward
from inkling.kernels.relation.rules import AFTER, AT, BEFORE, HIT, WHOLLY_BEFORE
from inkling.kernels.relation.samples import sample
from inkling.model.batch import FOREVER, Ints


@dataclass(frozen=True, slots=True)
class Limits:
    """A pair of keys may take so many states and operations; beyond that, so many samples have this error at most."""

    n_samples: int = 20_000
    error: float = 0.01
    seed: int = 0
    states: int = 2**25
    operations: int = 2**34

    @classmethod
    def of(cls, sampling: Sampling) -> Limits:
        """The limits that the settings of a run set."""
        return cls(n_samples=sampling.n_worlds, error=sampling.epsilon, seed=sampling.seed)


LATER = ((BEFORE, BEFORE), (AT, BEFORE), (AT, AT), (AFTER, BEFORE), (AFTER, AT), (AFTER, AFTER))
"""How the closing of a left segment can compare with both ends of a right one that opens after it has opened."""


def rules_of(asked: RelationQuery, too_many: int) -> Ints:
    """Rules for right keys that have fewer segments than `too_many`."""
    all_right = asked.right == ALL
    hit = 1 - asked.table if all_right else asked.table
    by_sign = hit.reshape(3, 3, 3, 3)
    while_open = by_sign[:, BEFORE, AFTER, :]
    at_once = while_open.min(axis=1)
    ending, place = np.unique(while_open - at_once[:, None], axis=0, return_inverse=True)
    # a right segment that opens while the left one is open has place 0, as if none were open
    order = np.argsort(np.arange(len(ending)) != place[BEFORE], kind="stable")
    ending, place = ending[order], np.argsort(order)[place]
    rules = np.zeros(kernel.N_RULES, np.int64)
    rules[kernel.N_PLACES] = len(ending)
    rules[kernel.LEAST] = -1 if all_right else min(asked.right, too_many)
    rules[kernel.CAP] = 1 if all_right else rules[kernel.LEAST]
    rules[kernel.LABELED] = asked.labeled
    rules[kernel.EVERY] = asked.all_left
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


Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

KNOWN = -1
"""Instead of a number of right segments that follow: that of the lists."""


@dataclass(frozen=True, slots=True)
class RelationProbabilities:
    """Per pair, how probable it is that at least 0, 1, … left segments qualify, or in one column that all do."""

    at_least: Floats
    error: Floats  # 0 where that is exact, else how far off it may be


@dataclass(frozen=True, slots=True)
class Bounds:
    """The same as it is certain by a time: at least and at most."""

    lower: Floats
    upper: Floats


def chances(
    left: PointLists, right: PointLists, ones: Ints, others: Ints, asked: RelationQuery, limits: Limits
) -> RelationProbabilities:
    """The final answers; pairs that are too large, or whose left segments overlap, are sampled."""
    left, right = _writable(left), _writable(right)
    at_least, error = np.zeros((len(ones), _n_columns(asked))), np.zeros(len(ones))
    rest = np.zeros(len(ones), bool)
    in_step = left.simple[ones] & right.simple[others]
    if (some := np.flatnonzero(in_step)).size:
        every, known = np.full(len(some), FOREVER), np.ones(len(some), bool)
        followers = np.full(len(some), KNOWN)
        at_least[some], _, rest[some] = _pass(
            left, right, ones[some], others[some], asked, every, known, followers, limits
        )
    if (some := np.flatnonzero(~in_step)).size:
        at_least[some], rest[some] = _pass_among(left, right, ones[some], others[some], asked, limits)
    if (some := np.flatnonzero(rest)).size:
        at_least[some], error[some] = sampled(left, right, ones[some], others[some], asked, limits)
    return RelationProbabilities(at_least, error)


def bounds(
    left: PointLists,
    right: PointLists,
    ones: Ints,
    others: Ints,
    asked: RelationQuery,
    until: Ints,
    left_total_known: Mask,
    right_total_known: Mask,
    limits: Limits | None = None,
) -> Bounds:
    """What is certain by a time of each pair up to which everything about both keys is known.

    Cells that end later are not looked at. Where the total of a key is known, its lists have all of its points.
    """
    limits = Limits() if limits is None else limits
    left, right = _writable(left), _writable(right)
    lower, upper = np.zeros((len(ones), _n_columns(asked))), np.ones((len(ones), _n_columns(asked)))
    lower[:, 0] = 0.0 if asked.all_left else 1.0
    some = np.flatnonzero(left.simple[ones] & right.simple[others])
    pairs = left, right, ones[some], others[some], asked, until[some], left_total_known[some]
    totals = right_total_known[some]
    none, any_number = np.where(totals, KNOWN, 0), np.where(totals, KNOWN, FOREVER)
    worst, best = (any_number, none) if asked.right == ALL else (none, any_number)
    low, high, gave_up = _pass(*pairs, worst, limits)
    if _depends_on_followers(asked) and not totals.all():
        _, high, gives_up = _pass(*pairs, best, limits)
        gave_up |= gives_up
    lower[some[~gave_up]], upper[some[~gave_up]] = low[~gave_up], high[~gave_up]
    return Bounds(lower, np.maximum(lower, upper))


def _n_columns(asked: RelationQuery) -> int:
    return 1 if asked.all_left else asked.most + 1


def _pass(
    left: PointLists,
    right: PointLists,
    ones: Ints,
    others: Ints,
    asked: RelationQuery,
    until: Ints,
    knows_left: Mask,
    followers: Ints,
    limits: Limits,
) -> tuple[Floats, Floats, Mask]:
    """Bounds, and for which pairs they would take too much; `followers` are right segments nobody has heard of yet."""
    rules = rules_of(asked, _more_than_any(right))
    labels = labels_in_order(right) if asked.labeled else np.zeros((2, 0), np.int64)
    lower, upper, status = forward(
        left, right, ones, others, rules, labels, asked.most, until, knows_left, followers, limits.states,
        limits.operations,
    )  # fmt: skip
    if (status == NO_PLACE).any():
        raise ValueError("points were lost before the first or after the last recorded one, and no rate is given")
    return lower, upper, status == GAVE_UP


def _pass_among(
    left: PointLists, right: PointLists, ones: Ints, others: Ints, asked: RelationQuery, limits: Limits
) -> tuple[Floats, Mask]:
    """The same where segments overlap; only right ones may, and none of their ends may be lost."""
    found, gave_up = np.zeros((len(ones), _n_columns(asked))), np.ones(len(ones), bool)
    some = np.flatnonzero(left.simple[ones] & ~keys_that_lose(right)[others])
    rules = rules_of(asked, _more_than_any(right))
    found[some], status = forward_among(
        left, right, ones[some], others[some], rules, asked.most, limits.states, limits.operations
    )
    gave_up[some] = status == GAVE_UP
    return found, gave_up


def _more_than_any(right: PointLists) -> int:
    """More segments than any key has."""
    return int(np.diff(right.segments).max(initial=0)) + 1


def _depends_on_followers(asked: RelationQuery) -> bool:
    """Whether right segments count that open after a left one has closed."""
    return bool(rules_of(asked, 1)[HIT + WHOLLY_BEFORE])


def _writable(lists: PointLists) -> PointLists:
    """Kernels are compiled once, for arrays that can be written to."""
    return PointLists(*(np.require(one, requirements=["C", "W"]) for one in lists))


def sampled(
    left: PointLists, right: PointLists, ones: Ints, others: Ints, asked: RelationQuery, limits: Limits
) -> tuple[Floats, Floats]:
    """How probable at least 0, 1, … qualifying segments are, per pair, and how far off that may be.

    Where nothing was lost there is one world, which is looked at once.
    """
    is_certain = ~(keys_that_lose(left)[ones] | keys_that_lose(right)[others])
    n_samples = np.where(is_certain, 1, limits.n_samples)
    rules = rules_of(asked, int(np.diff(right.segments).max(initial=0)) + 1)
    labels = labels_in_order(right)
    hits = sample(left, right, ones, others, rules, labels, asked.most, n_samples, np.uint64(limits.seed))
    return hits / n_samples[:, None], np.where(is_certain, 0.0, limits.error)


def keys_that_lose(lists: PointLists) -> NDArray[np.bool_]:
    """Of each key, whether it lost points."""
    before = np.append(0, np.cumsum(lists.lost))
    return before[lists.begins[1:]] > before[lists.begins[:-1]]
