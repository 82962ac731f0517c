"""Random programs are well formed, small, varied and the same for the same seed."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from tests.kit import programs
from tests.kit.coverage import FEATURES, Coverage, program_features
from tests.kit.oracle import bound, oracle
from tests.kit.programs import Case, Options, cases, random_case, random_program, seeded_cases
from tests.kit.streams import is_packable, pack
from tests.kit.universe import Declared, Kind

from inkling.errors import InklingError

pytestmark = pytest.mark.slow

COVERED = Coverage()


@pytest.mark.long
def test_every_feature_is_hit() -> None:
    """Results for a fair share of the programs: one that never matches tests little."""
    for case in seeded_cases(2, 350):
        COVERED.add(case.plan, case.rows, case.expected())
    assert [feature for feature in FEATURES if not COVERED.used[feature]] == [], COVERED.report()
    assert COVERED.fruitful["head"] > 0.25 * COVERED.used["head"], COVERED.report()
    assert len(COVERED.missing()) < 10, COVERED.report()


def test_most_programs_bind() -> None:
    rng = random.Random(3)
    streams = [Declared(name, Kind.ORDERED, True, "seq") for name in "VW"]
    rejected = 0
    for _ in range(50):
        try:
            bound(random_program(rng, streams))
        except InklingError:
            rejected += 1
    assert rejected < 10


def test_the_same_seed_gives_the_same_cases() -> None:
    assert [str(case) for case in seeded_cases(5, 5)] == [str(case) for case in seeded_cases(5, 5)]


def test_features_can_be_asked_for_and_rejected() -> None:
    options = Options(
        kinds=(Kind.ORDERED,), needing=frozenset({"COMPLEMENT"}), without=frozenset({"OR", "AND"}), partitioned=True
    )
    found = program_features(random_case(random.Random(6), options).plan)
    assert "COMPLEMENT" in found
    assert not found & {"OR", "AND", "stream of intervals"}


def test_what_cannot_be_found_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MOST_TRIES", 3)
    nothing = Options(needing=frozenset({"SEQ ANY"}), without=frozenset({"SEQ ANY"}))
    with pytest.raises(ValueError, match="no program with"):
        random_case(random.Random(7), nothing)


@settings(max_examples=15, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_hypothesis_draws_them_too(case: Case) -> None:
    results = case.expected()
    assert set(results) == {event.name for event in case.plan.events}


def test_packed_streams_keep_their_results_under_their_own_keys() -> None:
    options = Options(partitioned=True, kinds=(Kind.POINTS,), without=frozenset({"row numbers as ids"}))
    rng = random.Random(8)
    case = next(case for case in iter(lambda: random_case(rng, options), None) if is_packable(case.plan))
    packed = pack([case.rows, case.rows])
    assert {row["k"] for some in packed.values() for row in some if row["k"]} <= {
        f"{number:06d}:{key}" for number in (0, 1) for key in "pq"
    }
    results = oracle(case.plan, packed, case.tables)
    for name, expected in case.expected().items():
        for number in (0, 1):
            mine = [one for one in results[name] if str(one.lineage[0]).startswith(f"{number:06d}:")]
            plain = sorted(tuple(str(one).split(":")[1] for one in result.lineage) for result in mine)
            assert plain == sorted(tuple(str(one) for one in result.lineage) for result in expected)
