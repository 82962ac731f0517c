"""Alternatives of uncertain events, with their probabilities and their rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from inkling.model.batch import Ints

Weights = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]
"""Probabilities, or numbers of worlds."""


class Precision(Enum):
    """What probabilities are counted in: fractions are exact to the last digit, and slow."""

    FLOAT = "float"
    FRACTION = "fraction"


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One entry of `sizes` per choice, one of `weights` and `n_placed` per alternative, one of `rows` per assigned row.

    `times` are those of the worlds' clock, `OWN_TIME` for a row that keeps its own.
    """

    sizes: Ints
    weights: Weights
    n_placed: Ints
    rows: Ints
    times: Ints


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the things that may be the case: a probability and (row, time) for all that happens then."""

    weight: Fraction
    assignment: tuple[tuple[int, int], ...]


def listed(choices: Iterable[list[Alternative]], numbers: Precision) -> Alternatives:
    """Choices whose alternatives were written out one by one."""
    choices = list(choices)
    each = [one for choice in choices for one in choice]
    assignment = [pair for one in each for pair in one.assignment]
    return Alternatives(
        np.array([len(choice) for choice in choices], np.int64),
        weights_of([one.weight for one in each], numbers),
        np.array([len(one.assignment) for one in each], np.int64),
        np.array([row for row, _ in assignment], np.int64),
        np.array([time for _, time in assignment], np.int64),
    )


def weights_of(fractions: list[Fraction], numbers: Precision) -> Weights:
    if numbers is Precision.FLOAT:
        return np.array([float(one) for one in fractions], np.float64)
    exact = np.empty(len(fractions), object)
    exact[:] = fractions
    return exact
