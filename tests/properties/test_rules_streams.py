"""Random rule sets pushed piece by piece: what the definition gives, however the rows are cut and disordered."""

from __future__ import annotations

import random

import pytest
from tests.properties.pushing import as_arrived, pushed, pushes_of

import inkling
from inkling.evaluators.consumption import carry as consumption
from inkling.evaluators.windows import carry as windows
from inkling.logical.recursion import groups_of
from inkling.testing.arrival import with_lateness
from inkling.testing.comparison import differences
from inkling.testing.oracle import oracle
from inkling.testing.programs import Options
from inkling.testing.rulesets import seeded_rule_sets

SEEDS = range(4)
PROGRAMS_PER_SEED = 48
ARRIVALS_PER_PROGRAM = 3
LATENESS = (0, 2, 5)
IN_ORDER = Options(without=frozenset({"ties with order"}))


@pytest.mark.parametrize("seed", SEEDS)
def test_pushed_rules_eq_definition(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumption, "SPARE_ROWS", 0)  # so that such small streams are trimmed, too
    monkeypatch.setattr(windows, "SPARE_ROWS", 0)
    rng = random.Random(seed)
    n_arrivals = n_fruitful = 0
    for case in seeded_rule_sets(seed + 500, PROGRAMS_PER_SEED, IN_ORDER):
        lateness = rng.choice(LATENESS)
        program = inkling.parse(with_lateness(case.text, lateness))
        has_ids = all(stream.schema.id is not None for stream in case.plan.streams)
        recursive = {name for group in groups_of(case.plan) if group.is_recursive for name in group.names}
        expected = case.expected()
        n_fruitful += any(expected[name] for name in recursive)
        for _ in range(ARRIVALS_PER_PROGRAM):
            pushes = pushes_of(rng, case, lateness)
            wanted = expected if has_ids else oracle(case.plan, as_arrived(case.plan, pushes), case.tables)
            wrong = differences(case.plan, wanted, pushed(rng, program, case, pushes))
            shown = [str({name: part.to_pylist() for name, part in push.items()}) for push in pushes]
            assert not wrong, "\n".join([f"{lateness=}", str(case), *shown, *wrong])
            n_arrivals += 1
    assert n_arrivals == PROGRAMS_PER_SEED * ARRIVALS_PER_PROGRAM
    assert n_fruitful > PROGRAMS_PER_SEED // 5


def test_the_number_of_arrivals_is_what_it_says() -> None:
    assert len(SEEDS) * PROGRAMS_PER_SEED * ARRIVALS_PER_PROGRAM >= 500
