"""The tree of worlds of SimpMatch: its size, what pruning saves, and the product that the paper takes by mistake."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial

from tests.kit.lost_pairs import flat
from tests.reference.lost.exact.line import line_of
from tests.reference.lost.exact.question import sharing
from tests.reference.lost.exact.weighing import Placed
from tests.reference.lost.tree import walk
from tests.reference.lost.world import world_chance

A, B = flat("0 2 4 6"), flat("1 _ _ 10")


def test_O1_nodes_of_the_tree() -> None:
    whole = walk(A, B, sharing(2), reject=False, accept=False)
    assert (whole.n_nodes, whole.n_worlds, whole.chance) == (45, 10, Fraction(19, 27))
    cut = walk(A, B, sharing(2), accept=False)
    assert (cut.n_nodes, cut.n_worlds, cut.chance) == (39, 8, Fraction(19, 27))
    short = walk(A, B, sharing(2))
    assert short.n_nodes < cut.n_nodes
    assert short.chance == Fraction(19, 27)


def test_O1_two_worlds_share_a_cell_and_a_number_of_lost_points() -> None:
    assert walk(A, B, sharing(2), reject=False, accept=False).n_cached > 0


WORLDS = {
    "a1 b1 b2 b3 a2 a3 a4 b4": "1/81",
    "a1 b1 b2 a2 b3 a3 a4 b4": "4/81",
    "a1 b1 b2 a2 a3 b3 a4 b4": "4/81",
    "a1 b1 b2 a2 a3 a4 b3 b4": "8/81",
    "a1 b1 a2 b2 b3 a3 a4 b4": "4/81",
    "a1 b1 a2 b2 a3 b3 a4 b4": "8/81",
    "a1 b1 a2 b2 a3 a4 b3 b4": "16/81",
    "a1 b1 a2 a3 b2 b3 a4 b4": "4/81",
    "a1 b1 a2 a3 b2 a4 b3 b4": "16/81",
    "a1 b1 a2 a3 a4 b2 b3 b4": "16/81",
}


def world(text: str) -> list[list[tuple[int, int]]]:
    """`a1 b1 …`, one point after the other."""
    return [[("ab".index(word[0]), int(word[1:]) - 1)] for word in text.split()]


def test_O1_probabilities_of_the_ten_worlds() -> None:
    found = {text: world_chance([A, B], world(text)) for text in WORLDS}
    assert found == {text: Fraction(value) for text, value in WORLDS.items()}
    assert sum(found.values()) == 1


class ProductPerCell:
    """The mistake: each cell is taken for a run of its own, as if runs that are split were independent."""

    def __init__(self, lengths: tuple[Fraction, Fraction]) -> None:
        self._lengths = lengths

    @property
    def start(self) -> Fraction:
        return Fraction(1)

    def cell(self, lo: Fraction, hi: Fraction, lost: Sequence[Placed]) -> Fraction:
        found = (hi - lo) ** len(lost) / factorial(len(lost))
        for line, length in enumerate(self._lengths):
            n_lost = sum(placed.line == line for placed in lost)
            found *= Fraction(factorial(n_lost)) / length**n_lost
        return found


def test_O3_a_product_over_cells_is_wrong_where_a_run_is_split() -> None:
    """This test would fail for the mistake: its numbers are those that it gives."""
    (run,) = line_of(B).runs
    assert run.lo is not None
    assert run.hi is not None
    mistaken = ProductPerCell((Fraction(1), run.hi - run.lo))
    total = walk(A, B, sharing(0), reject=False, accept=False, weighing=mistaken)
    assert total.chance == Fraction(53, 81)
    assert walk(A, B, sharing(2), accept=False, weighing=mistaken).chance == Fraction(41, 81)
    assert walk(A, B, sharing(0), reject=False, accept=False).chance == 1
    assert walk(A, B, sharing(2), accept=False).chance == Fraction(19, 27)
    w1 = mistaken.cell(Fraction(2), Fraction(4), [Placed(1, 1)]) * mistaken.cell(
        Fraction(4), Fraction(6), [Placed(1, 2)]
    )
    assert w1 == Fraction(4, 81)
    assert world_chance([A, B], world("a1 b1 a2 b2 a3 b3 a4 b4")) == Fraction(8, 81)
