"""How probable relations between segments with lost ends are, for many pairs of keys at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.lost.limits import Limits
from inkling.evaluators.lost.lists import ALL, Asked, Lists
from inkling.evaluators.lost.rules import labels_in_order, rules_of
from inkling.evaluators.lost.sampled import sampled
from inkling.kernels.lost_forward import GAVE_UP, NO_PLACE, forward
from inkling.kernels.lost_rules import HIT, WHOLLY_BEFORE
from inkling.model.batch import FOREVER, Ints

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

KNOWN = -1
"""Instead of a number of right segments that follow: that of the lists."""


@dataclass(frozen=True, slots=True)
class Chances:
    """Per pair, how probable it is that at least 0, 1, … left segments qualify, or in one column that all do."""

    at_least: Floats
    error: Floats  # 0 where that is exact, else how far off it may be


@dataclass(frozen=True, slots=True)
class Bounds:
    """The same as it is certain by a time: at least and at most."""

    lower: Floats
    upper: Floats


def chances(left: Lists, right: Lists, ones: Ints, others: Ints, asked: Asked, limits: Limits) -> Chances:
    """The final answers; pairs that are too large, or whose left segments overlap, are sampled."""
    n = len(ones)
    left, right = _writable(left), _writable(right)
    at_least, error = np.zeros((n, 1 if asked.all_left else asked.most + 1)), np.zeros(n)
    passable = left.simple[ones] & right.simple[others]
    some = np.flatnonzero(passable)
    known, until = np.ones(len(some), bool), np.full(len(some), FOREVER)
    at_least[some], _, status = _pass(
        left, right, ones[some], others[some], asked, until, known, np.full(len(some), KNOWN), limits
    )
    passable[some[status == GAVE_UP]] = False
    if (rest := np.flatnonzero(~passable)).size:
        at_least[rest], error[rest] = sampled(left, right, ones[rest], others[rest], asked, limits)
    return Chances(at_least, error)


def bounds(
    left: Lists,
    right: Lists,
    ones: Ints,
    others: Ints,
    asked: Asked,
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
    n, all_right = len(ones), asked.right == ALL
    none, any_number = np.zeros(n, np.int64), np.full(n, FOREVER)
    worst, best = (any_number, none) if all_right else (none, any_number)
    lower, upper = np.zeros((n, 1 if asked.all_left else asked.most + 1)), None
    for follows in (worst, best):
        unopened = np.where(right_total_known, KNOWN, follows)
        low, high, status = _pass(left, right, ones, others, asked, until, left_total_known, unopened, limits)
        low[status == GAVE_UP], high[status == GAVE_UP] = 0.0, 1.0
        if upper is None:
            lower = low
        upper = high
        if right_total_known.all() or not _depends_on_followers(asked):
            break
    assert upper is not None
    return Bounds(lower, np.maximum(lower, upper))


def _pass(
    left: Lists,
    right: Lists,
    ones: Ints,
    others: Ints,
    asked: Asked,
    until: Ints,
    knows_left: Mask,
    unopened: Ints,
    limits: Limits,
) -> tuple[Floats, Floats, NDArray[np.int8]]:
    rules = rules_of(asked, int(np.diff(right.segments).max(initial=0)) + 1)
    labels = labels_in_order(right) if asked.labeled else np.zeros((2, 0), np.int64)
    lower, upper, status = forward(
        left, right, ones, others, rules, labels, asked.most, until, knows_left, unopened, limits.states,
        limits.operations,
    )  # fmt: skip
    if (status == NO_PLACE).any():
        raise ValueError("points were lost before the first or after the last recorded one, and no rate is given")
    return lower, upper, status


def _depends_on_followers(asked: Asked) -> bool:
    """Whether right segments count that open after a left one has closed."""
    return bool(rules_of(asked, 1)[HIT + WHOLLY_BEFORE])


def _writable(lists: Lists) -> Lists:
    """Kernels are compiled once, for arrays that can be written to."""
    return Lists(*(np.require(one, requirements=["C", "W"]) for one in lists))
