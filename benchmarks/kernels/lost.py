"""Relations between segments with lost ends: questions other than sharing, and long runs of lost ends.

How speed depends on the share of losses is measured beside other methods, in `benchmarks.lost_speed`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from inkling.examples.generators.segments import of_counts
from tests.kit.lost_quality import recorded, synthetic
from tests.kit.lost_workloads import lists_of, n_events

from benchmarks.meter import best_of, measured
from benchmarks.results import Goal, Row, quantity
from inkling.evaluators.relation.forward import Limits, RelationProbabilities, chances
from inkling.evaluators.relation.points import ALL, PointLists, RelationQuery
from inkling.evaluators.segments.relations import truth_table

SHARES = (0.1, 0.4)
N_SEGMENTS, N_LABELS = 20, 5
QUESTIONS = {
    "touch some of one label": ("INTERSECTS", 1, True),
    "touch at least two": ("INTERSECTS", 2, False),
    "lie inside some": ("DURING", 1, False),
    "overlap some": ("OVERLAPS", 1, False),
    "precede at least five": ("PRECEDES", 5, False),
    "touch all": ("INTERSECTS", ALL, False),
}
LONGEST = (100, 200, 500, 1_000)
MOST_GROWTH = 4.0
"""Power of the number of lost ends that their cost may grow by."""
WINDOW, N_RECORDED = 1_000_000_000, 20


def by_question(n_pairs: int, repeats: int, seed: int) -> Iterator[Row]:
    """How many left segments qualify, all numbers at once."""
    workload = synthetic(n_pairs, n_segments=N_SEGMENTS, start="zero", seed=seed)
    random = np.random.default_rng(seed)
    for share in SHARES:
        rest = recorded(workload, share, seed=seed)
        left, right = (
            lists._replace(label=random.integers(0, N_LABELS, len(lists.label))) for lists in (rest.left, rest.right)
        )
        events = n_events(left, right, workload.ones, workload.others)
        for what, (relation, least, labeled) in QUESTIONS.items():
            asked = RelationQuery(truth_table((relation,)), least, labeled, N_SEGMENTS, False)

            def call(
                left: PointLists = left, right: PointLists = right, asked: RelationQuery = asked
            ) -> RelationProbabilities:
                return chances(left, right, workload.ones, workload.others, asked, Limits())

            call()
            (cost,) = best_of(repeats, call)
            yield Row(
                f"segments that {what}, {share:.0%} lost",
                f"{quantity(n_pairs)} pairs of {N_SEGMENTS} segments, seed {seed}",
                cost.seconds,
                cost.cpu_seconds,
                events,
                f"{quantity(float(cost.answer.at_least[:, 1:].sum(axis=1).mean()))} segments on average",
            )


def by_lost_ends() -> Iterator[Row]:
    """Both keys lost theirs in windows that overlap in part, or one lost them among recorded ones of the other."""
    among = lists_of(of_counts(np.array([N_RECORDED]), _evenly(N_RECORDED)), np.zeros(N_RECORDED, bool))
    yield from _growing("in two windows", [(_run(n // 2, 0), _run(n // 2, WINDOW // 10)) for n in LONGEST])
    yield from _growing(f"among {N_RECORDED} recorded", [(_run(n, 0), among) for n in LONGEST])


def _growing(where: str, pairs: list[tuple[PointLists, PointLists]]) -> Iterator[Row]:
    only = np.zeros(1, np.int64)
    asked = RelationQuery(truth_table(("INTERSECTS",)), 1, False, 3, False)
    chances(*pairs[0], only, only, asked, Limits())
    costs = []
    for n_lost, (left, right) in zip(LONGEST, pairs, strict=True):
        cost = measured(lambda left=left, right=right: chances(left, right, only, only, asked, Limits()))
        if cost.answer.error[0]:
            raise AssertionError(f"{n_lost} lost ends have no exact answer")
        costs.append(cost.cpu_seconds)
        goals = ()
        if n_lost == LONGEST[-1]:
            power = np.log(costs[-1] / costs[0]) / np.log(LONGEST[-1] / LONGEST[0])
            goals = (Goal("power of growth", float(power), most=MOST_GROWTH),)
        yield Row(f"{n_lost:,} lost {where}", "1 pair", cost.seconds, cost.cpu_seconds, goals=goals)


def _run(n_lost: int, lo: int) -> PointLists:
    """Between two recorded ends, as many lost ones."""
    is_lost = np.ones(n_lost + 2, bool)
    is_lost[[0, -1]] = False
    return lists_of(of_counts(np.array([n_lost + 2]), np.append(lo + _evenly(n_lost + 1), lo + WINDOW)), is_lost)


def _evenly(n: int) -> np.ndarray:
    return np.arange(n) * (WINDOW // n)
