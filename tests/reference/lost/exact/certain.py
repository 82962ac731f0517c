"""Questions about two keys that lost nothing, answered as they are asked."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from tests.reference.lost.exact.flat import Flat
from tests.reference.lost.exact.question import Question

from inkling.logical.patterns.allen import INVERSES, RELATIONS

Segment: TypeAlias = tuple[int, int, object]
"""Start and end, as places among the times of both keys, and label."""


def n_qualifying(left: Flat, right: Flat, question: Question) -> int:
    """How many left segments are related to enough right ones; segments of one key may touch each other."""
    times = sorted({*left.recorded, *right.recorded})
    return sum(_qualifies(one, _segments(right, times), question) for one in _segments(left, times))


def answer(left: Flat, right: Flat, question: Question) -> bool:
    return question.holds(n_qualifying(left, right, question), left.n_segments)


def _segments(flat: Flat, times: list[Fraction]) -> list[Segment]:
    ends = [times.index(time) for time in flat.recorded]
    if len(ends) < len(flat.times):
        raise ValueError("some points were lost")
    return list(zip(ends[::2], ends[1::2], flat.label_of_each, strict=True))


def _qualifies(one: Segment, others: list[Segment], question: Question) -> bool:
    *_, label = one
    comparable = [other for other in others if question.same is None or (label is not None and label == other[2])]
    related = [other for other in comparable if any(_holds(name, one, other) for name in question.relations)]
    return question.qualifies(len(related), len(comparable))


def _holds(name: str, one: Segment, other: Segment) -> bool:
    if name in INVERSES:
        return _holds(INVERSES[name], other, one)
    return RELATIONS[name](one[0], one[1], other[0], other[1])
