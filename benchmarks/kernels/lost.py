"""Relations between segments some of whose ends were lost: many pairs of keys in one call, and long runs of lost ends.

Gaps between the ends of segments are exponential, the first and the last end of each key are kept. Events are the ends
of both keys of each pair, lost or not; all numbers of segments that share are asked for at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.meter import Measured, best_of, measured
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.streams import Readings
from inkling.evaluators.lost.limits import Limits
from inkling.evaluators.lost.lists import Asked, Lists
from inkling.evaluators.lost.passes import Chances, chances
from inkling.evaluators.segments.relations import truth_table

NAME = "lost"
EVENTS_PER_PAIR = 5_000
"""Of the events that other kernels get: so many times fewer pairs."""
LEAST_RATES = {0: 3e6, 10: 1e6, 25: None, 40: 0.3e6}
"""Events per second that are wanted, by percent that were lost."""
SEGMENTS = (10, 20)
LONG_RUNS = (100, 200, 500, 1_000)
MOST_GROWTH = 4.5
"""The cost of more lost ends in one window grows at most by this power of their number."""
UNIT, MEAN_GAP, WINDOW = 1_000_000, 5.0, 1_000_000_000


def run(data: Readings, repeats: int) -> Iterator[Row]:
    n_pairs = max(data.events // EVENTS_PER_PAIR, 20)
    for n_segments in SEGMENTS:
        for percent, least in LEAST_RATES.items():
            yield _many_pairs(n_pairs, n_segments, percent, least, data.seed, repeats)
    yield from _long_runs()


def _many_pairs(n_pairs: int, n_segments: int, percent: int, least: float | None, seed: int, repeats: int) -> Row:
    lists = _keys(2 * n_pairs, n_segments, percent / 100, seed)
    asked = Asked(truth_table(("INTERSECTS",)), 1, False, n_segments, False)
    ones = np.arange(n_pairs)
    (cost,) = best_of(repeats + 1, lambda: chances(lists, lists, ones, ones + n_pairs, asked, Limits()))
    n_events = n_pairs * 4 * n_segments
    return Row(
        f"lost ends, {n_segments} segments per key, {percent} % lost",
        f"{quantity(n_pairs)} pairs",
        cost.seconds,
        cost.cpu_seconds,
        n_events,
        f"{quantity(_n_shared(cost.answer))} shared on average",
        goals=() if least is None else (Goal("events/s", n_events / cost.cpu_seconds, least=least),),
    )


def _n_shared(found: Chances) -> float:
    return float(found.at_least[:, 1:].sum(axis=1).mean())


def _long_runs() -> Iterator[Row]:
    """All lost ends in one window: both keys' in the same one, in windows that overlap, and one key's only."""
    few = np.arange(1, 21) * (WINDOW // 21)
    for what, keys in {
        "both keys, one window": lambda n: (_run(n // 2, 0), _run(n // 2, 0)),
        "both keys, two windows": lambda n: (_run(n // 2, 0), _run(n // 2, WINDOW // 10)),
        "one key, the other recorded": lambda n: (_run(n, 0), _recorded(few)),
    }.items():
        before: tuple[int, Measured[Chances]] | None = None
        for n_lost in LONG_RUNS:
            left, right = keys(n_lost)
            cost = measured(lambda left=left, right=right: _ask(left, right))
            assert not cost.answer.error.any()
            yield _long_run(f"{quantity(n_lost)} lost ends, {what}", n_lost, cost, before)
            before = n_lost, cost


def _long_run(name: str, n_lost: int, cost: Measured[Chances], before: tuple[int, Measured[Chances]] | None) -> Row:
    """Beside a shorter one."""
    row = Row(name, "one pair, up to 3 segments", cost.seconds, cost.cpu_seconds)
    if before is None:
        return row
    n_less, less = before
    power = np.log(cost.cpu_seconds / less.cpu_seconds) / np.log(n_lost / n_less)
    return replace(
        row,
        baselines=(Baseline.of(f"{quantity(n_less)} lost ends", less),),
        goals=(Goal("power by which it grows", float(power), most=MOST_GROWTH),),
    )


def _ask(left: Lists, right: Lists) -> Chances:
    first = np.zeros(1, np.int64)
    return chances(left, right, first, first, Asked(truth_table(("INTERSECTS",)), 1, False, 3, False), Limits())


def _keys(n_keys: int, n_segments: int, loss: float, seed: int) -> Lists:
    random = np.random.default_rng(seed)
    n_ends = 2 * n_segments
    time = np.cumsum(random.exponential(MEAN_GAP * UNIT, (n_keys, n_ends)), axis=1).astype(np.int64)
    lost = random.random((n_keys, n_ends)) < loss
    lost[:, [0, -1]] = False
    return _lists(np.where(lost, 0, time), lost, np.tile(np.array([1, -1], np.int8), n_segments))


def _run(n_lost: int, lo: int) -> Lists:
    """Lost ends between two recorded points that are none."""
    n = n_lost // 2 * 2
    time = np.array([[lo, *[0] * n, lo + WINDOW]])
    lost = np.array([[False, *[True] * n, False]])
    return _lists(time, lost, np.array([0, *[1, -1] * (n // 2), 0], np.int8))


def _recorded(times: np.ndarray) -> Lists:
    return _lists(times[None, :], np.zeros((1, len(times)), bool), np.tile(np.array([1, -1], np.int8), len(times) // 2))


def _lists(time: np.ndarray, lost: np.ndarray, turn: np.ndarray) -> Lists:
    """Keys with the same turns; a row of times per key."""
    n_keys, n_points = time.shape
    opening, closing = np.flatnonzero(turn == 1), np.flatnonzero(turn == -1)
    n_segments = len(opening)
    return Lists(
        begins=np.arange(n_keys + 1) * n_points,
        time=time.reshape(-1),
        along=np.empty(0),
        lost=lost.reshape(-1),
        turn=np.tile(turn, n_keys),
        segments=np.arange(n_keys + 1) * n_segments,
        opening=np.tile(opening, n_keys),
        closing=np.tile(closing, n_keys),
        label=np.full(n_keys * n_segments, -1),
        head=np.zeros(n_keys),
        tail=np.zeros(n_keys),
        simple=np.ones(n_keys, bool),
    )
