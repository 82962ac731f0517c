"""One table of cases on all runners: each gives what the definition says, in all public columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.mark import ParameterSet
from tests.conformance.case import Case, packed
from tests.conformance.cases import FAMILIES, family_cases, golden
from tests.conformance.comparison import against_definition, against_run, only
from tests.conformance.forecasts import forecast_cases
from tests.conformance.golden import NAMES
from tests.conformance.keyed import COMBINATIONS, KEY_TYPES, keyed_case
from tests.conformance.packs import EXACT as EXACT_FAMILIES
from tests.conformance.packs import GOLDEN, cases_of
from tests.conformance.runners import EXACT, SAMPLED, Inputs, LocalBatch, Pushed, Runner, SparkBatch, SparkStream
from tests.kit.exact_events import chains_of, relations_of, strategies_of

from inkling.analysis.query.strategy import Engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(1)
LONG_SEEDS = range(1, 6)
PUSHES = range(3)


def check(runner: Runner, *cases: Case) -> list[str]:
    """What a runner gets wrong about cases that it runs as one program."""
    pack = cases[0] if len(cases) == 1 else packed("pack", cases)
    inputs = Inputs(pack.given(), pack.given_tables())
    found = runner.run(pack.program, inputs)
    wrong = [f"late: {row}" for row in found.get("late", ())]
    for case in cases:
        here = against_definition(case, only(case, found), samples_worlds=runner.samples_worlds)
        wrong += [*here, str(case)] if here else []
    if not wrong and not pack.is_certain:
        sampling = SAMPLED if runner.samples_worlds else EXACT
        wrong = against_run(pack, LocalBatch(sampling).run(pack.program, inputs), found)
    return [f"{runner.name} differs", *wrong] if wrong else []


def at_length(*values: object) -> ParameterSet:
    return pytest.param(*values, marks=pytest.mark.long)


@pytest.mark.parametrize("name", NAMES)
def test_golden_cases_in_this_process(name: str) -> None:
    case = golden(name)
    wrong = [line for runner in (LocalBatch(), *map(Pushed, PUSHES)) for line in check(runner, case)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", [*SEEDS, *map(at_length, LONG_SEEDS)])
@pytest.mark.parametrize("family", FAMILIES)
def test_uncertain_cases_in_this_process(family: str, seed: int) -> None:
    runners = (LocalBatch(), *map(Pushed, PUSHES))
    wrong = [line for case in family_cases(family, seed) for runner in runners for line in check(runner, case)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("family", "kind"), COMBINATIONS)
def test_keys_in_this_process(family: str, kind: str) -> None:
    case = keyed_case(family, kind)
    wrong = [line for runner in (LocalBatch(), *map(Pushed, PUSHES)) for line in check(runner, case)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", [*SEEDS, *map(at_length, LONG_SEEDS)])
def test_forecasts_in_this_process(seed: int) -> None:
    runners = (LocalBatch(), *map(Pushed, PUSHES))
    wrong = [line for case in forecast_cases(seed) for runner in runners for line in check(runner, case)]
    assert not wrong, "\n".join(wrong)


PARTITIONS = (1, 2, 7)
PACKS = ("one of each", "exact", "worlds", "mixture", "revised", "forecasts", *(f"keys: {kind}" for kind in KEY_TYPES))
ON_SPARK = {"one of each": 7, "mixture": 1}
"""With these partitions packs run every time; with the others, and all golden cases, at length."""
ON_STREAMS = ("a few",)


@pytest.mark.parametrize(
    ("pack", "partitions"),
    [(pack, n) if ON_SPARK.get(pack) == n else at_length(pack, n) for pack in (*PACKS, *GOLDEN) for n in PARTITIONS],
)
def test_spark_batch(pack: str, partitions: int, spark: SparkSession) -> None:
    wrong = check(SparkBatch(spark, partitions), *cases_of(pack))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "pack", [pack if pack in ON_STREAMS else at_length(pack) for pack in ("a few", *PACKS[1:], *GOLDEN)]
)
def test_structured_streaming(pack: str, spark: SparkSession, tmp_path: Path) -> None:
    """Rows without ids are numbered otherwise there than in one run, so all rows have ids."""
    wrong = check(SparkStream(spark, tmp_path, seed=3), *cases_of(pack, ids=True))
    assert not wrong, "\n".join(wrong)


def test_the_table_is_as_large_as_it_says() -> None:
    """At least forty uncertain events that find something less than certain, and some of each family."""
    for family in FAMILIES:
        results = [found for case in family_cases(family, 0) for found in case.expected.values()]
        uncertain = [any(0 < one.probability < 1 for one in some) for some in results]
        assert sum(uncertain) >= 2, family
    events = [found for family in FAMILIES for case in family_cases(family, 0) for found in case.expected.values()]
    assert sum(any(0 < one.probability < 1 for one in found) for found in events) >= 40
    for case in forecast_cases(0):
        assert sum(bool(forecasts.said) for forecasts in case.forecasts.values()) >= 4, case.name
    plans = [case.program.plan for family in EXACT_FAMILIES for case in family_cases(family, 0)]
    engines = {one.engine for plan in plans for one in strategies_of(plan).values()}
    engines |= {one.engine for case in forecast_cases(0) for one in strategies_of(case.program.plan).values()}
    assert engines == {*Engine}
    assert all(chains_of(plan) or strategies_of(plan) or relations_of(plan) for plan in plans)
