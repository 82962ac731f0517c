"""Workloads of segments are what they say: gaps, losses, and how often segments of two keys meet."""

from fractions import Fraction

import numpy as np
import pytest
from inkling.examples.generators.segments import SegmentPoints, of_counts, pairs_of, shared
from tests.kit.lost_workloads import (
    BELOW_15,
    BELOW_20,
    HORIZON_SECONDS,
    LAWS,
    TICKS_PER_SECOND,
    TICKS_PER_UNIT,
    Congestion,
    Start,
    lists_of,
    lost,
    n_events,
    of_matrix,
    pairs,
    sectors,
    table_of,
)

from inkling.evaluators.relation.points import CLOSES, NEITHER, OPENS

STANDARD_ERRORS = 4

SELECTIVITY = {
    ("aligned", 10): (99.5, 96.8, 88.1, 68.8, 39.9, 12.8, 0.0, 0.0),
    ("zero", 10): (93.3, 81.7, 63.0, 40.0, 18.5, 5.1, 0.0, 0.0),
    ("zero", 20): (100.0, 100.0, 99.9, 99.6, 98.7, 96.5, 92.5, 85.3),
}
"""Percent of pairs with at least 5 … 12 segments that meet, measured elsewhere on 20,000 pairs."""


@pytest.mark.parametrize(("start", "n_segments"), SELECTIVITY)
def test_segments_meet_as_often_as_is_known_of_such_pairs(start: Start, n_segments: int) -> None:
    n_pairs = 20_000
    left, right = pairs(n_pairs, n_segments=n_segments, start=start, seed=1)
    found = shared(left, right, np.arange(n_pairs), np.arange(n_pairs))
    for k, percent in enumerate(SELECTIVITY[start, n_segments], start=5):
        share = (found >= k).mean()
        # both numbers are of samples, and the known one is rounded
        deviation = np.sqrt(2 * max(share * (1 - share), 1e-4) / n_pairs)
        assert abs(share - percent / 100) < STANDARD_ERRORS * deviation + 0.0005, k


@pytest.mark.parametrize("law", LAWS)
def test_gaps_have_the_mean_of_all_laws(law: str) -> None:
    left, right = pairs(2_000, start="exp", gaps=law)
    gaps = np.concatenate([np.diff(side.time.reshape(2_000, -1)).ravel() for side in (left, right)]) / TICKS_PER_UNIT
    assert gaps.min() > 0
    assert abs(gaps.mean() - 5) < STANDARD_ERRORS * gaps.std() / np.sqrt(gaps.size)


def test_gaps_vary_by_their_law() -> None:
    squared_variation = {"exponential": 1.0, "lognormal": np.e - 1, "gamma 0.3": 1 / 0.3, "gamma 4": 0.25}
    for law, expected in {**squared_variation, "near periodic": 0.01}.items():
        gaps = np.diff(pairs(20_000, n_segments=10, gaps=law)[0].time.reshape(20_000, -1))
        assert gaps.var() / gaps.mean() ** 2 == pytest.approx(expected, rel=0.1), law


@pytest.mark.parametrize("start", ["zero", "exp", "aligned"])
def test_first_and_last_points_lie_where_they_are_asked_to(start: Start) -> None:
    sides = [side.time.reshape(50, -1) for side in pairs(50, n_segments=3, start=start, seed=5)]
    firsts, lasts = (np.concatenate([side[:, place] for side in sides]) for place in (0, -1))
    assert (firsts == 0).all() == (start != "exp")
    assert (len(np.unique(lasts)) == 1) == (start == "aligned")


def test_a_seed_means_the_same_pairs() -> None:
    first, again, other = (pairs(5, seed=seed)[0].time for seed in (3, 3, 4))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_pairs": 0}, "at least one pair"),
        ({"n_pairs": 1, "n_segments": 0}, "at least one pair and one segment"),
        ({"n_pairs": 1, "start": "later"}, "expected start to be one of zero, exp, aligned, found 'later'"),
        ({"n_pairs": 1, "gaps": "even"}, "unknown law of gaps 'even', expected one of exponential"),
    ],
)
def test_nonsense_is_rejected(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pairs(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4, 1.0])
@pytest.mark.parametrize(("keep_first", "keep_last"), [(True, True), (True, False), (False, True), (False, False)])
def test_so_many_points_are_lost(share: float, keep_first: bool, keep_last: bool) -> None:
    left, _ = pairs(2_000, n_segments=10)
    is_lost = lost(left, share, seed=9, keep_first=keep_first, keep_last=keep_last).reshape(2_000, 20)
    assert (is_lost == lost(left, share, seed=9, keep_first=keep_first, keep_last=keep_last).reshape(2_000, 20)).all()
    may_be_lost = is_lost[:, int(keep_first) : 20 - int(keep_last)]
    assert is_lost.sum() == may_be_lost.sum()
    deviation = np.sqrt(share * (1 - share) / may_be_lost.size)
    assert abs(may_be_lost.mean() - share) <= STANDARD_ERRORS * deviation


def test_another_seed_loses_other_points() -> None:
    left, _ = pairs(10)
    assert (lost(left, 0.5, seed=1) != lost(left, 0.5, seed=2)).any()
    with pytest.raises(ValueError, match=r"a share from 0 to 1, found 1\.5"):
        lost(left, 1.5)


SOME = of_counts(np.array([4, 0, 2]), np.array([1, 3, 5, 8, 2, 6]))
GONE = np.array([True, False, True, False, False, True])


def test_lists_hold_lost_points_between_limits_where_they_are_needed() -> None:
    found = lists_of(SOME, GONE, between=(0, 9))
    assert found.begins.tolist() == [0, 5, 5, 8]
    assert found.lost.tolist() == [False, True, False, True, False, False, True, False]
    assert found.time[~found.lost].tolist() == [0, 3, 8, 2, 9]
    assert found.turn.tolist() == [NEITHER, OPENS, CLOSES, OPENS, CLOSES, OPENS, CLOSES, NEITHER]
    assert found.segments.tolist() == [0, 2, 2, 3]
    assert (found.opening.tolist(), found.closing.tolist()) == ([1, 3, 0], [2, 4, 1])
    assert n_events(found, found, np.array([0, 0]), np.array([1, 2])) == 4 + 0 + 4 + 2
    with pytest.raises(ValueError, match="lost at the end of a key needs limits"):
        lists_of(SOME, GONE)


def test_points_of_erlang_gaps_hide_around_lost_ones() -> None:
    """Of m lost ones there are (m + 1) (h - 1) more, h - 1 between any two neighbors."""
    found = lists_of(SOME, GONE, between=(0, 9), shape=3)
    hidden, lost_one, recorded_one = "hidden", "lost", "recorded"
    kinds = np.where(~found.lost, recorded_one, np.where(found.turn == NEITHER, hidden, lost_one)).tolist()
    gap = [hidden, hidden, lost_one, hidden, hidden]
    assert kinds[: found.begins[1]] == [recorded_one, *gap, recorded_one, *gap, recorded_one]
    assert kinds[found.begins[2] :] == [recorded_one, *gap, recorded_one]
    assert found.begins[1] == found.begins[2]
    assert found.segments.tolist() == [0, 2, 2, 3]
    for key in (0, 2):
        of_key = slice(found.segments[key], found.segments[key + 1])
        assert (found.turn[found.begins[key] + found.opening[of_key]] == OPENS).all()
        assert (found.turn[found.begins[key] + found.closing[of_key]] == CLOSES).all()
    assert found.time[~found.lost].tolist() == [0, 3, 8, 2, 9]


def test_lists_of_what_is_complete_need_no_limits() -> None:
    found = lists_of(SOME)
    assert found.time.tolist() == SOME.time.tolist()
    assert not found.lost.any()
    assert found.begins.tolist() == SOME.begins.tolist()


def test_rows_of_a_program_have_marks_at_both_ends() -> None:
    rows = table_of(SOME, GONE, between=(0, 9)).to_pylist()
    told = {
        name: [(row["n"], row["role"], row["t"]) for row in rows if row["key"] == name] for name in ("key000", "key001")
    }
    assert told["key000"] == [(0, "mark", 0), (2, "close", 3), (4, "close", 8), (4, "mark", 9)]
    assert told["key001"] == [(0, "mark", 0), (0, "mark", 9)]
    assert len(rows) == 3 + 2 * 3


@pytest.mark.parametrize("seed", range(20))
def test_sharing_is_what_its_definition_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    sides = []
    for _ in range(2):
        counts = 2 * random.integers(0, 4, 5)
        times = [np.sort(random.choice(12, count, replace=False)) for count in counts]
        sides.append(of_counts(counts, np.concatenate(times).astype(np.int64)))
    left, right = sides
    ones, others = (side.ravel() for side in np.indices((5, 5)))
    found = shared(left, right, ones, others)
    for one, other, count in zip(ones, others, found, strict=True):
        assert count == sum(
            any(start <= other_end and other_start <= end for other_start, other_end in segments(right, other))
            for start, end in segments(left, one)
        )


def segments(points: SegmentPoints, key: int) -> list[tuple[int, int]]:
    times = points.time[points.begins[key] : points.begins[key + 1]].tolist()
    return list(zip(times[::2], times[1::2], strict=True))


def test_every_pair_of_keys_is_there_once() -> None:
    ones, others = pairs_of(200)
    assert len(ones) == 19_900
    assert (ones < others).all()
    assert len({*zip(ones.tolist(), others.tolist(), strict=True)}) == 19_900


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("given", [BELOW_15, BELOW_20])
def test_sectors_are_congested_as_often_as_given(given: Congestion, seed: int) -> None:
    points = sectors(given, seed=seed)
    n_segments = points.counts // 2
    assert points.counts.tolist() == (2 * n_segments).tolist()
    assert (len(n_segments), n_segments.max()) == (200, given.most)
    assert ((n_segments == 0).sum(), (n_segments == 1).sum()) == (given.n_never, 12)
    inside = np.diff(points.key) == 0
    assert (np.diff(points.time)[inside] > 0).all()
    assert points.time.min() >= 0
    assert points.time.max() <= HORIZON_SECONDS * TICKS_PER_SECOND


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("given", [BELOW_15, BELOW_20])
def test_sectors_meet_as_often_as_on_real_motorways(given: Congestion, seed: int) -> None:
    """A third or more of the pairs of congested sectors, which is a small part of all pairs of sectors."""
    points = sectors(given, seed=seed)
    ones, others = pairs_of(200)
    meet = shared(points, points, ones, others) >= 1
    n_congested = 200 - given.n_never
    of_congested = n_congested * (n_congested - 1) // 2
    assert 0.30 <= meet.sum() / of_congested <= 0.41
    assert meet.sum() / 19_900 <= Fraction(of_congested, 19_900)


def test_a_matrix_of_times_is_a_key_per_row() -> None:
    found = of_matrix(np.array([[1, 4, 6, 7], [2, 3, 5, 9]]))
    assert segments(found, 0) == [(1, 4), (6, 7)]
    assert found.key.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
