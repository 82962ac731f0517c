"""Workloads on which relations with lost ends are judged, and losses: what evaluators and programs see of the rest.

`pairs` draws keys whose points come one after the other by chance. Times are whole ticks, a million of them to a unit
of time, so that no two points of different keys fall together.

`sectors` draws sectors of a motorway and when they were congested: most never, a few very often, and many at the same
times. How many sectors were never congested, how many once, and how often the worst one was, is given. In between,
numbers have a heavy tail. Sectors that were congested were so in stretches around few accidents, which they share.

`lost` draws which points were not recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from inkling.examples.generators.numbering import prefixed
from inkling.examples.generators.randomness import Booleans, Floats, Integers
from inkling.examples.generators.segments import MARK, SegmentPoints, of_counts

from inkling.evaluators.relation.points import CLOSES, NEITHER, OPENS, PointLists


def of_matrix(times: Integers) -> SegmentPoints:
    """A row per key, all with as many points.

    >>> of_matrix(np.array([[1, 2], [5, 9]])).number
    array([1, 2, 1, 2])
    """
    n_keys, n_points = times.shape
    return SegmentPoints(np.arange(n_keys + 1) * n_points, times.ravel())


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


TICKS_PER_UNIT = 1_000_000

Start: TypeAlias = Literal["zero", "exp", "aligned"]
"""Both first points at 0; the first gap drawn like the others; both first points at 0 and both last ones together."""

STARTS: tuple[Start, ...] = ("zero", "exp", "aligned")


def pairs(
    n_pairs: int, *, n_segments: int = 20, start: Start = "zero", gaps: str = "exponential", seed: int = 0
) -> tuple[SegmentPoints, SegmentPoints]:
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


def sectors(given: Congestion = BELOW_20, *, seed: int = 0) -> SegmentPoints:
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


def _apart(points: SegmentPoints) -> SegmentPoints:
    """The same points, moved by a tick where two of one sector fall together."""
    place = points.number - 10 * HORIZON_SECONDS * TICKS_PER_SECOND * points.key
    return SegmentPoints(points.begins, np.maximum.accumulate(points.time - place) + place)


Turns: TypeAlias = npt.NDArray[np.int8]


def lost(
    points: SegmentPoints, share: float, *, seed: int = 0, keep_first: bool = True, keep_last: bool = True
) -> Booleans:
    """Which points are lost, each independently of all others; the first and the last of a key stay unless told.

    >>> lost(pairs(1, n_segments=2)[0], 1.0).tolist()
    [False, True, True, False]
    """
    if not 0 <= share <= 1:
        raise ValueError(f"expected a share from 0 to 1, found {share}")
    is_lost = np.random.default_rng(seed).random(len(points.time)) < share
    has_points = points.counts > 0
    if keep_first:
        is_lost[points.begins[:-1][has_points]] = False
    if keep_last:
        is_lost[points.begins[1:][has_points] - 1] = False
    return is_lost


def lists_of(
    points: SegmentPoints, is_lost: Booleans | None = None, *, between: tuple[int, int] | None = None, shape: int = 1
) -> PointLists:
    """Points as evaluators read them.

    `between` limits what was lost at the ends of a key. Where gaps are Erlang with a `shape`, points that are no events
    hide around the lost ones.
    """
    is_lost = np.zeros(len(points.time), np.bool_) if is_lost is None else is_lost
    counts, number = points.counts, points.number
    has_head, has_tail = _open_ends(points, is_lost)
    if between is None and (has_head.any() or has_tail.any()):
        raise ValueError("what was lost at the end of a key needs limits")
    room = counts + has_head + has_tail
    begins = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    n_points = int(begins[-1])
    row = np.repeat(begins[:-1], counts) + number - 1 + np.repeat(has_head, counts)
    time, lacks, turn = np.zeros(n_points, np.int64), np.zeros(n_points, np.bool_), np.full(n_points, NEITHER, np.int8)
    time[row] = np.where(is_lost, 0, points.time)
    lacks[row] = is_lost
    turn[row] = np.where(number % 2 == 1, OPENS, CLOSES)
    if between is not None:
        time[begins[:-1][has_head]], time[begins[1:][has_tail] - 1] = between
    begins, row, time, lacks, turn = _with_hidden(begins, row, time, lacks, turn, shape - 1)
    place, opens = row - np.repeat(begins[:-1], counts), number % 2 == 1
    return PointLists(
        begins=begins,
        time=time,
        along=np.empty(0),
        lost=lacks,
        turn=turn,
        segments=points.begins // 2,
        opening=place[opens],
        closing=place[~opens],
        label=np.zeros(int(opens.sum()), np.int64),
        head=np.zeros(points.n_keys),
        tail=np.zeros(points.n_keys),
        simple=np.ones(points.n_keys, np.bool_),
    )


def _with_hidden(
    begins: Integers, row: Integers, time: Integers, lacks: Booleans, turn: Turns, n_hidden: int
) -> tuple[Integers, Integers, Integers, Booleans, Turns]:
    """The same with so many lost points more before each lost one, and before the recorded one after them."""
    after_lost = np.concatenate([[False], lacks[:-1]]) if lacks.size else lacks
    place = np.arange(lacks.size) + np.cumsum(n_hidden * (lacks | after_lost))
    n_points = lacks.size + int(n_hidden * (lacks | after_lost).sum())
    more_time, more_lacks = np.zeros(n_points, np.int64), np.ones(n_points, np.bool_)
    more_turn = np.full(n_points, NEITHER, np.int8)
    more_time[place], more_lacks[place], more_turn[place] = time, lacks, turn
    # a key begins with a recorded point, before which nothing hides
    return np.append(place, n_points)[begins], place[row], more_time, more_lacks, more_turn


def table_of(
    points: SegmentPoints,
    is_lost: Booleans | None = None,
    *,
    between: tuple[int, int] | None = None,
    prefix: str = "key",
) -> pa.Table:
    """Rows for a program: `key`, `n`, `role`, `t`; with `between`, a mark before and a mark after the points of a key.

    >>> rows = table_of(of_matrix(np.array([[3, 8]])), np.array([True, False]), between=(0, 9))
    >>> rows["n"].to_pylist(), rows["role"].to_pylist(), rows["t"].to_pylist()
    ([0, 2, 2], ['mark', 'close', 'mark'], [0, 8, 9])
    """
    is_lost = np.zeros(len(points.time), np.bool_) if is_lost is None else is_lost
    key, number, time = (column[~is_lost] for column in (points.key, points.number, points.time))
    role = np.where(number % 2 == 1, "open", "close")
    if between is not None:
        every = np.arange(points.n_keys)
        key = np.concatenate([every, key, every])
        number = np.concatenate([np.zeros_like(every), number, points.counts])
        time = np.concatenate([np.full_like(every, between[0]), time, np.full_like(every, between[1])])
        role = np.concatenate([np.full(every.size, MARK), role, np.full(every.size, MARK)])
    order = np.argsort(time, kind="stable")
    columns = {
        "key": prefixed(prefix, key[order], width=3),
        "n": number[order],
        "role": role[order].tolist(),
        "t": time[order],
    }
    return pa.table(columns)


def _open_ends(points: SegmentPoints, is_lost: Booleans) -> tuple[Booleans, Booleans]:
    """Keys whose first, and whose last point was lost."""
    ends = np.zeros((2, points.n_keys), np.bool_)
    has_points = points.counts > 0
    ends[0, has_points] = is_lost[points.begins[:-1][has_points]]
    ends[1, has_points] = is_lost[points.begins[1:][has_points] - 1]
    return ends[0], ends[1]


def n_events(one: PointLists, other: PointLists, ones: Integers, others: Integers) -> int:
    """Points that open or close in all pairs, lost or not: what throughput counts."""
    sides = ((one, ones), (other, others))
    return int(sum(2 * np.diff(side.segments)[keys].sum() for side, keys in sides))
