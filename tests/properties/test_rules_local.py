"""Random rule sets on random streams: the local runner gives exactly what the definition gives.

Most programs keep keys apart, so that many small streams run at once, each as a key of its own: a program and the rows
of one key are one case.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.coverage import FEATURES, Coverage
from tests.kit.look_back import require_all
from tests.kit.programs import Case
from tests.kit.rule_coverage import RULE_SET_FEATURES
from tests.kit.rulesets import PackedCase, packed_rule_sets, seeded_rule_sets
from tests.kit.seeds import at_length

import inkling

SEEDS = range(8)
LONG_SEEDS = at_length(range(8, 48))
PROGRAMS_PER_SEED = 32
DATASETS = 11
UNPACKED_PER_SEED = 20
EXTENDING_PER_SEED = 6
LEAST_CASES = 5000

RARE = {"AT START in what is kept", "EAGER", "ON TIMEOUT of several parts"}
"""Words that single events use, which `test_programs_local.py` finds often enough."""


class Tally(Coverage):
    """What the cases of this module had in them."""

    n_seeds = 0
    n_cases = 0


@pytest.fixture(scope="module")
def tally() -> Iterator[Tally]:
    counted = Tally()
    yield counted
    print(f"\n{counted.n_cases} cases\n{counted.report()}")  # noqa: T201


def _check(case: Case | PackedCase, tally: Tally) -> None:
    expected = case.expected()
    tally.n_cases += case.n_streams if isinstance(case, PackedCase) else 1
    tally.add(case.plan, case.rows, expected)
    program = inkling.parse(case.text)
    results = program.run_local(arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables))
    wrong = differences(case.plan, expected, {name: table.to_pylist() for name, table in results.tables.items()})
    assert not wrong, "\n".join([str(case), *wrong])


@pytest.mark.parametrize("seed", SEEDS)
def test_rules_eq_definition(seed: int, tally: Tally) -> None:
    tally.n_seeds += 1
    for case in packed_rule_sets(seed, PROGRAMS_PER_SEED, DATASETS):
        _check(case, tally)


@pytest.mark.parametrize("seed", SEEDS)
def test_rules_across_keys_eq_definition(seed: int, tally: Tally) -> None:
    tally.n_seeds += 1
    for case in seeded_rule_sets(seed + 100, UNPACKED_PER_SEED):
        _check(case, tally)


@pytest.mark.parametrize("seed", SEEDS)
def test_rules_that_extend_their_streams_eq_definition(seed: int, tally: Tally) -> None:
    """Rows of a stream are facts of the recursive event with its name."""
    tally.n_seeds += 1
    for case in _extending(seed):
        _check(case, tally)


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_rules_eq_definition_at_length(seed: int, tally: Tally) -> None:
    for case in packed_rule_sets(seed, PROGRAMS_PER_SEED, DATASETS):
        _check(case, tally)
    for case in (*seeded_rule_sets(seed + 100, UNPACKED_PER_SEED), *_extending(seed)):
        _check(case, tally)


def _extending(seed: int) -> Iterator[Case | PackedCase]:
    yield from packed_rule_sets(seed + 200, EXTENDING_PER_SEED, DATASETS, extending=True)
    yield from seeded_rule_sets(seed + 300, EXTENDING_PER_SEED, extending=True)


def test_every_operator_and_every_combination_was_hit(tally: Tally) -> None:
    require_all(tally.n_seeds, 3 * len(SEEDS))
    assert tally.n_cases >= LEAST_CASES
    assert tally.missing([*(set(FEATURES) - RARE), *RULE_SET_FEATURES]) == []
