"""Random patterns over random imprecise times: every engine gives what counting out all worlds gives.

Signatures, the instants of each of their events, and confidences must be equal as fractions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from tests.kit.imprecise import blocks, by_starts, formula, matrices, signed, worlds
from tests.kit.imprecise.any_state import AnyStateEngine
from tests.kit.imprecise.bounds import four_passes
from tests.kit.imprecise.case import Policy, Query, TimedEvent
from tests.kit.imprecise.chain import Chain
from tests.kit.imprecise.density import expected_matches
from tests.kit.imprecise.engine import is_exclusive, run, widest
from tests.kit.imprecise.fixpoint import possible_ranges
from tests.kit.imprecise.selectivity import SelectivityEngine
from tests.kit.imprecise.sorted_order import SortedEngine
from tests.kit.imprecise.streams import Drawn, arrival_order, divisible, divisible_query, random_cases
from tests.kit.imprecise.watermark import Clock
from tests.kit.imprecise.weigh import weigh
from tests.oracles.imprecise_engines import engines_for, longest_group

pytestmark = pytest.mark.long

SEEDS = range(4)
CASES_PER_SEED = 300
ALL_OF_TIME = 1000

POLICIES = {policy.name for policy in Policy}
PLACES = {"absent first", "absent between", "absent last"}
EXCLUSIVE_TRAITS = POLICIES | PLACES | {"same key", "no window", "gaps in an interval"}
TRAITS = EXCLUSIVE_TRAITS | {"repeated", "two roles"}


def traits(query: Query, case: Drawn) -> Iterator[str]:
    """What a case has that an engine could get wrong."""
    yield query.policy.name
    inner = query.absences[1:-1]
    yield from (
        name
        for name, there in {
            "absent first": bool(query.absences[0]),
            "absent between": any(inner),
            "absent last": bool(query.absences[-1]),
            "repeated": any(step.repeated for step in query.steps),
            "same key": any(step.same_key for step in query.steps[1:]),
            "two roles": any(sum(event.kind in step.kinds for step in query.steps) > 1 for event in case.events),
            "no window": query.window is None,
            "gaps in an interval": not all(event.full_support for event in case.events),
        }.items()
        if there
    )


def candidates(case: Drawn) -> Iterator[Chain]:
    """All tuples of events that fit, possible or not."""
    query, events = case
    growing: list[tuple[tuple[int, ...], tuple[TimedEvent, ...]]]
    growing = [((0,), (event,)) for event in events if query.fits(event, query.steps[0], event)]
    while growing:
        shape, chosen = growing.pop()
        if query.is_complete(shape):
            yield Chain.of(query, shape, chosen, events)
        growing += (
            ((*shape, step), (*chosen, event))
            for step in query.next_steps(shape)
            for event in events
            if event not in chosen and query.fits(event, query.steps[step], chosen[0])
        )


@pytest.mark.parametrize("exclusive", [False, True], ids=["all", "exclusive"])
@pytest.mark.parametrize("seed", SEEDS)
def test_engines_eq_worlds(seed: int, exclusive: bool) -> None:
    random = Random(seed)
    n_results: Counter[str] = Counter()
    for number, case in enumerate(random_cases(seed + 10 * exclusive, CASES_PER_SEED, exclusive=exclusive)):
        truth = worlds.results(*case)
        for trait in traits(case.query, case):
            n_results[trait] += len(truth)
        order = arrival_order(random, case.events, pairwise=number % 2 == 0)
        for name, answer in engines_for(*case).items():
            if name != "worlds":
                assert answer(case.query, order) == truth, f"{name}\n{case}\n{[str(event) for event in order]}"
    expected = EXCLUSIVE_TRAITS if exclusive else TRAITS
    assert n_results.keys() == expected
    assert min(n_results.values()) > 10, n_results


@pytest.mark.parametrize("divisors", [(31, 37, 41), (31, 37, 41, 43, 47)], ids=["three steps", "five steps"])
def test_what_engines_forget_changes_nothing(divisors: tuple[int, ...]) -> None:
    """Results that came when only some events were kept are those among all events."""
    asked = divisible_query(divisors, 100, Policy.NEXT)
    events = [one for one in divisible(900, 10, divisors, exact=False) if one.lower > 600]
    by_id = {one.id: one for one in events}
    for engine in (SortedEngine(asked, 21), SelectivityEngine(asked, 21, batch=7)):
        found = run(engine, events)
        assert len(found) > 20
        assert engine.waiting.peak_live < len(events)
        for signature, outcome in found.items():
            chain = Chain.of(asked, range(len(divisors)), [by_id[one] for (one,) in signature], events)
            whole = weigh(chain)
            assert whole is not None
            assert whole.ranges == outcome.ranges
            assert math.isclose(whole.confidence, outcome.confidence, rel_tol=1e-9), signature


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_and_ways_to_a_confidence_eq_worlds(seed: int) -> None:
    """Bounds are the ranges of each event, and fail exactly where no world has a match."""
    n_bounds: Counter[str] = Counter()
    for case in random_cases(100 + seed, CASES_PER_SEED):
        truth = worlds.results(*case)
        for chain in candidates(case):
            outcome = truth.get(chain.signature)
            confidence = outcome.confidence if outcome else 0
            assert signed.confidence(chain) == confidence, case
            if matrices.covers(chain):
                assert matrices.confidence(chain) == confidence, case
            if not chain.blockers:
                assert by_starts.confidence(chain) == blocks.confidence(chain) == confidence, case
            if chain.full_support:
                ranges = outcome.ranges if outcome else None
                assert possible_ranges(chain) == ranges, case
                n_bounds["blocked" if chain.blockers else "alone"] += bool(outcome)
                if not chain.blockers:
                    assert four_passes(chain.boxes, chain.window) == ranges, case
    assert min(n_bounds.values()) > 50


def test_any_state_does_not_depend_on_the_order() -> None:
    random = Random(3)
    for case in random_cases(200, 100):
        longest = longest_group(*case)
        found = [
            run(
                AnyStateEngine(case.query, ALL_OF_TIME, longest_group=longest),
                random.sample(case.events, len(case.events)),
            )
            for _ in range(3)
        ]
        assert found[0] == found[1] == found[2] == formula.results(*case), case


def test_everything_unseen_lies_after_the_watermark() -> None:
    random = Random(4)
    n_moves = 0
    for number, case in enumerate(random_cases(300, 1000)):
        order = arrival_order(random, case.events, pairwise=number % 2 == 0)
        clock = Clock(widest(order))
        before = clock.watermark
        for seen, event in enumerate(order):
            assert clock.admits(event), case
            assert all(later.lower > clock.watermark for later in order[seen + 1 :]), case
            assert clock.watermark >= before
            n_moves += clock.watermark > before
            before = clock.watermark
        assert not clock.late
        assert not clock.oversized
    assert n_moves > 1000


def test_confidences_add_up_to_the_expected_number_of_matches() -> None:
    total = 0
    for case in random_cases(400, 500, exclusive=True):
        if not is_exclusive(*case) or any(step.same_key for step in case.query.steps):
            continue
        asked = replace(case.query, policy=Policy.ANY, absences=((),) * (len(case.query.steps) + 1))
        found = formula.results(asked, case.events)
        assert sum(one.confidence for one in found.values()) == expected_matches(asked, case.events), case
        total += len(found)
    assert total > 100
