"""Pairs of keys whose points come one after the other by chance: the workload on which relations are judged.

Times are whole ticks, a million of them to a unit of time, so that no two points of different keys fall together.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from inkling.generate.arrays import Floats, Integers
from inkling.generate.segments_gaps import LAWS, MEAN_GAP
from inkling.generate.segments_points import Points, of_matrix

TICKS_PER_UNIT = 1_000_000

Start: TypeAlias = Literal["zero", "exp", "aligned"]
"""Both first points at 0; the first gap drawn like the others; both first points at 0 and both last ones together."""

STARTS: tuple[Start, ...] = ("zero", "exp", "aligned")


def pairs(
    n_pairs: int, *, n_segments: int = 20, start: Start = "zero", gaps: str = "exponential", seed: int = 0
) -> tuple[Points, Points]:
    """Keys on the left and on the right; key i on the left makes a pair with key i on the right.

    >>> left, right = pairs(3, n_segments=2, start="aligned")
    >>> left.counts.tolist(), set(left.time[3::4]) == set(right.time[3::4])
    ([4, 4, 4], True)
    """
    if n_pairs < 1 or n_segments < 1:
        raise ValueError(f"expected at least one pair and one segment, found {n_pairs=}, {n_segments=}")
    if start not in STARTS:
        raise ValueError(f"expected start to be one of {', '.join(STARTS)}, found {start!r}")
    if gaps not in LAWS:
        raise ValueError(f"unknown law of gaps {gaps!r}, expected one of {', '.join(LAWS)}")
    random = np.random.default_rng(seed)
    drawn = LAWS[gaps](random, (2, n_pairs, 2 * n_segments))
    if start != "exp":
        drawn[..., 0] = 0.0
    if start == "aligned":
        drawn *= MEAN_GAP * (2 * n_segments - 1) / drawn.sum(axis=-1, keepdims=True)
    left, right = (of_matrix(_ticks(side)) for side in drawn)
    return left, right


def _ticks(gaps: Floats) -> Integers:
    """Times after gaps of which only the first may be nothing."""
    ticks = np.rint(np.cumsum(gaps, axis=-1) * TICKS_PER_UNIT).astype(np.int64)
    place = np.arange(gaps.shape[-1])
    apart: Integers = np.maximum.accumulate(ticks - place, axis=-1) + place
    return apart
