"""How probable relations between segments with lost ends are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.evaluators.lost.lists import Asked, Lists
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class Limits:
    """When to sample instead, and how."""

    n_samples: int = 20_000
    error: float = 0.01
    seed: int = 0
    states: int = 2**25


@dataclass(frozen=True, slots=True)
class Chances:
    at_least: np.ndarray
    error: np.ndarray


@dataclass(frozen=True, slots=True)
class Bounds:
    lower: np.ndarray
    upper: np.ndarray


def chances(left: Lists, right: Lists, ones: Ints, others: Ints, asked: Asked, limits: Limits) -> Chances:
    raise NotImplementedError


def bounds(
    left: Lists,
    right: Lists,
    ones: Ints,
    others: Ints,
    asked: Asked,
    until: Ints,
    left_total_known: np.ndarray,
    right_total_known: np.ndarray,
) -> Bounds:
    raise NotImplementedError
