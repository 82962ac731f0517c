"""Random relations between results of other events: what the definition gives, however rows come and in all worlds."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from tests.kit.arrival import arrivals
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.derived_segments import derived_segments_cases, uncertain_relations
from tests.kit.oracle import bound, oracle
from tests.kit.probable_comparison import FoundResult, Names, found_in, paired, probable_differences
from tests.kit.uncertain import GOOD_ROWS, UncertainCase, Uncertainties, uncertain_cases
from tests.kit.universe import Kind, Uncertain
from tests.kit.world_data import counted_out, world_data

import inkling
from inkling import Sampling
from inkling.logical import plan as p
from inkling.why.explanation import Why

pytestmark = pytest.mark.long

CASES_PER_SEED = 28
PUSHED = 15
EXPLAINED = 12
UNCERTAIN_PROGRAMS = 12
SAMPLED_PROGRAMS = 8
ALL_WORLDS = 1_000_000
UNCERTAINTIES = {
    "lost events": ((Kind.POINTS, Kind.ORDERED), (Uncertain.LOST, Uncertain.LOST_SEGMENTS)),
    "probable values": (tuple(Kind), (Uncertain.VALUE, Uncertain.CHAIN)),
    "imprecise times": ((Kind.POINTS,), (Uncertain.TIME, Uncertain.WEIGHTED_TIME, Uncertain.READING)),
}

Found = dict[str, list[dict[str, object]]]


@pytest.mark.parametrize("seed", range(2))
def test_derived_segments_eq_definition(seed: int) -> None:
    n_results: Counter[str] = Counter()
    for case in derived_segments_cases(seed, CASES_PER_SEED):
        plan = bound(case.text)
        expected = oracle(plan, case.rows)
        n_results.update({name: len(some) for name, some in expected.items()})
        results = inkling.parse(case.text).run_local(arrow_streams(plan, case.rows))
        found = {name: table.to_pylist() for name, table in results.tables.items()}
        wrong = differences(plan, expected, found)
        assert not wrong, "\n".join([str(case), *wrong])
    assert sum(n_results[event.name] for event in plan.events[-3:]) > CASES_PER_SEED


def test_derived_segments_pushed_piece_by_piece_eq_definition() -> None:
    """Results of other events come as they happen, the relations between them at the end."""
    rng = random.Random(7)
    told: Counter[str] = Counter()
    for case in derived_segments_cases(77, PUSHED):
        plan = bound(case.text)
        given = arrow_streams(plan, case.rows)
        pieces = arrivals(rng, plan, given, 3, lateness=0)
        stream = inkling.parse(case.text).open(unbounded=True)
        pushed: Found = {name: [] for name in given}
        found: Found = {event.name: [] for event in plan.events}
        for number in range(3):
            push = {name: parts[number] for name, parts in pieces.items()}
            for name, part in push.items():
                pushed[name] += part.to_pylist()
            for name, table in stream.push(push).tables.items():
                found[name] += table.to_pylist()
        told.update({f"early {name[0]}": len(some) for name, some in found.items()})
        for name, table in stream.finish().tables.items():
            found[name] += table.to_pylist()
        told.update({name[0]: len(some) for name, some in found.items()})
        wrong = differences(plan, oracle(plan, pushed), found)
        assert not wrong, "\n".join([str(case), *wrong])
    assert told["early e"] == 0
    assert told["e"] > PUSHED // 2
    assert told["early A"] > PUSHED


def test_trees_of_derived_segments_rest_on_the_lineage() -> None:
    n_trees = 0
    for case in derived_segments_cases(5, EXPLAINED):
        plan, program = bound(case.text), inkling.parse(case.text)
        derived = {event.name for event in plan.events}
        for event in plan.events[-3:]:
            why = Why(program, event.name, arrow_streams(plan, case.rows))
            for number, result in enumerate(why.results.slice(0, 2).to_pylist(), start=1):
                tree = why.tree(number)
                assert [one for row in tree.rows() for one in row.ids] == result["lineage"], case
                assert tree.end == result["end"], case
                n_trees += any(part.source in derived for _, part in tree.parts)
    assert n_trees > EXPLAINED // 4


@pytest.mark.parametrize("uncertainty", UNCERTAINTIES)
def test_worlds_counted_out_eq_definition(uncertainty: str) -> None:
    n_related = 0
    for number, case in enumerate(uncertain_cases(2, UNCERTAIN_PROGRAMS, 1, uncertainties(uncertainty))):
        expected = case.probable()
        found = counted_out(world_data(case, ALL_WORLDS))
        uncertain = replace(case.plan, events=tuple(event for event in case.plan.events if event.name in found))
        wrong = probable_differences(uncertain, case.rows, expected, found)
        assert not wrong, "\n".join([str(case), *wrong])
        n_related += sum(one.probability < 1 for event in relations(case) for one in expected[event.name])
        if number % 4 == 0:
            shown = run(case, Sampling(exact_up_to=ALL_WORLDS))
            wrong = probable_differences(case.plan, case.rows, expected, shown, tolerance=1e-12)
            assert not wrong, "\n".join(["in the public columns:", str(case), *wrong])
    assert n_related > UNCERTAIN_PROGRAMS // 4


@pytest.mark.parametrize("uncertainty", UNCERTAINTIES)
def test_sampled_worlds_are_as_close_as_they_say(uncertainty: str) -> None:
    """With this confidence, one of a million estimates is farther away."""
    n_related = 0
    for seed, case in enumerate(uncertain_cases(2, SAMPLED_PROGRAMS, 1, uncertainties(uncertainty))):
        shown = run(case, Sampling(epsilon=0.1, delta=1e-6, seed=seed, exact_up_to=0))
        expected, names = case.probable(), Names.of(case.plan, case.rows)
        for event in relations(case):
            pairs, unexpected = paired(case.plan, event, names, expected[event.name], shown[event.name])
            assert not unexpected, case
            for want, found in pairs:
                share, error = (0.0, 0.1) if found is None else (float(found.probability), found.error)
                assert abs(float(want.probability) - share) <= error, f"{case}\n{want}\n{found}"
                n_related += want.probability < 1
    assert n_related > SAMPLED_PROGRAMS // 4


def relations(case: UncertainCase) -> tuple[p.EventPlan, ...]:
    return tuple(event for event in case.plan.events if isinstance(event.pattern, p.Quantified))


def uncertainties(uncertainty: str) -> Uncertainties:
    kinds, uncertain = UNCERTAINTIES[uncertainty]
    return Uncertainties(replace(GOOD_ROWS, kinds=kinds), uncertain, write=uncertain_relations)


def run(case: UncertainCase, sampling: Sampling) -> dict[str, list[FoundResult]]:
    results = case.program.run_local(
        arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables), sampling=sampling
    )
    return found_in(case.plan, results.tables)
