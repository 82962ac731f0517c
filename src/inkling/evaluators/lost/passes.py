"""How probable relations between segments with lost ends are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.lost.lists import ALL, Asked, Lists
from inkling.evaluators.lost.rules import rules_of
from inkling.kernels.lost_forward import forward
from inkling.model.batch import FOREVER, Ints

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Limits:
    """When to sample instead, and how: so many samples have no more than this error."""

    n_samples: int = 20_000
    error: float = 0.01
    seed: int = 0
    states: int = 2**25
    operations: int = 2**34


@dataclass(frozen=True, slots=True)
class Chances:
    at_least: Floats
    error: Floats


@dataclass(frozen=True, slots=True)
class Bounds:
    lower: Floats
    upper: Floats


def chances(left: Lists, right: Lists, ones: Ints, others: Ints, asked: Asked, limits: Limits) -> Chances:
    n = len(ones)
    rules = rules_of(asked, int(np.diff(right.segments).max(initial=0)) + 1)
    labels = by_label(right)
    lower, _, status = forward(
        left, right, ones, others, rules, labels, asked.most, np.full(n, FOREVER), np.ones(n, bool),
        np.full(n, -1), limits.states, limits.operations,
    )  # fmt: skip
    assert not status.any(), status
    return Chances(lower, np.zeros(n))


def by_label(right):
    key = np.repeat(np.arange(len(right.segments) - 1), np.diff(right.segments))
    order = np.lexsort((right.label, key))
    return np.stack([right.label[order], order - right.segments[key]])
