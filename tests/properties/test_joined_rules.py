"""Recursive events derived moment by moment: what the definition gives, in batch and however the rows are pushed."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from tests.kit.arrival import with_lateness
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.joined_rules import seeded_joined_rules
from tests.kit.oracle import bound, oracle
from tests.kit.programs import Case
from tests.kit.rows import points
from tests.kit.seeds import at_length
from tests.properties.pushing import pushed, pushes_of

import inkling
from inkling.evaluators.stage import member
from inkling.evaluators.stage.least_model import LeastModel, ModelOutcome

PROGRAMS_PER_SEED = 25
LONG_SEEDS = at_length(range(1, 201))
LATENESS = (0, 2, 5)


@dataclass
class Derivations:
    """How often the compiled derivation was asked, and how often it answered."""

    n_asked: int = 0
    n_answered: int = 0


@pytest.fixture
def derivations(monkeypatch: pytest.MonkeyPatch) -> Derivations:
    counted = Derivations()
    derived = LeastModel.derived

    def noted(*args: object, **named: object) -> ModelOutcome | None:
        found = derived(*args, **named)  # type: ignore[arg-type]
        counted.n_asked += 1
        counted.n_answered += found is not None
        return found

    monkeypatch.setattr(LeastModel, "derived", noted)
    monkeypatch.setattr(member, "SPARE_ROWS", 0)  # even such small streams are trimmed
    return counted


def test_joined_rules_eq_definition(derivations: Derivations) -> None:
    _check(0)
    assert derivations.n_asked == derivations.n_answered > PROGRAMS_PER_SEED


@pytest.mark.long
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_joined_rules_eq_definition_at_length(seed: int, derivations: Derivations) -> None:
    _check(seed)


MUTUAL = """
STREAM A(id STRING, t INT) ID id TIME t;
STREAM B(id STRING, t INT) ID id TIME t;
STREAM C(id STRING, t INT) ID id TIME t;
EVENT q AS PATTERN C c EXCEPT B b PER INTERVAL;
EVENT q AS PATTERN SEQ(r p, B b) PER INTERVAL;
EVENT r AS PATTERN A a EXCEPT B b PER INTERVAL;
EVENT r AS PATTERN SEQ(q p, B b) PER INTERVAL;
"""


def test_a_recursion_that_begins_with_nothing_in_one_of_its_events() -> None:
    """Results of a base without results come before those of another."""
    plan = bound(MUTUAL)
    case = Case(MUTUAL, plan, {"C": [], **points("a1 a2 b3 b4")}, {})
    expected = oracle(plan, case.rows)
    assert len(expected["q"]) == 4, "each A and each B"
    _same(case, expected, in_batch(case))
    pieces = [arrow_streams(plan, points(event)) for event in ("a1", "a2", "b3", "b4")]
    _same(case, expected, pushed(random.Random(0), inkling.parse(MUTUAL), case, pieces))


def _check(seed: int) -> None:
    rng = random.Random(seed)
    n_fruitful = 0
    for case in seeded_joined_rules(seed, PROGRAMS_PER_SEED):
        expected = case.expected()
        n_fruitful += any(expected.values())
        _same(case, expected, in_batch(case))
        lateness = rng.choice(LATENESS)
        program = inkling.parse(with_lateness(case.text, lateness))
        _same(case, expected, pushed(rng, program, case, pushes_of(rng, case, lateness)))
    assert n_fruitful > PROGRAMS_PER_SEED // 2


def in_batch(case: Case) -> dict[str, list[dict[str, object]]]:
    tables = (
        inkling.parse(case.text)
        .run_local(arrow_streams(case.plan, case.rows), arrow_tables(case.plan, case.tables))
        .tables
    )
    return {name: table.to_pylist() for name, table in tables.items()}


def _same(case: Case, expected: object, found: dict[str, list[dict[str, object]]]) -> None:
    wrong = differences(case.plan, expected, found)  # type: ignore[arg-type]
    assert not wrong, "\n".join([str(case), *wrong])
