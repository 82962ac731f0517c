"""SimpMatch: a tree of worlds, each a path on which the next point of one key or of the other is appended.

A path closes a cell when it reaches a recorded point, and its probability is multiplied by what the lost points since
the recorded one before contribute. Branches that can no longer answer yes are cut, and those that can no longer answer
no are weighed as a whole. The number of worlds grows exponentially: this is for tests, and to tell small cases in full.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import NamedTuple

from tests.reference.lost.exact.flat import Flat, require_segments
from tests.reference.lost.exact.judging import Judging, Rank
from tests.reference.lost.exact.line import Line, line_of
from tests.reference.lost.exact.question import Question
from tests.reference.lost.exact.weighing import Even, Number, Placed, ToNumber, Weighing

from inkling.evaluators.relation.points import CLOSES, OPENS

BUDGET = 1_000_000


class WorldBudgetExceeded(Exception):  # noqa: N818
    """The tree of worlds has more nodes than allowed."""

    def __init__(self, budget: int) -> None:
        super().__init__(f"the tree of worlds has more than {budget} nodes")
        self.budget = budget


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk over the tree found, and how large the tree was."""

    chance: Number
    n_nodes: int
    n_worlds: int  # paths that were walked to their end
    n_cached: int  # factors of cells that were known already


def walk(
    left: Flat,
    right: Flat,
    question: Question,
    *,
    reject: bool = True,
    accept: bool = True,
    number: ToNumber = Fraction,
    budget: int = BUDGET,
    weighing: Weighing | None = None,
) -> Walk:
    """The probability that the answer is yes; `number` is `Fraction` or `float`."""
    require_segments(left, right)
    lines = line_of(left), line_of(right)
    even = Even(lines, number)
    if weighing is not None and accept:
        raise ValueError("only evenly spread points can be weighed as a whole")
    tree = _Tree(lines, question, weighing or even, even if accept else None, reject, number(Fraction(0)), budget)
    chance = tree.expand(_Node(0, 0, (), None, 0, None), (weighing or even).start)
    return Walk(chance, tree.n_nodes, tree.n_worlds, even.n_cached)


class _Node(NamedTuple):
    """A path: how far it is, what was lost since its last recorded point, and what it says about the question."""

    left: int
    right: int
    lost: tuple[Placed, ...]
    time: Fraction | None  # of its last recorded point
    n_qualifying: int
    opened: Rank | None  # where the open left segment starts


class _Tree:
    def __init__(
        self,
        lines: tuple[Line, Line],
        question: Question,
        weighing: Weighing,
        whole: Even | None,
        reject: bool,
        nothing: Number,
        budget: int,
    ) -> None:
        self._left, self._right = lines
        self._question, self._weighing, self._whole = question, weighing, whole
        self._reject, self._nothing, self._budget = reject, nothing, budget
        self._judging = Judging(question, [span.label for span in self._right.spans])
        self._n_closed = _prefix_counts(self._left, CLOSES)
        n_opened, n_closed = _prefix_counts(self._right, OPENS), _prefix_counts(self._right, CLOSES)
        self._rank = [opened + closed for opened, closed in zip(n_opened, n_closed, strict=True)]
        self._next_left, self._next_right = _next_recorded(self._left), _next_recorded(self._right)
        self.n_nodes = self.n_worlds = 0

    def expand(self, node: _Node, chance: Number) -> Number:
        if node.left == len(self._left.points) and node.right == len(self._right.points):
            self.n_worlds += 1
            return chance if self._question.holds(node.n_qualifying, len(self._left.spans)) else self._nothing
        return self._follow_left(node, chance) + self._follow_right(node, chance)

    def _follow_left(self, node: _Node, chance: Number) -> Number:
        if node.left == len(self._left.points):
            return self._nothing
        time, other = self._left.points[node.left].time, self._next_right[node.right]
        if time is None:
            lost = (*node.lost, Placed(0, node.left))
            return self._append(self._with_left(node, node.right)._replace(lost=lost), chance)
        if time < other:
            return self._append(self._with_left(node, node.right), chance, time)
        if time == other and self._right.points[node.right].time is not None:
            return self._append(self._with_left(node, node.right + 1), chance, time)
        return self._nothing

    def _follow_right(self, node: _Node, chance: Number) -> Number:
        if node.right == len(self._right.points):
            return self._nothing
        time, other = self._right.points[node.right].time, self._next_left[node.left]
        farther = node._replace(right=node.right + 1)
        if time is None:
            return self._append(farther._replace(lost=(*node.lost, Placed(1, node.right))), chance)
        return self._append(farther, chance, time) if time < other else self._nothing

    def _with_left(self, node: _Node, through: int) -> _Node:
        """The next left point has come, and with it all right ones before `through`."""
        now = self._rank[node.right], self._rank[through]
        n_qualifying, opened = node.n_qualifying, node.opened
        turn = self._left.points[node.left].turn
        if turn == OPENS:
            opened = now
        elif turn == CLOSES:
            assert opened is not None
            n_qualifying += self._judging.qualifies(self._label(node), opened, now)
            opened = None
        return node._replace(left=node.left + 1, right=through, n_qualifying=n_qualifying, opened=opened)

    def _append(self, node: _Node, chance: Number, time: Fraction | None = None) -> Number:
        """Continues after a point; a recorded one, which has a time, closes a cell."""
        if self._reject and self._is_hopeless(node):
            return self._nothing
        self.n_nodes += 1
        if self.n_nodes > self._budget:
            raise WorldBudgetExceeded(self._budget)
        if time is None:
            return self.expand(node, chance)
        if node.lost:
            assert node.time is not None
            chance = chance * self._weighing.cell(node.time, time, node.lost)
        if self._whole is not None and self._is_sure(node):
            return chance * self._whole.rest(time, (node.left, node.right))
        return self.expand(node._replace(lost=(), time=time), chance)

    def _is_hopeless(self, node: _Node) -> bool:
        failing = self._verdicts(node) == {False}
        n_closed, least = self._n_closed[node.left], self._question.left
        if least is None:
            return node.n_qualifying < n_closed or failing
        return node.n_qualifying + len(self._left.spans) - n_closed - failing < least

    def _is_sure(self, node: _Node) -> bool:
        least = len(self._left.spans) if self._question.left is None else self._question.left
        return node.n_qualifying + (self._verdicts(node) == {True}) >= least

    def _verdicts(self, node: _Node) -> frozenset[bool]:
        if node.opened is None:
            return frozenset()
        return self._judging.verdicts(self._label(node), node.opened, self._rank[node.right])

    def _label(self, node: _Node) -> object:
        """Of the left segment that is open."""
        return self._left.spans[self._n_closed[node.left]].label


def _prefix_counts(line: Line, turn: int) -> list[int]:
    """How many of the first 0, 1, … points take that turn."""
    return [sum(point.turn == turn for point in line.points[:n]) for n in range(len(line.points) + 1)]


def _next_recorded(line: Line) -> list[Fraction | float]:
    """From each place on: the first time that is known, or infinity."""
    times = [point.time for point in line.points]
    return [next((time for time in times[place:] if time is not None), inf) for place in range(len(times) + 1)]
