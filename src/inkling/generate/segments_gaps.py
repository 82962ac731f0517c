"""Laws of the time from one point to the next, all with the same mean."""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import numpy as np

from inkling.generate.arrays import Floats

MEAN_GAP = 5.0

Law = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def _exponential(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return random.exponential(MEAN_GAP, shape)


def _lognormal(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return random.lognormal(0.0, 1.0, shape) * (MEAN_GAP / exp(0.5))


def _gamma(shape_of_law: float) -> Law:
    def law(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return random.gamma(shape_of_law, MEAN_GAP / shape_of_law, shape)

    return law


def _near_periodic(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return random.normal(MEAN_GAP, MEAN_GAP / 10, shape)


LAWS: dict[str, Law] = {
    "exponential": _exponential,
    "lognormal": _lognormal,
    "gamma 0.3": _gamma(0.3),
    "gamma 4": _gamma(4.0),
    "near periodic": _near_periodic,
}
"""Only the first makes arrivals of a Poisson process; `gamma 4` is what Erlang gaps of shape 4 are."""
