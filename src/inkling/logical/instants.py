"""Where things start and end among simultaneous ones: by `ORDER BY` when there is one, in no order otherwise.

An instant without a place starts before and ends after everything simultaneous. So `end < start` says "lies
wholly before" for any two things: at equal times it holds only when both have a place, in that order.

>>> _, first_end = ends_of(5, 5, place=1)
>>> second_start, _ = ends_of(5, 5, place=2)
>>> first_end < second_start
True
>>> start, end = ends_of(5, 5)
>>> end < start or first_end < start or end < second_start
False
"""

from __future__ import annotations

from inkling.model.time import Instant

UNORDERED = 2**62
"""Larger than any place that `ORDER BY` gives."""

BEGINNING = Instant(-UNORDERED, -UNORDERED)


def ends_of(start: int, end: int, *, place: int | None = None) -> tuple[Instant, Instant]:
    """Start and end of something on `[start, end]`, at its place among simultaneous events or at none."""
    if place is None:
        return Instant(start, -UNORDERED), Instant(end, UNORDERED)
    return Instant(start, place), Instant(end, place)


def listed_at(instant: Instant) -> tuple[int, int]:
    """Where an instant stands in listings, which need some order even where the meaning has none."""
    return (instant.time, 0 if abs(instant.place) == UNORDERED else instant.place)
