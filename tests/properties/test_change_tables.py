"""Tables of changes: a program over streams with OP finds in them what it finds in the corrected tables."""

from __future__ import annotations

import random

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.oracle import bound, oracle
from tests.kit.programs import Options, seeded_cases
from tests.kit.withdrawals import corrected, named, revisable, with_withdrawals

import inkling

pytestmark = pytest.mark.long

CASES_PER_SEED = 100
SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
def test_changes_eq_corrected_table(seed: int) -> None:
    rng = random.Random(seed)
    n_results = n_changed = 0
    for case in seeded_cases(seed, CASES_PER_SEED, Options(bad_rows=False)):
        plan = bound(named(case.text))
        changes = with_withdrawals(rng, case.rows)
        expected = oracle(plan, corrected(changes), case.tables)
        program = inkling.parse(revisable(case.text))
        found = program.run_local(arrow_streams(program.plan, changes), arrow_tables(plan, case.tables))
        wrong = differences(plan, expected, {name: table.to_pylist() for name, table in found.tables.items()})
        assert not wrong, "\n".join([str(case), str(changes), *wrong])
        assert oracle(program.plan, changes, case.tables) == expected
        n_results += sum(map(len, expected.values()))
        n_changed += oracle(plan, case.rows, case.tables) != expected
    assert n_results > CASES_PER_SEED
    assert n_changed > CASES_PER_SEED // 10, "these withdrawals change too little to tell anything"
