"""The probability of one world: one order of all points of several keys.

The density of all lost points together is constant, m! / L^m for each run of m on a stretch of length L. A world that
has N lost points between two neighboring recorded times at distance `len` fills len^N / N! of the room there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lgamma, log

from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.line import Line, line_of
from tests.reference.lost.exact.weighing import density, volume

World = Sequence[Sequence[tuple[int, int]]]
"""Points in order, those of one time together: each the number of a line and its place there, from 0."""

Stretch = tuple[Fraction, Fraction]


def world_chance(flats: Sequence[Flat], world: World) -> Fraction:
    lines = [line_of(flat) for flat in flats]
    found = density(lines)
    for length, n_lost in _cells(lines, world):
        found *= volume(length, n_lost)
    return found


def log_world_chance(flats: Sequence[Flat], world: World) -> float:
    """Its logarithm, where the probability itself is too small for a float."""
    lines = [line_of(flat) for flat in flats]
    found = sum(_log_volume(length, n_lost) for length, n_lost in _cells(lines, world))
    for run in (run for line in lines for run in line.runs):
        if run.lo is None or run.hi is None:
            raise ValueError("missing_bound")
        found -= _log_volume(run.hi - run.lo, run.size)
    return found


def merged_chance(n_left: int, left: Stretch, n_right: int, right: Stretch) -> Fraction:
    """That two runs, lost on these stretches, lie all on the common part of them, in one given order."""
    common = min(left[1], right[1]) - max(left[0], right[0])
    if common <= 0:
        return Fraction(0)
    return volume(common, n_left + n_right) / volume(left[1] - left[0], n_left) / volume(right[1] - right[0], n_right)


def _cells(lines: Sequence[Line], world: World) -> Iterator[tuple[Fraction, int]]:
    """The length of every cell, and how many lost points of the world it holds."""
    come = [0] * len(lines)
    since: Fraction | None = None
    n_lost = 0
    for item in world:
        times = {lines[line].points[place].time for line, place in item}
        if len(times) != 1 or (None in times and len(item) > 1):
            raise ValueError(f"{item} are not points of one time")
        for line, place in item:
            if place != come[line]:
                raise ValueError(f"point {place} of line {line} comes after {come[line]} others")
            come[line] += 1
        (time,) = times
        if time is None:
            n_lost += 1
            continue
        if since is not None and time <= since:
            raise ValueError(f"{time} comes after {since}")
        if since is not None:
            yield time - since, n_lost
        since, n_lost = time, 0
    if n_lost or come != [len(line.points) for line in lines]:
        raise ValueError("points are missing")


def _log_volume(length: Fraction, n_points: int) -> float:
    return n_points * log(length) - lgamma(n_points + 1)
