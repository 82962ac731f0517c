"""Sampling worlds: estimates lie as close to the definition as they claim, and spread around it as they should.

Every case contributes one of its results, chosen at random, so that all contributions are independent of each other:
draws of different cases come from different seeds or different events. An estimate misses when it is farther from the
probability than its own error, which may happen with probability DELTA. So the number of misses is at most binomial,
and it fails here if a binomial count were as large with a chance below ONE_IN_A_MILLION. The bounds of Clopper and
Pearson are wider than they need be, so that alone would forgive a sampler that is a little off; the sum of squared
deviations, each in terms of its own variance, does not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom, fisher_exact
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.drawn_worlds import drawn_worlds
from tests.kit.oracle import ProbableResult
from tests.kit.probable_comparison import FoundResult, Names, found_in, same_in
from tests.kit.probable_oracle import summed_over, with_names
from tests.kit.programs import Options
from tests.kit.streams import is_packable, pack
from tests.kit.uncertain import UncertainCase, Uncertainties, random_uncertain_cases
from tests.kit.universe import Kind, Uncertain

from inkling import Sampling
from inkling.analysis.choice import Evaluator
from inkling.evaluators.sampling import half_width
from inkling.logical import plan as p
from inkling.model.event import Value
from inkling.model.time import Clock
from inkling.model.uncertainty import LostEvents
from inkling.physical.planner import plan_program

EPSILON = DELTA = 0.1
ONE_IN_A_MILLION = 1e-6
FEW_WORLDS = (16,)

N_SIDE_BY_SIDE = 80
SIDE_BY_SIDE = 1850
ALONE = 200
MEASURED = 25
DRAWN = 100
GLANCE = 8
MOST_PARTS = 3


def settings(seed: int) -> Sampling:
    return Sampling(epsilon=EPSILON, delta=DELTA, seed=seed, exact_up_to=0)


N_WORLDS = settings(0).n_worlds


@dataclass(slots=True)
class Estimates:
    """Probabilities by the definition, with their estimates and the errors that these claim."""

    true: list[Fraction] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)

    def add(self, true: Fraction, found: FoundResult | None) -> None:
        """A result that was never seen is estimated as 0, with the error of 0."""
        self.true.append(true)
        self.share.append(0.0 if found is None else float(found.probability))
        self.error.append(_error_of_none() if found is None else found.error)

    @property
    def n_misses(self) -> int:
        each = zip(self.true, self.share, self.error, strict=True)
        return sum(abs(float(true) - share) > error + 1e-12 for true, share, error in each)

    def deviations(self) -> np.ndarray:
        """Deviations in units of what they should be, where they are close to normal."""
        true, share = np.array([float(one) for one in self.true]), np.array(self.share)
        variance = true * (1 - true) / N_WORLDS
        usual = N_WORLDS * true * (1 - true) > 5
        return (share - true)[usual] / np.sqrt(variance[usual])


def _error_of_none() -> float:
    return float(half_width(np.zeros(1, np.int64), N_WORLDS, DELTA)[0])


def one_of(
    rng: random.Random,
    plan: p.ProgramPlan,
    names: Names,
    expected: dict[str, tuple[ProbableResult, ...]],
    found: dict[str, list[FoundResult]],
) -> tuple[ProbableResult, FoundResult | None] | None:
    """One of the expected results of uncertain events that look like no other, and what was found for it."""
    uncertain = [event for event in plan.events if event.name in in_worlds(plan)]
    choices = [(event, one) for event in uncertain for one in expected[event.name]]
    rng.shuffle(choices)
    for event, want in choices:
        alike = [one for one in expected[event.name] if same_in(event, names, one, [_as_found(want)])]
        like = same_in(event, names, want, found[event.name])
        if len(alike) == 1 and len(like) <= 1:
            return want, next(iter(like), None)
    return None


def _as_found(one: ProbableResult) -> FoundResult:
    return FoundResult(one.values, one.start, one.end, one.lineage or (), one.probability)


def in_worlds(plan: p.ProgramPlan) -> set[str]:
    """The uncertain events that need worlds."""
    return set(plan_program(plan).on_clock(Clock.TICKS).answered_by(Evaluator.WORLDS))


def sampled(case: UncertainCase, seed: int) -> dict[str, list[FoundResult]]:
    results = case.program.run_local(
        arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables), sampling=settings(seed)
    )
    for name in in_worlds(case.plan):
        assert set(results.tables[name]["method"].to_pylist()) <= {"sampled"}
    return found_in(case.plan, results.tables)


def shows_key(plan: p.ProgramPlan) -> bool:
    return all(any(output.name == "k" for output in event.head) for event in plan.events)


def shares_roles(plan: p.ProgramPlan) -> bool:
    """Whether lost events of one key are called what events of others are called."""
    return any(isinstance(one.schema.uncertainty, LostEvents) and one.schema.uncertainty.role for one in plan.streams)


def side_by_side(rng: random.Random) -> Iterator[tuple[UncertainCase, dict[str, list[FoundResult]]]]:
    """Cases of one program, run as one: each has keys of its own, which its results show."""
    uncertainties = Uncertainties(
        Options(bad_rows=False, partitioned=True),
        most_worlds=FEW_WORLDS,
        accept=lambda plan: is_packable(plan) and shows_key(plan) and not shares_roles(plan),
    )
    while True:
        cases = random_uncertain_cases(rng, N_SIDE_BY_SIDE, uncertainties)
        first = cases[0]
        if not any(first.probable().values()):
            continue
        cases = [replace(case, tables=first.tables) for case in cases]
        packed = replace(first, rows=pack(case.rows for case in cases))
        found = sampled(packed, rng.getrandbits(32))
        for number, case in enumerate(cases):
            prefix = f"{number:06d}:"
            mine = {
                event.name: [
                    _unprefixed(event, one, prefix)
                    for one in found[event.name]
                    if str(one.values[_key_place(event)]).startswith(prefix)
                ]
                for event in case.plan.events
            }
            yield case, mine


def _key_place(event: p.EventPlan) -> int:
    return next(place for place, output in enumerate(event.head) if output.name == "k")


def _unprefixed(event: p.EventPlan, one: FoundResult, prefix: str) -> FoundResult:
    def plain(value: Value) -> Value:
        return value.removeprefix(prefix) if isinstance(value, str) else value

    return replace(one, values=tuple(map(plain, one.values)), lineage=tuple(map(plain, one.lineage)))


def alone(rng: random.Random) -> Iterator[tuple[UncertainCase, dict[str, list[FoundResult]]]]:
    while True:
        for case in random_uncertain_cases(rng, 4, Uncertainties(most_worlds=FEW_WORLDS)):
            yield case, sampled(case, rng.getrandbits(32))


@pytest.fixture(scope="module")
def estimates() -> Estimates:
    rng = random.Random(2026)
    found = Estimates()
    for cases, n in ((side_by_side(rng), SIDE_BY_SIDE), (alone(rng), ALONE)):
        until = len(found.true) + n
        for case, seen in cases:
            chosen = one_of(rng, case.plan, Names.of(case.plan, case.rows), case.probable(), seen)
            if chosen is not None:
                found.add(chosen[0].probability, chosen[1])
            if len(found.true) == until:
                break
    return found


@pytest.mark.long
def test_estimates_miss_as_rarely_as_they_claim(estimates: Estimates) -> None:
    assert len(estimates.true) >= 2000
    assert sum(0 < one < 1 for one in estimates.true) >= 1000
    assert estimates.n_misses <= binom.ppf(1 - ONE_IN_A_MILLION, len(estimates.true), DELTA)


@pytest.mark.long
def test_no_error_is_larger_than_asked_for(estimates: Estimates) -> None:
    assert max(estimates.error) <= EPSILON


@pytest.mark.long
def test_estimates_spread_around_the_definition_as_they_should(estimates: Estimates) -> None:
    """The mean of n standard deviations is normal with variance 1/n, that of their squares with variance 2/n."""
    deviations = estimates.deviations()
    n = len(deviations)
    assert n >= 600
    assert abs(deviations.mean()) < 5 / sqrt(n)
    assert abs((deviations**2).mean() - 1) < 5 * sqrt(2 / n)


@pytest.mark.long
def test_what_is_certain_in_all_worlds_is_estimated_as_certain(estimates: Estimates) -> None:
    certain = [share for true, share in zip(estimates.true, estimates.share, strict=True) if true == 1]
    assert len(certain) >= 50
    assert set(certain) == {1.0}


def has_few_parts(plan: p.ProgramPlan) -> bool:
    """Whether the definition, which tries everything, is quick in one world."""
    return all(sum(1 for _ in p.leaves(event.pattern)) <= MOST_PARTS for event in plan.events)


def counted(case: UncertainCase, rng: random.Random, n: int) -> dict[str, tuple[ProbableResult, ...]]:
    """Results in some plainly drawn worlds, with the number of worlds that have them."""
    worlds = drawn_worlds(case.plan, with_names(case.plan, case.rows), rng, n)
    return summed_over(worlds, case.plan, case.tables)


@pytest.mark.long
def test_lengths_of_time_with_lost_events_eq_a_plain_sampler() -> None:
    """Two samples of the same share: Fisher's test finds as few of them different as chance allows."""
    rng = random.Random(77)
    lost = (Uncertain.NOTHING, Uncertain.TIME, Uncertain.VALUE, Uncertain.LOST, Uncertain.LOST, Uncertain.LOST_SEGMENTS)
    options = Options((Kind.POINTS, Kind.ORDERED), bad_rows=False, n_events=1)
    uncertainties = Uncertainties(options, lost, (4, 16, 64), lengths=True, accept=has_few_parts)
    p_values: list[float] = []
    n_open = 0
    while len(p_values) < MEASURED:
        (case,) = random_uncertain_cases(rng, 1, uncertainties)
        glance = counted(case, rng, GLANCE)  # not used again, so that it does not favor any outcome
        if not any(one.probability < GLANCE for some in glance.values() for one in some):
            continue
        seen = sampled(case, rng.getrandbits(32))
        chosen = one_of(rng, case.plan, Names.of(case.plan, case.rows), counted(case, rng, DRAWN), seen)
        if chosen is None:
            continue
        n_drawn, n_seen = int(chosen[0].probability), 0
        if chosen[1] is not None:
            n_seen = round(float(chosen[1].probability) * N_WORLDS)
        n_open += 0 < n_drawn < DRAWN
        p_values.append(fisher_exact([[n_drawn, DRAWN - n_drawn], [n_seen, N_WORLDS - n_seen]]).pvalue)
    assert n_open >= MEASURED // 4
    assert sum(one < 0.01 for one in p_values) <= binom.ppf(1 - ONE_IN_A_MILLION, len(p_values), 0.01)
    assert min(p_values) > ONE_IN_A_MILLION / len(p_values)
