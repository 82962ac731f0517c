"""One table of cases on all runners: each gives what the definition says, in all public columns."""

from __future__ import annotations

import pytest
from tests.conformance.case import Case
from tests.conformance.cases import FAMILIES, family_cases, golden
from tests.conformance.comparison import against_definition, against_run, only
from tests.conformance.golden import NAMES
from tests.conformance.keyed import COMBINATIONS, keyed_case
from tests.conformance.runners import SAMPLED, Inputs, LocalBatch, Pushed, Runner

SEEDS = range(1)
LONG_SEEDS = range(1, 6)
PUSHES = range(3)


def check(case: Case, runner: Runner) -> list[str]:
    """What a runner gets wrong about a case that it runs alone."""
    inputs = Inputs(case.given(), case.given_tables())
    found = runner.run(case.program, inputs)
    wrong = [f"late: {row}" for row in found.get("late", ())] + against_definition(case, only(case, found))
    if runner.samples_worlds and not case.is_certain:
        wrong += against_run(case, LocalBatch(SAMPLED).run(case.program, inputs), found)
    return [f"{runner.name} differs", *wrong, str(case)] if wrong else []


@pytest.mark.parametrize("name", NAMES)
def test_golden_cases_in_this_process(name: str) -> None:
    case = golden(name)
    wrong = [line for runner in (LocalBatch(), *map(Pushed, PUSHES)) for line in check(case, runner)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(one, marks=pytest.mark.long) for one in LONG_SEEDS)])
@pytest.mark.parametrize("family", FAMILIES)
def test_uncertain_cases_in_this_process(family: str, seed: int) -> None:
    runners = (LocalBatch(), *map(Pushed, PUSHES))
    wrong = [line for case in family_cases(family, seed) for runner in runners for line in check(case, runner)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("family", "kind"), COMBINATIONS)
def test_keys_in_this_process(family: str, kind: str) -> None:
    case = keyed_case(family, kind)
    wrong = [line for runner in (LocalBatch(), *map(Pushed, PUSHES)) for line in check(case, runner)]
    assert not wrong, "\n".join(wrong)
