"""How a question about two keys continues when the next point of either is known to have come."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from tests.reference.lost.exact.line import Line, Span
from tests.reference.lost.exact.question import Question

from inkling.evaluators.segments.relations import truth_table


class Among(NamedTuple):
    """Where a moment lies among the points of a key: how many come before it, and how many before or at it."""

    before: int
    through: int

    def sign(self, point: int) -> int:
        """0 if the point comes later, 1 if it comes at the moment, 2 if it came before."""
        return (point < self.through) + (point < self.before)


class State(NamedTuple):
    """How many points of both have come, how many left segments qualified, and where the open one began."""

    left: int
    right: int
    n_qualifying: int
    opened: Among | None


START = State(0, 0, 0, None)


class Stepping:
    """Two keys and a question. Left segments are judged by the moment at which they close."""

    def __init__(self, left: Line, right: Line, question: Question) -> None:
        self.left, self.right, self.question = left, right, question
        self._opening = {span.opening: span for span in left.spans}
        self._closing = {span.closing: span for span in left.spans}
        self._judged: dict[tuple[Span, Among, Among], bool] = {}

    @cached_property
    def _table(self) -> list[int]:
        return [int(one) for one in truth_table(self.question.relations)]

    def left_step(self, state: State) -> State:
        """The next left point comes, where no right one does."""
        return self._left_points(state, [state.left], Among(state.right, state.right))

    def right_step(self, state: State) -> State:
        return state._replace(right=state.right + 1)

    def together(self, state: State, lefts: list[int], rights: list[int]) -> State:
        """The next points of both come at one moment."""
        assert lefts[:1] in ([], [state.left])
        assert rights[:1] in ([], [state.right])
        now = Among(state.right, state.right + len(rights))
        return self._left_points(state, lefts, now)._replace(right=now.through)

    def qualifies(self, span: Span, start: Among, end: Among) -> bool:
        """Whether enough right segments are related to one from `start` to `end`."""
        case = (span, start, end)
        if case not in self._judged:
            others = [other for other in self.right.spans if self._is_comparable(span, other)]
            related = [other for other in others if self._table[_case(start, end, other)]]
            self._judged[case] = self.question.qualifies(len(related), len(others))
        return self._judged[case]

    def _is_comparable(self, span: Span, other: Span) -> bool:
        return self.question.same is None or (span.label is not None and span.label == other.label)

    def _left_points(self, state: State, points: list[int], now: Among) -> State:
        n_qualifying, opened = state.n_qualifying, state.opened
        for point in points:
            if point in self._opening:
                opened = now
            elif point in self._closing:
                assert opened is not None
                n_qualifying += self.qualifies(self._closing[point], opened, now)
                opened = None
        return State(state.left + len(points), state.right, n_qualifying, opened)


def _case(start: Among, end: Among, other: Span) -> int:
    """The place in a table of relations, see `truth_table`."""
    signs = (start.sign(other.opening), start.sign(other.closing), end.sign(other.opening), end.sign(other.closing))
    case = 0
    for sign in signs:
        case = case * 3 + sign
    return case
