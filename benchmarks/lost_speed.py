"""Relations between segments with lost ends: events a second by loss, by method and by number of lost events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from inkling.examples.generators.segments import of_counts
from tests.kit.lost_quality import (
    DISCRETE,
    RULES,
    WORLDS,
    Recorded,
    Workload,
    by_rule,
    in_discrete_time,
    in_worlds,
    recorded,
    synthetic,
)
from tests.kit.lost_workloads import lists_of, n_events
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.question import Question
from tests.reference.lost.tree import WorldBudgetExceeded, walk

from benchmarks.meter import best_of, measured
from benchmarks.results import Baseline, Goal, Row, quantity
from inkling.evaluators.relation.forward import Limits, RelationProbabilities, chances
from inkling.evaluators.relation.points import PointLists, RelationQuery
from inkling.evaluators.segments.relations import truth_table

SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
LEAST = {0.0: 3e6, 0.1: 1e6, 0.4: 0.3e6}
"""Events a second that should be reached, by share of losses."""

TREE_SHARE, TREE_K, TREE_PAIRS, TREE_NODES = 0.25, 8, 12, 300_000
LEAST_TIMES_TREE = 100
DISCRETE_PAIRS = 40
LONGEST = (100, 200, 500, 1_000)
MOST_GROWTH = 3.5
"""Power of the number of lost events that their cost may grow by."""


def by_loss(n_pairs: int, repeats: int, seed: int, n_segments: int = 10) -> Iterator[Row]:
    """All k at once, and the two methods that give no probabilities."""
    workload = synthetic(n_pairs, n_segments=n_segments, start="zero", seed=seed)
    for share in SHARES:
        rest = recorded(workload, share, seed=seed)
        events = _events(rest)
        calls: list[Callable[[], object]] = [lambda rest=rest: in_worlds(rest)]
        calls += [lambda rest=rest, rule=rule: by_rule(rest, rule) for rule in RULES.values()]
        for call in calls:
            call()
        ours, *others = best_of(repeats, *calls)
        goal = (Goal("events/s", events / ours.seconds, least=LEAST[share]),) if share in LEAST else ()
        yield Row(
            f"{n_segments} segments, {share:.0%} lost, all k",
            f"{quantity(n_pairs)} pairs of {n_segments} segments, seed {seed}",
            ours.seconds,
            ours.cpu_seconds,
            events,
            f"{quantity(int(rest.left.lost.sum() + rest.right.lost.sum()))} lost",
            tuple(Baseline.of(name, cost) for name, cost in zip(RULES, others, strict=True)),
            goal,
        )


def speed_of_methods(n_pairs: int, repeats: int, seed: int = 0) -> dict[str, dict[float, float]]:
    """By method and share of losses, events a second; slow methods see fewer pairs."""
    every, few = (
        synthetic(n, n_segments=10, start="zero", seed=seed) for n in (n_pairs, min(n_pairs, 10 * DISCRETE_PAIRS))
    )
    methods: dict[str, tuple[Workload, Callable[[Recorded], object]]] = {WORLDS: (every, in_worlds)}
    methods |= {name: (every, lambda rest, rule=rule: by_rule(rest, rule)) for name, rule in RULES.items()}
    methods |= {
        name: (few, lambda rest, delta=delta: in_discrete_time(rest, delta)) for name, delta in DISCRETE.items()
    }
    found: dict[str, dict[float, float]] = {name: {} for name in methods}
    for share in SHARES:
        for name, (workload, method) in methods.items():
            rest = recorded(workload, share, seed=seed)
            method(rest)
            (cost,) = best_of(repeats, lambda rest=rest, method=method: method(rest))
            found[name][share] = _events(rest) / cost.seconds
    return found


def beside_the_tree(n_pairs: int, repeats: int, seed: int) -> Iterator[Row]:
    """The same pairs by the tree of worlds; where it gets too large, it is left at so many nodes."""
    workload = synthetic(n_pairs, n_segments=10, start="zero", seed=seed)
    rest = recorded(workload, TREE_SHARE, seed=seed)
    in_worlds(rest)
    (ours,) = best_of(repeats, lambda: in_worlds(rest))
    few = min(TREE_PAIRS, n_pairs)
    tree = measured(lambda: [_walked(rest, pair) for pair in range(few)])
    for pair, chance in enumerate(tree.answer):
        if chance is not None and abs(chance - ours.answer[pair, TREE_K]) > 1e-9:
            raise AssertionError(f"{chance} by the tree, {ours.answer[pair, TREE_K]} by the forward pass")
    whole = n_pairs / few
    n_cut = sum(chance is None for chance in tree.answer)
    yield Row(
        f"10 segments, {TREE_SHARE:.0%} lost, beside the tree of worlds",
        f"{quantity(n_pairs)} pairs of 10 segments, seed {seed}",
        ours.seconds,
        ours.cpu_seconds,
        _events(rest),
        f"{few} pairs by the tree, {n_cut} of them cut at {quantity(TREE_NODES)} nodes",
        (Baseline(f"tree, k = {TREE_K}", tree.seconds * whole, tree.cpu_seconds * whole),),
        (Goal("× tree", tree.seconds * whole / ours.seconds, least=LEAST_TIMES_TREE),),
    )


def beside_discrete_time(n_pairs: int, repeats: int, seed: int) -> Iterator[Row]:
    workload = synthetic(min(n_pairs, DISCRETE_PAIRS), n_segments=10, start="zero", seed=seed)
    for share in (0.1, 0.4):
        rest = recorded(workload, share, seed=seed)
        calls: list[Callable[[], object]] = [lambda rest=rest: in_worlds(rest)]
        calls += [lambda rest=rest, delta=delta: in_discrete_time(rest, delta) for delta in DISCRETE.values()]
        for call in calls:
            call()
        ours, *others = best_of(repeats, *calls)
        yield Row(
            f"10 segments, {share:.0%} lost, beside discrete time",
            f"{len(workload.ones)} pairs of 10 segments, seed {seed}",
            ours.seconds,
            ours.cpu_seconds,
            _events(rest),
            "",
            tuple(Baseline.of(name, cost) for name, cost in zip(DISCRETE, others, strict=True)),
        )


def by_lost_events(repeats: int) -> Iterator[Row]:
    """All lost in one window: half of each key, between two recorded points of each."""
    costs = []
    only = np.zeros(1, np.int64)
    asked = RelationQuery(truth_table(("INTERSECTS",)), 1, False, 3, False)
    for n_lost in LONGEST:
        window = _one_window(n_lost // 2)

        def call(window: PointLists = window) -> RelationProbabilities:
            return chances(window, window, only, only, asked, Limits())

        answer = call()
        if abs(answer.at_least[0, 0] - 1) > 1e-9 or answer.error[0]:
            raise AssertionError(f"{n_lost} lost events have no exact answer")
        (ours,) = best_of(repeats, call)
        costs.append(ours.seconds)
        goals = ()
        if n_lost == LONGEST[-1]:
            power = np.log(costs[-1] / costs[0]) / np.log(LONGEST[-1] / LONGEST[0])
            goals = (Goal("power of growth", float(power), most=MOST_GROWTH),)
        events = n_events(window, window, only, only)
        yield Row(f"{n_lost:,} lost in one window", "1 pair", ours.seconds, ours.cpu_seconds, events, "", (), goals)


def _one_window(n_lost: int) -> PointLists:
    times = np.arange(n_lost + 2) * 1_000
    is_lost = np.ones(n_lost + 2, np.bool_)
    is_lost[[0, -1]] = False
    return lists_of(of_counts(np.array([n_lost + 2]), times), is_lost)


def _events(rest: Recorded) -> int:
    return n_events(rest.left, rest.right, rest.of.ones, rest.of.others)


def _walked(rest: Recorded, pair: int) -> float | None:
    question = Question(TREE_K, ("INTERSECTS",), 1)
    sides = (_flat(rest.left, rest.of.ones[pair]), _flat(rest.right, rest.of.others[pair]))
    try:
        return float(walk(*sides, question, number=float, budget=TREE_NODES).chance)
    except WorldBudgetExceeded:
        return None


def _flat(lists: PointLists, key: int) -> Flat:
    mine = slice(lists.begins[key], lists.begins[key + 1])
    times = zip(lists.time[mine].tolist(), lists.lost[mine].tolist(), strict=True)
    return Flat(tuple(None if is_lost else Fraction(time) for time, is_lost in times))
