"""Many recursive rule sets as one program: in batch, pushed, and with rows that come late and are withdrawn."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest
from tests.kit.arrival import with_lateness
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import same_results
from tests.kit.many_rules import many_rules
from tests.kit.programs import Case
from tests.kit.seeds import for_long
from tests.kit.streams import pack, random_rows, random_tables
from tests.kit.universe import Declared, Kind
from tests.properties.pushing import pushed, pushes_of
from tests.properties.revised import Tally, revised_at_random, small_streams_are_trimmed_too, tried

import inkling
from inkling.query import Program

pytestmark = pytest.mark.long

RULE_SETS_IN_CI = 16
RULE_SETS_AT_LENGTH = 84
SEEDS = for_long(range(61))
DATASETS = 2
LATENESS = 3
WORLDS = {
    "points": [Declared("A", Kind.POINTS, True, "seq", ""), Declared("B", Kind.POINTS, True, "seq", "x - PREV(x)")],
    "intervals": [Declared(name, Kind.INTERVALS, True, "seq", "") for name in "LM"],
    "mixed": [Declared("L", Kind.INTERVALS, True, "seq", ""), Declared("A", Kind.POINTS, True, "seq", "")],
    "ordered": [Declared("V", Kind.ORDERED, True, "seq", "SINCE_CHANGE(s)")],
}


@pytest.fixture(autouse=True)
def _trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    small_streams_are_trimmed_too(monkeypatch)


@pytest.mark.parametrize("seed", SEEDS, scope="module")
def test_many_rules_eq_definition(seed: int) -> None:
    rng, (case, program) = random.Random(f"pushed {seed}"), _case(seed)
    expected = case.expected()
    assert sum(map(bool, expected.values())) > RULE_SETS_IN_CI // 2
    found = program.run_local(arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables)).tables
    same_results(case.plan, expected, {name: table.to_pylist() for name, table in found.items()})
    program = inkling.parse(with_lateness(case.text, LATENESS))
    same_results(case.plan, expected, pushed(rng, program, case, pushes_of(rng, case, LATENESS)))


@pytest.mark.parametrize("seed", SEEDS, scope="module")
def test_many_rules_that_are_revised_eq_definition(seed: int) -> None:
    rng, (case, _), tally = random.Random(f"revised {seed}"), _case(seed), Tally()
    tried(rng, revised_at_random(rng, case.text, case.plan, [case.rows]), 1, tally)
    assert tally.n_checks


@lru_cache(maxsize=1)
def _case(seed: int) -> tuple[Case, Program]:
    """The rule sets of a seed and their program, made once for the tests of one seed, which follow each other."""
    rng = random.Random(f"many rules {seed}")
    streams = WORLDS[sorted(WORLDS)[seed % len(WORLDS)]]
    many = many_rules(rng, streams, RULE_SETS_AT_LENGTH if seed else RULE_SETS_IN_CI)
    rows = many.rows(pack([random_rows(rng, streams, n_events=4, bad_rows=False) for _ in range(DATASETS)]))
    return Case(many.program.text, many.program.plan, rows, random_tables(rng)), many.program


def test_the_number_of_rule_sets_is_what_it_says() -> None:
    assert 60 * RULE_SETS_AT_LENGTH >= 5000  # seeds 1 to 60 of `make test-long`
