"""The tree of worlds: budget, floats, cache, and what pruning may not change."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.kit.lost_pairs import flat
from tests.reference.lost.exact.question import Question, sharing
from tests.reference.lost.tree import WorldBudgetExceeded, walk
from tests.reference.lost.world import world_chance

LEFT, RIGHT = flat("0 _ _ 6 8 11"), flat("1 3 _ _ _ 12")


def test_a_tree_that_is_too_large_is_not_walked() -> None:
    whole = walk(LEFT, RIGHT, sharing(2), reject=False, accept=False)
    assert walk(LEFT, RIGHT, sharing(2), reject=False, accept=False, budget=whole.n_nodes) == whole
    with pytest.raises(WorldBudgetExceeded, match=f"more than {whole.n_nodes - 1} nodes"):
        walk(LEFT, RIGHT, sharing(2), reject=False, accept=False, budget=whole.n_nodes - 1)


def test_floats_are_near() -> None:
    found = walk(LEFT, RIGHT, sharing(2), number=float)
    assert isinstance(found.chance, float)
    assert found.chance == pytest.approx(46835 / 52488, abs=1e-14)


def test_without_loss_there_is_one_world() -> None:
    found = walk(flat("0 4 6 8"), flat("4 6"), sharing(2), reject=False, accept=False)
    assert (found.chance, found.n_worlds, found.n_nodes, found.n_cached) == (1, 1, 4, 0)


def test_small_numbers_are_soon_certain() -> None:
    """Pruning saves the most where the answer is known after a few points."""
    sizes = [walk(LEFT, RIGHT, sharing(k)).n_nodes for k in (0, 1, 2, 3)]
    whole = walk(LEFT, RIGHT, sharing(1), reject=False, accept=False)
    assert sizes[0] == 1
    assert sizes[0] < sizes[1] < sizes[2] < whole.n_nodes
    assert walk(LEFT, RIGHT, sharing(4)).n_nodes == 0


def test_a_factor_is_computed_once_for_a_cell_and_a_number() -> None:
    """B loses one point in each of two cells, in any of four ways: two cells, with one or no point in each."""
    left, right = flat("0 2 4 6"), flat("1 _ 3 _ 5 7")
    found = walk(left, right, sharing(0), reject=False, accept=False)
    assert found.n_worlds == 4
    assert found.n_cached == 2


def test_hopeless_where_the_right_key_is_over() -> None:
    """Once B is over and apart from the open segment of A, nothing can qualify any more."""
    left, right = flat("5 _ _ 9"), flat("1 2")
    cut = walk(left, right, sharing(1), accept=False)
    whole = walk(left, right, sharing(1), reject=False, accept=False)
    assert cut.chance == whole.chance == 0
    assert cut.n_nodes < whole.n_nodes


@pytest.mark.parametrize("relations", [("PRECEDES",), ("PRECEDES", "MEETS"), ("PRECEDED_BY", "OVERLAPS")])
def test_pruning_knows_that_right_segments_to_come_are_later(relations: tuple[str, ...]) -> None:
    for right in (None, 1, 2):
        question = Question(2, relations, right)
        whole = walk(LEFT, RIGHT, question, reject=False, accept=False)
        assert walk(LEFT, RIGHT, question).chance == whole.chance


@pytest.mark.parametrize(
    "world",
    [
        [[(0, 0)], [(1, 0)], [(0, 1)], [(1, 1)]],
        [[(0, 0)], [(0, 2)], [(0, 1)], [(0, 3)]],
        [[(0, 0)], [(0, 1), (0, 2)], [(0, 3)]],
        [[(0, 0)], [(0, 3)]],
        [[(0, 0)], [(0, 1)], [(0, 2)]],
    ],
)
def test_what_is_no_world(world: list[list[tuple[int, int]]]) -> None:
    with pytest.raises((ValueError, IndexError)):
        world_chance([flat("0 _ _ 9")], world)


def test_recorded_points_come_in_their_order() -> None:
    pair = [flat("0 2"), flat("1 3")]
    assert world_chance(pair, [[(0, 0)], [(1, 0)], [(0, 1)], [(1, 1)]]) == Fraction(1)
    with pytest.raises(ValueError, match="1 comes after 2"):
        world_chance(pair, [[(0, 0)], [(0, 1)], [(1, 0)], [(1, 1)]])
