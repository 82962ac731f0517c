"""Sectors of a motorway and when they were congested: most never, a few very often, and many at the same times.

How many sectors were never congested, how many once, and how often the worst one was, is given. In between, numbers
have a heavy tail. Sectors that were congested were so in stretches around few accidents, which they share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.generate.arrays import Floats, Integers
from inkling.generate.segments_points import Points, of_counts

TICKS_PER_SECOND = 1_000
HORIZON_SECONDS = 7_200


@dataclass(frozen=True, slots=True)
class Congestion:
    """What is given of a data set."""

    n_sectors: int
    n_never: int
    n_once: int
    most: int  # segments of the worst sector
    n_accidents: int  # at times so far apart that only sectors of one of them meet


BELOW_15 = Congestion(200, 169, 12, 102, 3)
BELOW_20 = Congestion(200, 138, 12, 224, 4)
"""Congested means an average below 15, or below 20 km/h."""


def sectors(given: Congestion = BELOW_20, *, seed: int = 0) -> Points:
    """Keys are sectors, in no particular order; times are milliseconds within two hours."""
    random = np.random.default_rng(seed)
    n_segments = _numbers(given, random)
    turns = 2 * n_segments
    lo, hi = _stretches(given, n_segments, random)
    gaps = random.exponential(1.0, int(turns.sum() + given.n_sectors))
    whose = np.repeat(np.arange(given.n_sectors), turns + 1)
    ends = np.cumsum(turns + 1)
    reached = np.cumsum(gaps) - np.repeat(np.concatenate([[0.0], np.cumsum(gaps)[ends[:-1] - 1]]), turns + 1)
    share = reached / np.repeat(reached[ends - 1], turns + 1)
    seconds = lo[whose] + (hi - lo)[whose] * share
    kept = np.ones(len(gaps), np.bool_)
    kept[ends - 1] = False
    return _apart(of_counts(turns, np.rint(seconds[kept] * TICKS_PER_SECOND).astype(np.int64)))


def _numbers(given: Congestion, random: np.random.Generator) -> Integers:
    n_more = given.n_sectors - given.n_never - given.n_once - 1
    more = np.geomspace(2.0, given.most - 1.0, n_more).astype(np.int64)
    once, never = np.ones(given.n_once, np.int64), np.zeros(given.n_never, np.int64)
    return random.permutation(np.concatenate([never, once, more, [given.most]]))


def _stretches(given: Congestion, n_segments: Integers, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Between which seconds a sector is congested off and on: longer the more often, around its accident."""
    slot = HORIZON_SECONDS / given.n_accidents
    accident = random.permuted(np.arange(n_segments.size) % given.n_accidents)
    middle = (accident + 0.5) * slot + random.normal(0.0, slot / 12, n_segments.size)
    length = 0.3 * slot + (HORIZON_SECONDS - 0.3 * slot) * (n_segments / given.most) ** 2
    lo = np.clip(middle - length / 2, 0.0, HORIZON_SECONDS - length)
    return lo, lo + length


def _apart(points: Points) -> Points:
    """The same points, moved by a tick where two of one sector fall together."""
    place = points.number - 10 * HORIZON_SECONDS * TICKS_PER_SECOND * points.key
    return Points(points.begins, np.maximum.accumulate(points.time - place) + place)
