"""Relations in sampled worlds, where a pair of keys is too large to be counted out or its segments overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.lost.limits import Limits
from inkling.evaluators.lost.lists import Asked, Lists
from inkling.evaluators.lost.rules import labels_in_order, rules_of
from inkling.kernels.lost_samples import sample
from inkling.model.batch import Ints

Floats = NDArray[np.float64]


def sampled(left: Lists, right: Lists, ones: Ints, others: Ints, asked: Asked, limits: Limits) -> tuple[Floats, Floats]:
    """How probable at least 0, 1, … qualifying segments are, per pair, and how far off that may be.

    Where nothing was lost there is one world, which is looked at once.
    """
    is_certain = ~(keys_that_lose(left)[ones] | keys_that_lose(right)[others])
    n_samples = np.where(is_certain, 1, limits.n_samples)
    rules = rules_of(asked, int(np.diff(right.segments).max(initial=0)) + 1)
    labels = labels_in_order(right)
    hits = sample(left, right, ones, others, rules, labels, asked.most, n_samples, np.uint64(limits.seed))
    return hits / n_samples[:, None], np.where(is_certain, 0.0, limits.error)


def keys_that_lose(lists: Lists) -> NDArray[np.bool_]:
    """Of each key, whether it lost points."""
    before = np.append(0, np.cumsum(lists.lost))
    return before[lists.begins[1:]] > before[lists.begins[:-1]]
