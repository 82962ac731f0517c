"""What the lost points of a path through the tree of worlds contribute to its probability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import factorial, prod
from typing import NamedTuple, Protocol

from tests.reference.lost.exact.line import Line

Number = Fraction | float
ToNumber = Callable[[Fraction], Number]


class Placed(NamedTuple):
    """A lost point of a path: of which line, and its place there."""

    line: int
    point: int


class Weighing(Protocol):
    """Factors of a path's probability."""

    @property
    def start(self) -> Number:
        """That of a path before its first point."""

    def cell(self, lo: Fraction, hi: Fraction, lost: Sequence[Placed]) -> Number:
        """That of lost points that lie between two recorded times, in this order."""


class Even:
    """Lost points are spread evenly: N of them, in one order, fill len^N / N! of a cell.

    The factor depends on the cell and on how many there are, so it is computed once.
    """

    def __init__(self, lines: tuple[Line, Line], number: ToNumber) -> None:
        self._lines, self._number = lines, number
        self._volumes: dict[tuple[Fraction, int], Number] = {}
        self.n_cached = 0

    @property
    def start(self) -> Number:
        """The density of all lost points together."""
        return self._number(density(self._lines))

    def cell(self, lo: Fraction, hi: Fraction, lost: Sequence[Placed]) -> Number:
        key = lo, len(lost)
        if key in self._volumes:
            self.n_cached += 1
        else:
            self._volumes[key] = self._number(volume(hi - lo, len(lost)))
        return self._volumes[key]

    def rest(self, now: Fraction, come: tuple[int, int]) -> Number:
        """That of all continuations together, from a recorded time at which so many points of each line have come."""
        volumes = (
            volume(run.hi - max(run.lo, now), run.stop - max(run.first, n_come))
            for line, n_come in zip(self._lines, come, strict=True)
            for run in line.runs
            if run.lo is not None and run.hi is not None and run.hi > now
        )
        return self._number(prod(volumes, start=Fraction(1)))


def density(lines: Sequence[Line]) -> Fraction:
    found = Fraction(1)
    for line in lines:
        for run in line.runs:
            if run.lo is None or run.hi is None:
                raise ValueError("missing_bound")
            found /= volume(run.hi - run.lo, run.size)
    return found


def volume(length: Fraction, n_points: int) -> Fraction:
    """Of the ways in which so many points can lie on a stretch in one order."""
    return length**n_points / factorial(n_points)
