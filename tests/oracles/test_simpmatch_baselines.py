"""What SimpMatch was compared with: ends left out or put where they are on average, and times from finite sets."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.kit.lost_pairs import flat
from tests.reference.lost.baselines import ignored, static
from tests.reference.lost.discrete import counted_chance, masses_of_counts, normalized, ordered_chance, tree_mass
from tests.reference.lost.exact.question import sharing

F = Fraction


@pytest.mark.parametrize(
    ("recorded", "without_lost", "with_means"),
    [
        ("0 _ 4 12 20 _", "0 12", "0 4 4 12 20 28"),
        ("_ 5 9 _ 12 15", "9 15", "2 5 9 12 12 15"),
        ("0 _ _ _ 7 9", "0 9", "0 2 7 9"),
        ("0 _ _ 10", "0 10", "0 10/3 20/3 10"),
    ],
)
def test_O24_ignore_and_static(recorded: str, without_lost: str, with_means: str) -> None:
    assert ignored(flat(recorded)).times == flat(without_lost).times
    assert static(flat(recorded)).times == flat(with_means).times


def test_O25_one_lost_event() -> None:
    possible = [[F(time) for time in range(11)]]
    assert ordered_chance(possible, F(3), F(5)) == F(3, 11)
    assert counted_chance(possible, F(3), F(5)) == F(3, 11)


@pytest.mark.parametrize(("strict", "expected"), [(False, F(5, 8)), (True, F(6, 16))])
def test_O25_two_lost_events(strict: bool, expected: Fraction) -> None:
    possible = [[F(time) for time in (1, 2, 3, 4)]] * 2
    assert ordered_chance(possible, F(0), F(5), strict=strict) == expected
    assert counted_chance(possible, F(0), F(5), strict=strict) == expected


@pytest.mark.parametrize(("per_unit", "expected"), [(1, F(2, 3)), (2, F(35, 51)), (10, F(187, 267))])
def test_O25_a_finer_grid_comes_nearer_to_continuous_time(per_unit: int, expected: Fraction) -> None:
    a, b = flat("0 2 4 6"), flat("1 _ _ 10")
    grid = [1 + F(2 * step + 1, 2 * per_unit) for step in range(9 * per_unit)]
    choices = ({}, {1: grid, 2: grid})
    masses = masses_of_counts(a, b, sharing(2), choices, strict=True)
    assert normalized(masses)[2] == expected == 1 - F(24 * per_unit, 81 * per_unit - 9)
    yes, all_worlds = (tree_mass(a, b, sharing(k), choices, strict=True) for k in (2, 0))
    assert yes == masses[2]
    assert yes / all_worlds == expected


def test_O25_worlds_that_break_the_order_have_no_mass() -> None:
    """On the grid of one point per unit, 36 of the 81 choices of two times are in order."""
    a, b = flat("0 2 4 6"), flat("1 _ _ 10")
    grid = [F(2 * step + 3, 2) for step in range(9)]
    masses = masses_of_counts(a, b, sharing(2), ({}, {1: grid, 2: grid}), strict=True)
    assert sum(masses) == F(36, 81)
    assert sum(normalized(masses)) == 1
