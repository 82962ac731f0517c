"""Every kernel gives the same compiled and as plain Python.

Small programs call kernels; each call is made twice. For a new kernel that no program here reaches, add a program, a
check to `test_single_kernels.py`, or a test of its own to `ELSEWHERE`.
"""

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.conformance.case import Case
from tests.conformance.cases import family_cases, golden
from tests.conformance.forecasts import forecast_cases
from tests.conformance.golden import NAMES
from tests.conformance.runners import EXACT, SAMPLED
from tests.kit.kernel_calls import Calls, all_kernels, repeat_calls
from tests.kit.lost_lines import overlapping_line, random_line, unbounded
from tests.kit.lost_pairs import flat, lists_of_lines, lists_of_pairs
from tests.naive.test_single_kernels import CHECKS
from tests.reference.lost.exact.line import Line
from tests.reference.lost.exact.question import Question, asked_of

from inkling.cli.warm import warm
from inkling.evaluators.relation.forward import Limits, chances

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FAMILIES = ("chain", "relation", "timeworld", "valueworld", "lossworld")

ELSEWHERE = {
    "automaton.cells.": "tests/unit/automata/test_alphabet.py",
    "chain.by_tables.": "tests/properties/test_imprecise_exact.py",
    "chain.sampled.": "tests/unit/evaluators/chain/test_chains.py",
    "inference.": "tests/unit/infer/test_exact.py",
    "query.intervals.": "tests/oracles/test_lahar_safe.py",
    "query.live_sets.": "tests/properties/test_probable_universal.py",
    "query.moves.": "tests/oracles/test_lahar_safe.py",
    "query.seq_markov.": "tests/oracles/test_lahar_safe.py",
    "rdf.": "tests/unit/io/readers/test_rdf.py",
    "windows.": "tests/unit/evaluators/test_sliding_kernels.py",
    "worlds.draws.": "tests/unit/evaluators/worlds/test_draws.py",
    "worlds.gap_draws.": "tests/unit/evaluators/worlds/test_draws.py",
}
"""Kernels, by the beginning of their names, that other tests compare with plain loops, fractions or figures."""


@pytest.fixture(scope="module")
def calls() -> Calls:
    """What was called by all programs, each built anew: other tests of this process may have built them before."""
    for cases in (golden, family_cases, forecast_cases):
        cases.cache_clear()
    found = Calls()
    with pytest.MonkeyPatch.context() as patch:
        repeat_calls(patch, found)
        relate(found)
        warm()
        for name in NAMES:
            run(golden(name))
        for case in forecast_cases(0):
            run(case)
        for family in FAMILIES:
            for case in family_cases(family, 0):
                run(case)
    return found


def relate(found: Calls) -> None:
    """Relations of segments: with labels and ties, with rates, among overlapping segments, sampled, in long runs."""
    random, few = Random(0), Limits(n_samples=5)
    lines = [random_line(random) for _ in range(60)]
    at_rates = [line for line in (unbounded(random, one) for one in lines) if _has_room(line)]
    in_step, rated = lists_of_lines(lines[:30], lines[30:]), lists_of_lines(at_rates[:20], at_rates[20:40])
    left, right = lists_of_lines(lines[:20], [overlapping_line(random) for _ in range(20)])
    among = [left, right._replace(simple=~right.simple)]
    long = lists_of_pairs([(flat("0 _ _ _ _ _ _ _ _ 90"), flat("5 _ _ _ _ _ _ _ _ 95"))])
    for relations, same in ((("INTERSECTS",), None), (("PRECEDES", "STARTS", "EQUALS"), "label")):
        asked = asked_of(Question(1, relations, 1, same), 3)
        for left, right in (in_step, rated, among, long):
            every = np.arange(len(left.simple))
            for limits in (few, replace(few, states=1)):
                found.repeated.clear()
                chances(left, right, every, every, asked, limits)
    found.repeated.clear()


def _has_room(line: Line) -> bool:
    return all(run.lo is None or run.hi is None or run.lo < run.hi for run in line.runs)


def run(case: Case) -> None:
    for sampling in (EXACT,) if case.is_certain else (EXACT, SAMPLED):
        case.program.run_local(case.given(), case.given_tables(), sampling=sampling)


def test_programs_call_kernels(calls: Calls) -> None:
    """Differences fail where a call is repeated."""
    assert len(calls.repeated) > 50


def test_every_kernel_has_a_twin(calls: Calls) -> None:
    public = {name for name in all_kernels() if not name.rpartition(".")[2].startswith("_")}
    elsewhere = {name for name in public if name.startswith(tuple(ELSEWHERE))}
    assert sorted(public - calls.reached - elsewhere - set(CHECKS)) == []


def test_tests_elsewhere_are_there() -> None:
    assert [path for path in ELSEWHERE.values() if not (ROOT / path).exists()] == []
