"""Every order in which two keys without ties can open and close their segments, as patterns to be listed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tests.reference.lost.exact.judging import Judging
from tests.reference.lost.exact.question import Question


def interleavings(n_left: int, n_right: int) -> Iterator[str]:
    """`AABB`, `ABAB`, …: A where the left key opens or closes a segment, B where the right one does."""
    length = 2 * (n_left + n_right)
    for places in combinations(range(length), 2 * n_left):
        yield "".join("A" if place in places else "B" for place in range(length))


def n_qualifying(order: str, question: Question) -> int:
    """How many left segments qualify if ends come in this order."""
    judging = Judging(question, [None] * (order.count("B") // 2))
    ranks = [order[:place].count("B") for place, key in enumerate(order) if key == "A"]
    return sum(
        judging.qualifies(None, (start, start), (end, end)) for start, end in zip(ranks[::2], ranks[1::2], strict=True)
    )


def patterns(n_left: int, n_right: int, question: Question) -> list[str]:
    """The orders in which the answer is yes."""
    orders = interleavings(n_left, n_right)
    return [order for order in orders if question.holds(n_qualifying(order, question), n_left)]
