"""Random programs on random streams: the local runner gives exactly what the definition gives."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.coverage import Coverage
from tests.kit.look_back import require_all
from tests.kit.programs import Case, parsed, seeded_cases
from tests.kit.seeds import at_length

CASES_PER_SEED = 250
SEEDS = range(8)
LONG_SEEDS = at_length(range(8, 88))


@pytest.fixture(scope="module")
def coverage() -> Iterator[Coverage]:
    """Counts what the cases of this module use, and prints it at the end."""
    counted = Coverage()
    yield counted
    print(f"\n{counted.report()}")  # noqa: T201


def _found(case: Case) -> dict[str, list[dict[str, object]]]:
    results = parsed(case.text).run_local(arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables))
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


def test_every_operator_was_hit(coverage: Coverage) -> None:
    """Every word of the language had a program with results."""
    require_all(coverage.n_programs // CASES_PER_SEED, len(SEEDS))
    assert coverage.missing() == []


def test_the_number_of_cases_is_what_it_says() -> None:
    assert len(SEEDS) * CASES_PER_SEED >= 2000
    assert os.environ.get("HYPOTHESIS_PROFILE") != "long" or len(LONG_SEEDS) * CASES_PER_SEED >= 20_000
