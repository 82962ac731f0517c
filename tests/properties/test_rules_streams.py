"""Random rule sets pushed piece by piece: what the definition gives, however the rows are cut and disordered."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

import pytest
from tests.kit.arrival import with_lateness
from tests.kit.comparison import differences
from tests.kit.oracle import oracle
from tests.kit.programs import Case, Options
from tests.kit.rulesets import PackedCase, packed_rule_sets, seeded_rule_sets
from tests.properties.pushing import as_arrived, pushed, pushes_of

import inkling
from inkling.evaluators.stage import member
from inkling.logical.recursion import groups_of

pytestmark = pytest.mark.long

SEEDS = range(2)
LONG_SEEDS = range(2, 6)
PROGRAMS_PER_SEED = 48
PACKED_PER_SEED = 12
EXTENDING_PER_SEED = 16
DATASETS = 4
ARRIVALS_PER_PROGRAM = 3
LATENESS = (0, 2, 5)
IN_ORDER = Options(without=frozenset({"ties with order"}))
KEYS_APART = replace(IN_ORDER, partitioned=True, bad_rows=False)


@pytest.fixture(autouse=True)
def _trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even such small streams are trimmed."""
    monkeypatch.setattr(member, "SPARE_ROWS", 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_pushed_rules_eq_definition(seed: int) -> None:
    n_fruitful = _n_fruitful(random.Random(seed), seeded_rule_sets(seed + 500, PROGRAMS_PER_SEED, IN_ORDER))
    assert n_fruitful > PROGRAMS_PER_SEED // 5


@pytest.mark.parametrize("seed", SEEDS)
def test_pushed_rules_of_many_streams_eq_definition(seed: int) -> None:
    """Many small streams run at once, each under keys of its own: every one of them is a case."""
    n_fruitful = _n_fruitful(random.Random(seed), packed_rule_sets(seed, PACKED_PER_SEED, DATASETS, KEYS_APART))
    assert n_fruitful > PACKED_PER_SEED // 5


@pytest.mark.parametrize("seed", SEEDS)
def test_pushed_rules_that_extend_their_streams_eq_definition(seed: int) -> None:
    cases = seeded_rule_sets(seed + 600, EXTENDING_PER_SEED, IN_ORDER, extending=True)
    assert _n_fruitful(random.Random(seed), cases) > EXTENDING_PER_SEED // 5


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_pushed_rules_eq_definition_at_length(seed: int) -> None:
    test_pushed_rules_eq_definition(seed)


def _n_fruitful(rng: random.Random, cases: Iterable[Case | PackedCase]) -> int:
    """How many programs had results of recursive events, all of them as defined."""
    n_fruitful = 0
    for case in cases:
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
    return n_fruitful


def test_the_number_of_arrivals_is_what_it_says() -> None:
    assert len(SEEDS) * (PROGRAMS_PER_SEED + PACKED_PER_SEED * DATASETS) * ARRIVALS_PER_PROGRAM >= 500
