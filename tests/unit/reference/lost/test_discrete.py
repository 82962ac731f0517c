"""Finite sets of possible times: sweep, tree of worlds and trying all choices agree, for one pair and for many."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from tests.kit.lost_pairs import Pair, flat, lists_of_pairs, random_pairs, random_question
from tests.reference.lost.discrete import (
    Choices,
    Possibilities,
    around,
    counted_chance,
    masses_of_counts,
    normalized,
    ordered_chance,
    possibilities_around,
    sharing_masses,
    tree_mass,
)
from tests.reference.lost.exact.question import sharing

from inkling.evaluators.relation.points import PointLists

pytestmark = pytest.mark.slow


def some_times(random: Random) -> list[Fraction]:
    return sorted(Fraction(time) for time in random.sample(range(-1, 12), random.randint(1, 9)))


def some_choices(random: Random, pair: Pair) -> tuple[Choices, Choices]:
    left, right = (
        {place: some_times(random) for place, time in enumerate(one.times) if time is None}
        for one in (pair.left, pair.right)
    )
    return left, right


@pytest.mark.parametrize("strict", [False, True])
def test_trying_all_choices(strict: bool) -> None:
    random = Random(5)
    n_between = 0
    for _ in range(200):
        possible = [some_times(random) for _ in range(random.randint(0, 3))]
        lo, hi = Fraction(random.randint(-2, 4)), Fraction(random.randint(5, 12))
        found = ordered_chance(possible, lo, hi, strict=strict)
        assert found == counted_chance(possible, lo, hi, strict=strict)
        n_between += 0 < found < 1
    assert n_between > 50


@pytest.mark.parametrize("strict", [False, True])
def test_sweep_eq_tree(strict: bool) -> None:
    random = Random(6)
    n_between = 0
    for pair in random_pairs(6, 300):
        choices, question = some_choices(random, pair), random_question(random)
        masses = masses_of_counts(pair.left, pair.right, question, choices, strict=strict)
        yes = [mass for count, mass in enumerate(masses) if question.holds(count, pair.left.n_segments)]
        assert sum(yes) == tree_mass(pair.left, pair.right, question, choices, strict=strict), str(pair)
        n_between += 0 < sum(yes) < sum(masses)
    assert n_between > 10


def columns_of(pairs: list[Pair], choices: list[tuple[Choices, Choices]]) -> tuple[Possibilities, Possibilities]:
    """Of all points of both sides, where bounds are points too."""
    found = []
    for side in (0, 1):
        sizes: list[int] = []
        times: list[int] = []
        for pair, some in zip(pairs, choices, strict=True):
            one = (pair.left, pair.right)[side]
            each = [some[side].get(place, []) for place in range(len(one.times))]
            each = [*([[]] if one.loses_its_head else []), *each, *([[]] if one.loses_its_tail else [])]
            sizes += [len(possible) for possible in each]
            times += [int(time) for possible in each for time in possible]
        found.append(Possibilities(np.cumsum([0, *sizes]), np.array(times, np.int64)))
    return found[0], found[1]


@pytest.mark.long
@pytest.mark.parametrize("strict", [False, True])
def test_many_pairs_at_once(strict: bool) -> None:
    random = Random(7)
    pairs = list(random_pairs(7, 250, most_segments=4))
    choices = [some_choices(random, pair) for pair in pairs]
    left, right = lists_of_pairs([(pair.left, pair.right) for pair in pairs])
    numbers = np.arange(len(pairs))
    most = 2
    found = sharing_masses(left, right, numbers, numbers, columns_of(pairs, choices), most, strict=strict)
    n_between = 0
    for pair, some, masses in zip(pairs, choices, found, strict=True):
        exact = [float(mass) for mass in masses_of_counts(pair.left, pair.right, sharing(1), some, strict=strict)]
        expected = [*exact[:most], sum(exact[most:])] + [0.0] * max(0, most + 1 - len(exact))
        assert masses.tolist() == pytest.approx(expected[: most + 1], abs=1e-12), str(pair)
        n_between += sum(0 < mass < 1 for mass in exact) > 1
    assert n_between > 40


def test_possible_times_around_the_truth() -> None:
    lists, _ = lists_of_pairs([(flat("0 _ _ 10"), flat(""))])
    found = possibilities_around(lists, np.array([0, 3, 7, 10]), 2, 5)
    assert found.begins.tolist() == [0, 0, 5, 10, 10]
    assert found.times.tolist() == [-7, -2, 3, 8, 13, -3, 2, 7, 12, 17]
    assert around(Fraction(3), 2) == [1, 2, 3, 4, 5]


def sharing_at(truth: list[int], lists: PointLists, other: PointLists, delta: int) -> list[float]:
    none = possibilities_around(other, other.time, delta, 1)
    possible = none, possibilities_around(lists, np.array(truth), delta, 1)
    return sharing_masses(other, lists, np.array([0]), np.array([0]), possible, 2)[0].tolist()


def test_a_set_of_one_time_is_certain() -> None:
    left, right = lists_of_pairs([(flat("0 2 4 6"), flat("1 _ _ 10"))])
    assert sharing_at([1, 3, 5, 10], right, left, 0) == [0, 0, 1]
    assert sharing_at([1, 3, 8, 10], right, left, 0) == [0, 1, 0]


def test_masses_are_shared_out() -> None:
    assert normalized([Fraction(1, 8), Fraction(1, 4)]) == (Fraction(1, 3), Fraction(2, 3))
    assert normalized([Fraction(0)]) == (Fraction(0),)


def test_erlang_gaps_have_no_discrete_times() -> None:
    with pytest.raises(ValueError, match="Erlang"):
        masses_of_counts(flat("0 1"), flat("0 _", hi=3, shape=2), sharing(1), ({}, {1: [Fraction(1)]}))
