"""A key as everything that takes part in the order: its points, bounds around them, and what Erlang gaps hide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from tests.reference.lost.exact.flat import Flat

from inkling.evaluators.relation.points import CLOSES, NEITHER, OPENS

Along = Callable[[Fraction], Fraction]
"""Where a time lies on the axis on which lost points are spread evenly; later times lie farther on."""


class Point(NamedTuple):
    """What opens or closes a segment, or does neither."""

    time: Fraction | None
    turn: int


class Run(NamedTuple):
    """Points `first` to `stop - 1`, all lost, between two recorded ones; None where there is no such one."""

    first: int
    stop: int
    lo: Fraction | None
    hi: Fraction | None

    @property
    def size(self) -> int:
        return self.stop - self.first


class Span(NamedTuple):
    """A segment: which points open and close it, and its label."""

    opening: int
    closing: int
    label: object


@dataclass(frozen=True)
class Line:
    """Points in order. Those lost before the first or after the last recorded one come at `rate`."""

    points: tuple[Point, ...]
    spans: tuple[Span, ...]
    rate: float | None = None

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """What was lost, from one recorded point to the next."""
        recorded = [place for place, point in enumerate(self.points) if point.time is not None]
        borders = [-1, *recorded, len(self.points)]
        return tuple(
            Run(
                before + 1,
                after,
                None if before < 0 else self.points[before].time,
                None if after == len(self.points) else self.points[after].time,
            )
            for before, after in pairwise(borders)
            if after - before > 1
        )

    @property
    def is_bounded(self) -> bool:
        return all(run.lo is not None and run.hi is not None for run in self.runs)

    def at(self, time: Fraction) -> list[int]:
        """The recorded points of that time."""
        return [place for place, point in enumerate(self.points) if point.time == time]


def line_of(flat: Flat, along: Along | None = None) -> Line:
    """Bounds become points where they limit what was lost; a last point that opens a segment has none."""
    points = tuple(_measured(point, along) for point in _with_bounds(flat))
    ends = [place for place, point in enumerate(points) if point.turn != NEITHER]
    spans = zip(ends[::2], ends[1::2], flat.label_of_each, strict=False)
    rate = None if flat.rate is None else flat.rate * flat.shape
    return Line(points, tuple(Span(*span) for span in spans), rate)


def breakpoints(*lines: Line) -> list[Fraction]:
    """Every recorded time, once."""
    return sorted({point.time for line in lines for point in line.points if point.time is not None})


def _measured(point: Point, along: Along | None) -> Point:
    return point if along is None or point.time is None else Point(along(point.time), point.turn)


def _with_bounds(flat: Flat) -> Iterator[Point]:
    """An Erlang gap hides a point less than its shape, between any two events and between an event and a bound.

    Where a rate takes the place of a bound, the farthest lost event is the end of what is known.
    """
    hidden = [Point(None, NEITHER)] * (flat.shape - 1)
    before: Fraction | None = None
    is_first = True
    if flat.loses_its_head and flat.lo is not None:
        yield Point(flat.lo, NEITHER)
        before, is_first = flat.lo, False
    for place, time in enumerate(flat.times):
        if not is_first and (time is None or before is None):
            yield from hidden
        yield Point(time, CLOSES if place % 2 else OPENS)
        before, is_first = time, False
    if flat.loses_its_tail and flat.hi is not None:
        yield from hidden
        yield Point(flat.hi, NEITHER)
