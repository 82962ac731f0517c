"""Weighted things and exact numbers: what the worlds of every kind of doubt are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

Thing = TypeVar("Thing")
Row: TypeAlias = Mapping[str, object]
Rows: TypeAlias = Sequence[Row]
Weighted: TypeAlias = tuple[Fraction, Thing]


def exact(number: object) -> Fraction:
    """A number as it was written: `0.1` is one tenth."""
    if isinstance(number, float):
        return Fraction(repr(number))
    if isinstance(number, int | Fraction | str):
        return Fraction(number)
    raise TypeError(f"{number!r} is no number")


def probability(number: object) -> Fraction:
    prob = exact(number)
    if not 0 <= prob <= 1:
        raise ValueError(f"a probability lies in [0, 1], got {prob}")
    return prob


def normalized(weights: Iterable[object]) -> list[Fraction]:
    """Weights scaled to sum to 1."""
    numbers = [exact(weight) for weight in weights]
    total = sum(numbers, start=Fraction(0))
    if total <= 0 or any(number < 0 for number in numbers):
        raise ValueError("weights are not negative and not all zero")
    return [number / total for number in numbers]


def with_nothing(alternatives: Iterable[Weighted[Thing]]) -> list[Weighted[Thing | None]]:
    """Alternatives of positive probability; the missing mass is None."""
    listed: list[Weighted[Thing | None]] = [(prob, thing) for prob, thing in alternatives if prob > 0]
    missing = 1 - sum((prob for prob, _ in listed), start=Fraction(0))
    if missing < 0:
        raise ValueError(f"probabilities of alternatives sum to {float(1 - missing):g}")
    return [*listed, (missing, None)] if missing > 0 else listed
