"""Random programs on random streams: the local runner gives exactly what the definition gives."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import inkling
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.derive import with_derived_columns
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.stepper import StageStepper
from inkling.io import normalize
from inkling.io.duplicates import without_duplicates
from inkling.local import rows_of
from inkling.model.batch import FOREVER
from inkling.model.time import Clock
from inkling.query import Program
from inkling.results import result_table
from inkling.testing.arrow import arrow_streams, arrow_tables
from inkling.testing.comparison import differences, same_results
from inkling.testing.coverage import Coverage
from inkling.testing.oracle import surroundings
from inkling.testing.programs import Case, Options, seeded_cases

CASES_PER_SEED = 250
SEEDS = range(8)
LONG_SEEDS = range(8, 88)


@pytest.fixture(scope="module")
def coverage() -> Iterator[Coverage]:
    """Counts what the cases of this module use, and prints it at the end."""
    counted = Coverage()
    yield counted
    print(f"\n{counted.report()}")  # noqa: T201


def _found(case: Case) -> dict[str, list[dict[str, object]]]:
    results = inkling.parse(case.text).run_local(
        arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables)
    )
    return {name: table.to_pylist() for name, table in results.tables.items()}


def _check(seed: int, coverage: Coverage) -> None:
    for case in seeded_cases(seed, CASES_PER_SEED):
        expected = case.expected()
        coverage.add(case.plan, case.rows, expected)
        found = differences(case.plan, expected, _found(case))
        assert not found, "\n".join([str(case), *found])


@pytest.mark.parametrize("seed", SEEDS)
def test_local_eq_definition(seed: int, coverage: Coverage) -> None:
    _check(seed, coverage)


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_local_eq_definition_at_length(seed: int, coverage: Coverage) -> None:
    _check(seed, coverage)


def test_every_operator_was_hit(coverage: Coverage, request: pytest.FixtureRequest) -> None:
    """Every word of the language had a program with results, if all cases of this module ran."""
    if coverage.n_programs < len(SEEDS) * CASES_PER_SEED:
        pytest.fail("this test looks back at all cases of the module: run the whole module")
    assert coverage.missing() == []


@pytest.mark.parametrize("seed", range(100, 104))
def test_steps_eq_definition(seed: int) -> None:
    """However the events are cut into steps, the results are the same."""
    rng = random.Random(seed)
    checked = 0
    for case in seeded_cases(seed, 120, Options(n_events=1, without=frozenset({"ORDER BY text", "ties with order"}))):
        program = inkling.parse(case.text)
        if len(program.physical.stages) == 1:
            same_results(case.plan, case.expected(), _stepped(program, case, rng))
            checked += 1
    assert checked > 60


def _stepped(program: Program, case: Case, rng: random.Random) -> dict[str, list[dict[str, object]]]:
    around = surroundings(case.plan, case.tables, Clock.TICKS)
    given, tables = arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables)
    ready = {}
    for stream in case.plan.streams:
        derived = [column.name for column in stream.derived]
        rows = normalize(given[stream.schema.name], stream.schema, derived).rows
        rows, _ = without_duplicates(stream.schema, rows)
        ready[stream.schema.name] = with_derived_columns(stream, rows, around)
    (stage,) = program.physical.stages
    rows = rows_of(stage, ready, tables, around)
    stepper = StageStepper(StageEngine(stage, tables, around), around)
    state = stepper.start()
    cuts = [*sorted(rng.sample(range(-1, 14), rng.randint(0, 4))), FOREVER]
    parts: list[pa.Table] = []
    decided = -FOREVER
    for cut in cuts:
        ends = rows[r.END]
        now = rows.filter(pc.and_(pc.greater(ends, decided), pc.less_equal(ends, cut)))
        state, found = stepper.step(state, now, cut)
        decided = cut
        (event,) = case.plan.events
        parts.append(result_table(event, found[event.name], Clock.TICKS))
    return {case.plan.events[0].name: [row for part in parts for row in part.to_pylist()]}


def test_the_number_of_cases_is_what_it_says() -> None:
    assert len(SEEDS) * CASES_PER_SEED >= 2000
    assert os.environ.get("HYPOTHESIS_PROFILE") != "long" or len(LONG_SEEDS) * CASES_PER_SEED >= 20_000
