"""How well it is told whether segments of two keys meet at least k times, although some of their ends were lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from inkling.examples.generators.segments import SegmentPoints, pairs_of, shared
from numpy.typing import NDArray
from tests.kit.lost_workloads import TICKS_PER_UNIT, Congestion, Start, lists_of, lost, pairs, sectors
from tests.reference.lost.baselines import ignored_lists, n_sharing, static_lists
from tests.reference.lost.discrete import possibilities_around, sharing_masses

from inkling.evaluators.relation.forward import Limits, chances
from inkling.evaluators.relation.points import PointLists, RelationQuery
from inkling.evaluators.segments.relations import truth_table

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

WORLDS, STATIC, IGNORED = "possible worlds", "static", "ignored"
DISCRETE = {f"discrete, {delta}": delta for delta in (30, 60)}
LOSSES = tuple(percent / 100 for percent in range(0, 45, 5))
THRESHOLDS = tuple(tenth / 10 for tenth in range(11))
USUAL = 0.5
BIN_WIDTH = 0.2


@dataclass(frozen=True, slots=True)
class Workload:
    """Pairs of keys, as they really were, and up to which number of meetings is asked."""

    left: SegmentPoints
    right: SegmentPoints
    ones: NDArray[np.int64]
    others: NDArray[np.int64]
    most: int
    unit: int  # of time, in ticks

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many left segments of each pair really meet a right one."""
        return shared(self.left, self.right, self.ones, self.others)

    @property
    def truth(self) -> Booleans:
        """Of each pair, whether at least 0, 1, … do."""
        return self.counts[:, None] >= np.arange(self.most + 1)


def synthetic(
    n_pairs: int = 500, *, n_segments: int = 10, start: Start = "aligned", gaps: str = "exponential", seed: int = 0
) -> Workload:
    left, right = pairs(n_pairs, n_segments=n_segments, start=start, gaps=gaps, seed=seed)
    every = np.arange(n_pairs)
    return Workload(left, right, every, every, n_segments, TICKS_PER_UNIT)


def congested_pairs(given: Congestion, *, most: int = 12, seed: int = 0) -> Workload:
    """All pairs of sectors that were congested at all."""
    points = sectors(given, seed=seed)
    ones, others = pairs_of(given.n_sectors)
    both = (points.counts[ones] > 0) & (points.counts[others] > 0)
    return Workload(points, points, ones[both], others[both], most, 1_000)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is left of a workload after losses."""

    of: Workload
    left: PointLists
    right: PointLists

    def asked(self) -> RelationQuery:
        return RelationQuery(truth_table(("INTERSECTS",)), 1, False, self.of.most, False)


def recorded(workload: Workload, share: float, *, seed: int = 0, shape: int = 1) -> Recorded:
    """Every point is lost with this probability, except the first and the last one of a key."""
    left = lists_of(workload.left, lost(workload.left, share, seed=2 * seed), shape=shape)
    if workload.right is workload.left:
        return Recorded(workload, left, left)
    right = lists_of(workload.right, lost(workload.right, share, seed=2 * seed + 1), shape=shape)
    return Recorded(workload, left, right)


def in_worlds(rest: Recorded) -> Floats:
    """Of each pair, the probability of at least 0, 1, … meetings."""
    found = chances(rest.left, rest.right, rest.of.ones, rest.of.others, rest.asked(), Limits())
    clipped: Floats = np.clip(found.at_least, 0.0, 1.0)
    return clipped


def by_rule(rest: Recorded, rule: Callable[[PointLists], PointLists]) -> Floats:
    """The same, 0 or 1, by a rule that makes certain lists of uncertain ones."""
    left = rule(rest.left)
    right = left if rest.right is rest.left else rule(rest.right)
    counts = n_sharing(left, right, rest.of.ones, rest.of.others)
    return (counts[:, None] >= np.arange(rest.of.most + 1)).astype(np.float64)


def in_discrete_time(rest: Recorded, delta: int) -> tuple[Floats, Floats]:
    """Where lost points lie up to `delta` units from their true times: masses as they are, and normalized."""
    possible = (
        possibilities_around(rest.left, rest.of.left.time, delta, rest.of.unit),
        possibilities_around(rest.right, rest.of.right.time, delta, rest.of.unit),
    )
    masses = sharing_masses(rest.left, rest.right, rest.of.ones, rest.of.others, possible, rest.of.most)
    raw = masses[:, ::-1].cumsum(axis=1)[:, ::-1]
    total = raw[:, :1]
    return np.clip(raw, 0.0, 1.0), np.divide(raw, total, out=np.zeros_like(raw), where=total > 0)


RULES: Mapping[str, Callable[[PointLists], PointLists]] = {STATIC: static_lists, IGNORED: ignored_lists}


def answers(rest: Recorded, *, discrete: bool = False) -> dict[str, Floats]:
    """By method, the probabilities of at least 0, 1, … meetings."""
    found = {WORLDS: in_worlds(rest)} | {name: by_rule(rest, rule) for name, rule in RULES.items()}
    if discrete:
        for name, delta in DISCRETE.items():
            raw, normalized = in_discrete_time(rest, delta)
            found |= {name: normalized, f"{name}, raw": raw}
    return found


def accuracy(said: Floats, truth: Booleans, threshold: float = USUAL) -> Floats:
    """The share of pairs that are decided rightly, for each k from 1 on: detected means above the threshold."""
    right: Floats = ((said > threshold) == truth).mean(axis=0)
    return right[1:]


def worst_k(said: Floats, truth: Booleans) -> int:
    """The k that is decided worst."""
    return 1 + int(np.argmin(accuracy(said, truth)))


@dataclass(frozen=True, slots=True)
class Judged:
    """One share of losses, at the k that is worst for possible worlds."""

    share: float
    k: int
    right: Mapping[str, float]  # by method
    brier: Mapping[str, float]
    by_threshold: tuple[float, ...]  # of possible worlds
    every_k: Mapping[str, Floats]


def judged(workload: Workload, share: float, *, seed: int = 0, discrete: bool = False) -> Judged:
    truth = workload.truth
    found = answers(recorded(workload, share, seed=seed), discrete=discrete)
    k = worst_k(found[WORLDS], truth)
    every_k = {name: accuracy(said, truth) for name, said in found.items()}
    return Judged(
        share,
        k,
        {name: float(right[k - 1]) for name, right in every_k.items()},
        {name: float(((said[:, k] - truth[:, k]) ** 2).mean()) for name, said in found.items()},
        tuple(float(accuracy(found[WORLDS], truth, threshold)[k - 1]) for threshold in THRESHOLDS),
        every_k,
    )


def swept(levels: Sequence[Judged]) -> Floats:
    """By threshold, the mean over the shares of losses."""
    mean: Floats = np.mean([one.by_threshold for one in levels], axis=0)
    return mean


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Predictions beside the truth: how far the mean count is off, and one k in bins of probability."""

    predicted: float
    true: float
    z: float
    k: int
    bins: tuple[Bin, ...]

    @property
    def is_calibrated(self) -> bool:
        return abs(self.z) < 3 and all(abs(one.z) < 3 for one in self.bins)


@dataclass(frozen=True, slots=True)
class Bin:
    """Pairs whose probabilities lie in a fifth of the range."""

    n: int
    said: float
    happened: float
    z: float


def calibrated(workload: Workload, share: float, *, seed: int = 0) -> Calibrated:
    return beside_truth(workload, in_worlds(recorded(workload, share, seed=seed)))


def with_shape(workload: Workload, share: float, shape: int, *, seed: int = 0) -> tuple[float, Calibrated]:
    """Accuracy at the worst k and calibration, where gaps are taken to be Erlang with a shape."""
    said = in_worlds(recorded(workload, share, seed=seed, shape=shape))
    return float(accuracy(said, workload.truth).min()), beside_truth(workload, said)


def beside_truth(workload: Workload, said: Floats) -> Calibrated:
    truth = workload.truth
    difference = said[:, 1:].sum(axis=1) - workload.counts
    z = difference.mean() / (difference.std() / np.sqrt(len(difference))) if difference.any() else 0.0
    k = worst_k(said, truth)
    bins = reliability(said[:, k], truth[:, k])
    return Calibrated(float(said[:, 1:].sum(axis=1).mean()), float(workload.counts.mean()), float(z), k, bins)


def reliability(said: Floats, happened: Booleans) -> tuple[Bin, ...]:
    """Observed shares beside predictions, in bins of equal width; certain answers are no predictions."""
    open_ones = (said > 1e-9) & (said < 1 - 1e-9)
    said, happened = said[open_ones], happened[open_ones]
    place = np.minimum((said / BIN_WIDTH).astype(np.int64), round(1 / BIN_WIDTH) - 1)
    found = []
    for number in np.unique(place):
        mine = place == number
        deviation = np.sqrt((said[mine] * (1 - said[mine])).sum())
        z = (happened[mine].sum() - said[mine].sum()) / deviation
        found.append(Bin(int(mine.sum()), float(said[mine].mean()), float(happened[mine].mean()), float(z)))
    return tuple(found)
