"""Every kernel gives the same compiled and as plain Python.

Small programs call kernels; each call is made twice. A new kernel that no program here reaches fails the last test:
add a program, or a test of its own to `ELSEWHERE`.
"""

from pathlib import Path

import pytest
from tests.conformance.case import Case
from tests.conformance.cases import family_cases, golden
from tests.conformance.forecasts import forecast_cases
from tests.conformance.golden import NAMES
from tests.conformance.runners import EXACT, SAMPLED
from tests.kit.kernel_calls import Calls, all_kernels, repeat_calls

import inkling.runtime.registry  # noqa: F401
from inkling.cli.warm import warm

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FAMILIES = ("chain", "relation", "timeworld", "valueworld", "lossworld")

ELSEWHERE = {
    "automaton.cells.": "tests/unit/automata/test_alphabet.py",
    "chain.by_tables.": "tests/properties/test_imprecise_exact.py",
    "inference.": "tests/unit/infer/test_exact.py",
    "query.intervals.": "tests/oracles/test_lahar_safe.py",
    "query.live_sets.": "tests/properties/test_probable_universal.py",
    "query.moves.": "tests/oracles/test_lahar_safe.py",
    "query.seq_markov.": "tests/oracles/test_lahar_safe.py",
    "windows.": "tests/unit/evaluators/test_sliding_kernels.py",
    "worlds.draws.": "tests/unit/evaluators/worlds/test_draws.py",
    "worlds.gap_draws.": "tests/unit/evaluators/worlds/test_draws.py",
}
"""Kernels, by the beginning of their names, that other tests compare with plain loops, fractions or figures."""

COMPILED_ONLY = frozenset(
    {
        "columns.keys.fill_slots",
        "columns.numbered_rows.judged",
        "forecast.durations.detected_within",
        "query.packed_rows.settled",
        "query.packed_rows.unfollowed",
        "query.sampled_worlds.drawn",
        "query.sampled_worlds.marked",
        "query.sampled_worlds.stepped",
        "query.sampled_worlds.weight_of",
        "relation.answers.chance_of_head",
        "relation.blocks.mass",
        "relation.blocks.scale",
        "relation.cells.trim",
        "relation.crossed.forward_among",
        "relation.crossed.qualifies_among",
        "relation.keys.reach",
        "relation.rules.hit_of",
        "relation.samples.sample",
        "relation.steps.both",
        "relation.steps.end_of_moment",
        "relation.steps.only_note",
        "relation.ties.ends_together",
        "relation.ties.hits_at_closing",
        "relation.ties.hits_of_point",
        "relation.ties.note_at_opening",
        "worlds.regular.chosen_at",
        "worlds.regular.count_detections",
        "worlds.regular.draw_symbols",
        "worlds.regular.symbols_of",
    }
)
"""Kernels that tests compare with the definition only as parts of programs, and only compiled; the list may shrink."""


@pytest.fixture(scope="module")
def calls() -> Calls:
    """What was called by all programs, each built anew: other tests of this process may have built them before."""
    for cases in (golden, family_cases, forecast_cases):
        cases.cache_clear()
    found = Calls()
    with pytest.MonkeyPatch.context() as patch:
        repeat_calls(patch, found)
        warm()
        for name in NAMES[::2]:
            run(golden(name))
        for case in forecast_cases(0):
            run(case)
        for family in FAMILIES:
            for case in family_cases(family, 0):
                run(case)
    return found


def run(case: Case) -> None:
    for sampling in (EXACT,) if case.is_certain else (EXACT, SAMPLED):
        case.program.run_local(case.given(), case.given_tables(), sampling=sampling)


def test_programs_call_kernels(calls: Calls) -> None:
    """Differences fail where a call is repeated."""
    assert len(calls.repeated) > 50


def test_every_kernel_has_a_twin(calls: Calls) -> None:
    public = {name for name in all_kernels() if not name.rpartition(".")[2].startswith("_")}
    elsewhere = {name for name in public if name.startswith(tuple(ELSEWHERE))}
    assert sorted(public - calls.reached - elsewhere - COMPILED_ONLY) == []


def test_kernels_that_run_compiled_only_are_listed_once(calls: Calls) -> None:
    assert sorted(COMPILED_ONLY & calls.reached) == []
    assert set(all_kernels()) >= COMPILED_ONLY
    assert [path for path in ELSEWHERE.values() if not (ROOT / path).exists()] == []
