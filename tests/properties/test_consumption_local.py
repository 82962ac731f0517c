"""Random programs with consumption policies: the local runner gives exactly what the definition gives."""

from __future__ import annotations

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.coverage import Coverage
from tests.kit.look_back import require_all
from tests.kit.programs import Case, Options, parsed, seeded_cases

CASES_PER_SEED = 100
SEEDS = range(8, 13)
POLICIES = ("CONSUME RECENT", "CONSUME CHRONOLOGICAL")
EXPECTED = (
    *POLICIES, "KEEPING", "PREFER LONGER", "PREFER SHORTER", "PREFER a value",
    "SEQ ANY", "SEQ in SEQ", "AND", "OR", "PAR", "DURING", "CONTAINS", "INTERSECTS", "STARTS_BEFORE",
    "NOT between", "NOT of a pattern",
    "equality across events", "inequality across events", "HAVING", "named body", "nested HAVING",
    "WITHIN duration", "WITHIN POINTS", "KEEP FOR", "PARTITION BY", "stream of intervals", "ORDER BY",
    "PER MATCH", "PER INTERVAL", "PER END", "PER VALUES", "ties without order", "null values",
)  # fmt: skip


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    """Counts what events with a policy use."""
    return Coverage()


def _found(case: Case) -> dict[str, list[dict[str, object]]]:
    results = parsed(case.text).run_local(arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables))
    return {name: table.to_pylist() for name, table in results.tables.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_policies_eq_definition(seed: int, coverage: Coverage) -> None:
    for case in seeded_cases(seed, CASES_PER_SEED, Options(needing=frozenset({POLICIES[seed % 2]}))):
        expected = case.expected()
        consuming = {event.name for event in case.plan.events if event.consumption is not None}
        coverage.add(case.plan, case.rows, {name: found for name, found in expected.items() if name in consuming})
        found = differences(case.plan, expected, _found(case))
        assert not found, "\n".join([str(case), *found])


def test_policies_met_every_operator(coverage: Coverage) -> None:
    require_all(coverage.n_programs // CASES_PER_SEED, len(SEEDS))
    assert coverage.missing(EXPECTED) == []
