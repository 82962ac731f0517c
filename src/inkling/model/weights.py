"""Weighted things and exact numbers: what the worlds of every kind of doubt are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

Thing = TypeVar("Thing")
Row: TypeAlias = Mapping[str, object]
Rows: TypeAlias = Sequence[Row]
Weighted: TypeAlias = tuple[Fraction, Thing]


TOLERANCE = Fraction(1, 10**9)
"""How far sums of written probabilities may miss what they stand for."""


def exact(number: object) -> Fraction:
    """A number as it was written: `0.1` is one tenth."""
    if isinstance(number, float):
        return Fraction(repr(number))
    if isinstance(number, int | Fraction | str):
        return Fraction(number)
    raise TypeError(f"{number!r} is no number")


def probability(number: object) -> Fraction:
    if number is None:
        raise ValueError("a probability is missing")
    prob = exact(number)
    if not -TOLERANCE <= prob <= 1 + TOLERANCE:
        raise ValueError(f"a probability lies in [0, 1], got {prob}")
    return min(max(prob, Fraction(0)), Fraction(1))


def normalized(weights: Iterable[object]) -> list[Fraction]:
    """Weights scaled to sum to 1."""
    listed = list(weights)
    if any(weight is None for weight in listed):
        raise ValueError("weights are numbers")
    numbers = [exact(weight) for weight in listed]
    total = sum(numbers, start=Fraction(0))
    if total <= 0 or any(number < 0 for number in numbers):
        raise ValueError("weights are not negative and not all zero")
    return [number / total for number in numbers]


def with_nothing(alternatives: Iterable[Weighted[Thing]]) -> list[Weighted[Thing | None]]:
    """Alternatives of positive probability; the missing mass is None. A sum that is nearly 1 is meant to be 1."""
    listed: list[Weighted[Thing | None]] = [(prob, thing) for prob, thing in alternatives if prob > 0]
    total = sum((prob for prob, _ in listed), start=Fraction(0))
    if total > 1 + TOLERANCE:
        raise ValueError(f"probabilities of alternatives sum to {float(total):g}")
    if total >= 1 - TOLERANCE:
        return [(prob / total, thing) for prob, thing in listed]
    return [*listed, (1 - total, None)]
