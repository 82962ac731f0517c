"""Certain lists in place of uncertain ones: many keys at once give what one at a time gives."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
from tests.kit.lost_pairs import flat, lists_of_pairs, random_flat, random_pairs, shifted
from tests.reference.lost.baselines import ignored, ignored_lists, mean_length, n_sharing, static, static_lists
from tests.reference.lost.discrete import masses_of_counts, possibilities_around, sharing_masses
from tests.reference.lost.exact.certain import n_qualifying
from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.question import sharing
from tests.reference.lost.forward import counts
from tests.reference.lost.tree import walk

from inkling.evaluators.relation.points import PointLists


def flats_of(lists: PointLists) -> list[Flat]:
    """The times of every key, of lists that lost nothing."""
    assert not lists.lost.any()
    borders = zip(lists.begins, lists.begins[1:], strict=False)
    return [Flat(tuple(Fraction(int(time)) for time in lists.time[lo:hi])) for lo, hi in borders]


def labels_of(lists: PointLists) -> list[list[int]]:
    return [lists.label[lo:hi].tolist() for lo, hi in zip(lists.segments, lists.segments[1:], strict=False)]


def some_flats(seed: int, count: int) -> list[Flat]:
    """With times so far apart that mean lengths are whole numbers."""
    random = Random(seed)
    flats = []
    for _ in range(count):
        one = random_flat(random, 30, random.choice((0, 0.2, 0.5, 0.9)), most_lost=12, most_segments=6)
        flats.append(shifted(one, times=Fraction(mean_length(one).denominator)))
    return flats


def codes(flat: Flat) -> list[int]:
    return [{None: -1, "a": 0, "b": 1}[label] for label in flat.label_of_each]  # type: ignore[index]


def test_ignoring_lost_points_of_many_keys() -> None:
    flats = some_flats(1, 400)
    lists, _ = lists_of_pairs([(one, one) for one in flats])
    found = ignored_lists(lists)
    expected = [ignored(one) for one in flats]
    assert [one.times for one in flats_of(found)] == [one.times for one in expected]
    assert labels_of(found) == [codes(one) for one in expected]


def test_putting_lost_points_of_many_keys_where_they_are_on_average() -> None:
    flats = some_flats(2, 400)
    lists, _ = lists_of_pairs([(one, one) for one in flats])
    found = static_lists(lists)
    expected = [static(one) for one in flats]
    assert [one.times for one in flats_of(found)] == [one.times for one in expected]
    assert labels_of(found) == [codes(one) for one in expected]


def test_counting_shared_segments_of_many_pairs() -> None:
    pairs = [(pair.left, pair.right) for pair in random_pairs(3, 300)]
    for certain, certain_lists in ((ignored, ignored_lists), (static, static_lists)):
        whole = [tuple(shifted(one, times=Fraction(5 * 4 * 3)) for one in pair) for pair in pairs]
        left, right = lists_of_pairs(whole)  # type: ignore[arg-type]
        numbers = np.arange(len(pairs))
        found = n_sharing(certain_lists(left), certain_lists(right), numbers, numbers[::-1])
        expected = [
            n_qualifying(certain(one), certain(other), sharing(1))
            for (one, _), (_, other) in zip(whole, reversed(whole), strict=True)
        ]
        assert found.tolist() == expected
        assert max(expected) > 1


def test_without_loss_nothing_changes() -> None:
    whole = flat("0 2 4 6", labels=("x", "y"))
    assert ignored(whole) == static(whole) == whole


def test_segments_that_lost_both_ends_stay_lost() -> None:
    assert static(flat("0 3 _ _ 8 9", labels=("x", "y", "z"))) == flat("0 3 8 9", labels=("x", "z"))


def test_neighbors_become_one_segment() -> None:
    assert ignored(flat("0 _ _ 9", labels=("x", "y"))) == flat("0 9", labels=("x",))


def test_keys_of_which_nothing_was_recorded() -> None:
    lost = flat("_ _", lo=0, hi=9)
    assert ignored(lost) == static(lost) == flat("")
    lists, _ = lists_of_pairs([(lost, lost), (flat(""), lost)])
    for certain in (ignored_lists(lists), static_lists(lists)):
        assert certain.begins.tolist() == [0, 0, 0]
        assert n_sharing(certain, certain, np.array([0]), np.array([1])).tolist() == [0]


def test_without_loss_every_method_tells_the_truth() -> None:
    """Certain lists, the forward pass, the tree of worlds and discrete times, one pair at a time and many at once."""
    pairs = [(pair.left, pair.right) for pair in random_pairs(9, 200, most_lost=0)]
    truth = [n_qualifying(one, other, sharing(1)) for one, other in pairs]
    for (one, other), expected in zip(pairs, truth, strict=True):
        certain = tuple(Fraction(count == expected) for count in range(one.n_segments + 1))
        assert counts(one, other, sharing(1)) == certain
        assert masses_of_counts(one, other, sharing(1), ({}, {})) == certain
        assert walk(one, other, sharing(expected)).chance == 1
        assert walk(one, other, sharing(expected + 1)).chance == 0
        for method in (ignored, static):
            assert n_qualifying(method(one), method(other), sharing(1)) == expected
    left, right = lists_of_pairs(pairs)
    numbers = np.arange(len(pairs))
    for lists_method in (ignored_lists, static_lists):
        assert n_sharing(lists_method(left), lists_method(right), numbers, numbers).tolist() == truth
    nothing = possibilities_around(left, left.time, 3, 1), possibilities_around(right, right.time, 3, 1)
    masses = sharing_masses(left, right, numbers, numbers, nothing, 3)
    assert masses.tolist() == [[float(count == expected) for count in range(4)] for expected in truth]
    assert len(set(truth)) == 4
