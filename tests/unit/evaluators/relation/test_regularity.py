"""Arrivals as by a clock are noticed, arrivals by chance are not."""

import numpy as np
import pytest
from tests.kit.lost_workloads import LAWS, lost, pairs

from inkling.evaluators.relation.regularity import Regularity, regularity, regularity_note

VARIATION = {"exponential": 1.0, "lognormal": np.e - 1, "gamma 0.3": 1 / 0.3, "gamma 4": 0.25, "near periodic": 0.01}


def measured(law: str, *, n_keys: int = 200, share: float = 0.3, seed: int = 0) -> Regularity:
    points = pairs(n_keys, gaps=law, seed=seed)[0]
    kept = np.random.default_rng(seed).permutation(np.flatnonzero(~lost(points, share, seed=seed)))
    found = regularity(points.key[kept], points.number[kept], points.time[kept])
    assert found is not None
    return found


@pytest.mark.parametrize("law", LAWS)
def test_the_variation_of_gaps_is_found_between_losses(law: str) -> None:
    found = measured(law)
    assert found.variation == pytest.approx(VARIATION[law], rel=0.2)
    assert found.variation < found.upper


@pytest.mark.parametrize("law", LAWS)
def test_only_clearly_regular_arrivals_are_worth_a_note(law: str) -> None:
    note = regularity_note("Congestion", measured(law, n_keys=10), n_lost=7)
    if law in ("gamma 4", "near periodic"):
        assert note is not None
        assert "`Congestion`" in note
        assert ("`GAPS ERLANG 20`" if law == "near periodic" else "`GAPS ERLANG") in note
    else:
        assert note is None


def test_chance_raises_no_false_alarm() -> None:
    assert all(regularity_note("S", measured("exponential", n_keys=4, seed=seed), 1) is None for seed in range(100))


def test_keys_that_differ_in_pace_are_no_sign_of_chance() -> None:
    pace = np.repeat([1, 10, 1000, 50_000], 40)
    number = np.tile(np.arange(40), 4)
    found = regularity(np.repeat(np.arange(4), 40), number, number * pace)
    assert found is not None
    assert found.variation == pytest.approx(0, abs=1e-9)


def test_gaps_that_are_declared_to_be_regular_are_as_declared() -> None:
    found = measured("gamma 4")
    assert found.shape == 4
    assert regularity_note("S", found, 7) is not None
    assert regularity_note("S", found, 7, shape=4) is None
    assert regularity_note("S", measured("near periodic"), 7, shape=4) is not None


def test_nothing_is_said_where_nothing_was_lost_or_little_is_known() -> None:
    assert regularity_note("S", measured("near periodic"), n_lost=0) is None
    few = np.arange(30)
    assert regularity(few * 0, few, few) is None
    assert regularity(few * 0, 2 * few, few) is None
    assert regularity_note("S", None, 7) is None


def test_losses_in_between_do_not_count_as_gaps() -> None:
    number = np.array([n for n in range(1, 101) if n % 5])
    found = regularity(number * 0, number, number * 7)
    assert found is not None
    assert (found.n_gaps, found.variation) == (60, 0.0)
