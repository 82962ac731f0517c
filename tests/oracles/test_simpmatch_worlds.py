"""Single worlds and single orders: the merged sequence, logarithms, three streams."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import comb, log

import pytest
from tests.kit.lost_pairs import flat, worlds_of
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.line import line_of
from tests.reference.lost.order import n_worlds, order_chance
from tests.reference.lost.world import log_world_chance, merged_chance, world_chance


def test_O6_merged_sequences() -> None:
    """Two runs, both wholly on the common part of their windows: every order has the same probability."""
    a, b = flat("0 _ _ 10"), flat("4 _ 12 13")
    merged = merged_chance(2, (Fraction(0), Fraction(10)), 1, (Fraction(4), Fraction(12)))
    assert merged == Fraction(9, 100)
    inside = [
        [(0, 0), (1, 0), *order, (0, 3), (1, 2), (1, 3)]
        for order in ([(0, 1), (0, 2), (1, 1)], [(0, 1), (1, 1), (0, 2)], [(1, 1), (0, 1), (0, 2)])
    ]
    found = [world_chance([a, b], [[point] for point in order]) for order in inside]
    assert found == [merged] * 3
    assert sum(found) == Fraction(6, 10) ** 2 * Fraction(6, 8)
    assert n_worlds([a, b]) == 9
    assert sum(prob for prob, _ in worlds_of(line_of(a), line_of(b))) == 1


def test_O18_three_streams_that_lost_one_event_each() -> None:
    streams = [flat("0 _ 6"), flat("2 _ 8"), flat("4 _ 10")]
    assert order_chance(streams, [(0, 1), (1, 1), (2, 1)]) == Fraction(91, 162)
    assert n_worlds(streams) == 44
    assert sum(order_chance(streams, [(key, 1) for key in order]) for order in permutations(range(3))) == 1


def test_O18_four_streams_are_the_most() -> None:
    one = flat("_", lo=0, hi=1)
    assert order_chance([one] * 4, [(key, 0) for key in range(4)]) == Fraction(1, 24)
    with pytest.raises(ValueError, match="more than 4"):
        order_chance([one] * 5, [])


def test_O27_the_logarithm_of_a_world_that_a_float_cannot_hold() -> None:
    lost = Flat((None,) * 1000, Fraction(0), Fraction(1))
    order = [(key, place) for place in range(1, 1001) for key in (0, 1)]
    both = [[(0, 0), (1, 0)], *([point] for point in order), [(0, 1001), (1, 1001)]]
    found = log_world_chance([lost, lost], both)
    assert found == pytest.approx(-1382.26799354, abs=1e-8)
    assert found == pytest.approx(-log(comb(2000, 1000)), rel=1e-13)


def test_O27_the_logarithm_is_that_of_the_probability() -> None:
    a, b = flat("0 _ _ 10"), flat("4 _ 12 13")
    order = [(0, 0), (0, 1), (1, 0), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]
    world = [[point] for point in order]
    assert log_world_chance([a, b], world) == pytest.approx(log(world_chance([a, b], world)), abs=1e-14)
