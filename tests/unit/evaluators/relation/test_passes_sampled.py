"""Sampled answers: where the pass over cells gives up, and where left segments overlap."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from tests.kit.lost_lines import overlapping_line, random_line, unbounded
from tests.kit.lost_pairs import (
    chances_by_definition,
    flat,
    lists_of_lines,
    lists_of_pairs,
    random_pairs,
    random_question,
)
from tests.reference.lost.exact.line import Line
from tests.reference.lost.exact.question import Question, asked_of, sharing

from inkling.evaluators.relation.forward import Limits, chances, sampled
from inkling.evaluators.relation.points import PointLists

pytestmark = pytest.mark.slow

LIMITS = Limits(n_samples=4000, error=0.02, seed=3)
TOO_FEW = replace(LIMITS, states=1)


def lists(lines: list[tuple[Line, Line]]) -> tuple[PointLists, PointLists]:
    left, right = lists_of_lines([one for one, _ in lines], [other for _, other in lines])
    return left, right


@pytest.mark.parametrize("rates", [False, True])
def test_samples_are_near_the_probability(*, rates: bool) -> None:
    random = Random(4)
    distances = []
    for _ in range(40):
        question = random_question(random)
        lines = [(random_line(random, most_lost=4), random_line(random, most_lost=4)) for _ in range(4)]
        if rates:
            lines = [(unbounded(random, one), unbounded(random, other)) for one, other in lines]
            lines = [pair for pair in lines if all(_has_room(line) for line in pair)]
        left, right = lists(lines)
        every, asked = np.arange(len(lines)), asked_of(question, 3)
        exact = chances(left, right, every, every, asked, LIMITS).at_least
        found, _ = sampled(left, right, every, every, asked, LIMITS)
        spread = np.sqrt(np.maximum(exact * (1 - exact), 0) / LIMITS.n_samples)
        assert (np.abs(found - exact) <= 4.5 * spread + 1e-9).all(), (question, lines)
        distances += ((found - exact)[spread > 1e-3] / spread[spread > 1e-3]).tolist()
    assert len(distances) > 50
    assert abs(np.mean(distances)) < 4 / np.sqrt(len(distances))
    assert 0.6 < np.std(distances) < 1.5


def _has_room(line: Line) -> bool:
    return all(run.lo is None or run.hi is None or run.lo < run.hi for run in line.runs)


def test_segments_that_follow_each_other_are_counted_like_any_others() -> None:
    random = Random(8)
    for _ in range(60):
        question = random_question(random)
        left, right = lists([(random_line(random), random_line(random)) for _ in range(4)])
        every, asked = np.arange(4), asked_of(question, 3)
        few = replace(LIMITS, n_samples=64)
        in_step, _ = sampled(left, right, every, every, asked, few)
        in_any_order, _ = sampled(left._replace(simple=~left.simple), right, every, every, asked, few)
        assert (in_step == in_any_order).all(), question


def test_pairs_beyond_the_limits_are_sampled() -> None:
    left, right = lists_of_pairs([(flat("0 2 4 6"), flat("1 _ _ 10")), (flat("0 2 4 6"), flat("1 10"))])
    every, asked = np.arange(2), asked_of(sharing(1), 2)
    found = chances(left, right, every, every, asked, TOO_FEW)
    assert found.error.tolist() == [0.02, 0.0]
    assert found.at_least[0, 2] == pytest.approx(19 / 27, abs=0.02)
    assert found.at_least[0, 2] != pytest.approx(19 / 27, abs=1e-9)
    assert found.at_least[1].tolist() == [1, 1, 1]


def test_too_many_operations_are_not_done_either() -> None:
    left, right = lists_of_pairs([(flat(f"0 {'_ ' * 40} 10"), flat(f"4 {'_ ' * 40} 16"))])
    first, asked = np.zeros(1, np.int64), asked_of(sharing(1), 20)
    exact = chances(left, right, first, first, asked, LIMITS)
    assert exact.error[0] == 0
    quick = chances(left, right, first, first, asked, replace(LIMITS, operations=1000))
    assert quick.error[0] == 0.02
    assert np.abs(quick.at_least - exact.at_least).max() < 0.03


def test_left_segments_that_overlap_are_sampled() -> None:
    random = Random(2)
    for _ in range(40):
        question = Question(1, (random.choice(("INTERSECTS", "DURING", "OVERLAPS", "PRECEDES")),), 1)
        line, other = overlapping_line(random), random_line(random)
        left, right = lists([(line, other)])
        first = np.zeros(1, np.int64)
        found = chances(left._replace(simple=np.zeros(1, bool)), right, first, first, asked_of(question, 1), LIMITS)
        (expected,) = chances_by_definition(line, other, [question])
        assert found.error[0] == (0.02 if other.runs else 0)
        assert found.at_least[0, 1] == pytest.approx(float(expected), abs=0.05 if other.runs else 0)


def test_answers_depend_on_seed_and_points_only() -> None:
    pairs = [(pair.left, pair.right) for pair in random_pairs(1, 30)]
    asked = asked_of(sharing(1), 3)
    left, right = lists_of_pairs(pairs)
    every = np.arange(30)
    together, _ = sampled(left, right, every, every, asked, LIMITS)
    backward, _ = sampled(left, right, every[::-1].copy(), every[::-1].copy(), asked, LIMITS)
    assert (together == backward[::-1]).all()
    for place in range(30):
        alone = lists_of_pairs([pairs[place]])
        first = np.zeros(1, np.int64)
        found, _ = sampled(*alone, first, first, asked, LIMITS)
        assert (found[0] == together[place]).all()
    another, _ = sampled(left, right, every, every, asked, replace(LIMITS, seed=4))
    assert (another != together).any()


def test_equal_keys_are_drawn_apart() -> None:
    """Else two keys with the same points would have all their segments in common."""
    all_lost = flat("_ _ _ _", lo=0, hi=1)
    left, right = lists_of_pairs([(all_lost, all_lost)])
    first = np.zeros(1, np.int64)
    found, _ = sampled(left, right, first, first, asked_of(sharing(1), 2), LIMITS)
    assert found[0] == pytest.approx([1, 1 - 3 / 35, 16 / 35], abs=0.03)
