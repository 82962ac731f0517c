"""Allen's relations between two intervals, as formulas over their endpoints; points are allowed.

The relations are those of Allen, "Maintaining knowledge about temporal intervals" (1983). Simultaneous events are
ordered by `ORDER BY`; events without it are unordered: they start before and end after everything simultaneous. So
`end < start` means "lies wholly before" for any two events: at equal times it holds only if both are ordered so.

>>> _, first_end = ends_of(5, 5, place=1)
>>> second_start, _ = ends_of(5, 5, place=2)
>>> first_end < second_start
True
>>> start, end = ends_of(5, 5)
>>> end < start or first_end < start or end < second_start
False
"""

from collections.abc import Callable

from inkling.model.time import UNORDERED, Instant

Endpoints = Callable[[int, int, int, int], bool]

RELATIONS: dict[str, Endpoints] = {
    "PRECEDES": lambda s1, e1, s2, e2: e1 < s2,
    "MEETS": lambda s1, e1, s2, e2: e1 == s2,
    "OVERLAPS": lambda s1, e1, s2, e2: s1 < s2 < e1 < e2,
    "STARTS": lambda s1, e1, s2, e2: s1 == s2 and e1 < e2,
    "DURING": lambda s1, e1, s2, e2: s2 < s1 and e1 < e2,
    "FINISHES": lambda s1, e1, s2, e2: s2 < s1 and e1 == e2,
    "EQUALS": lambda s1, e1, s2, e2: s1 == s2 and e1 == e2,
    "INTERSECTS": lambda s1, e1, s2, e2: s1 <= e2 and s2 <= e1,
    "STARTS_BEFORE": lambda s1, e1, s2, e2: s1 < s2,
    "ENDS_AFTER": lambda s1, e1, s2, e2: e1 > e2,
}

INVERSES = {
    "PRECEDED_BY": "PRECEDES",
    "MET_BY": "MEETS",
    "OVERLAPPED_BY": "OVERLAPS",
    "STARTED_BY": "STARTS",
    "CONTAINS": "DURING",
    "FINISHED_BY": "FINISHES",
}


ENDED_BY = frozenset(
    {
        "PRECEDED_BY",
        "MET_BY",
        "OVERLAPPED_BY",
        "STARTED_BY",
        "CONTAINS",
        "FINISHES",
        "FINISHED_BY",
        "EQUALS",
        "ENDS_AFTER",
    }
)
"""Relations whose right side never ends after the left side."""


def relation_holds(name: str, start1: Instant, end1: Instant, start2: Instant, end2: Instant) -> bool:
    """Whether `[start1, end1]` stands in the named relation to `[start2, end2]`."""
    if name in INVERSES:
        return RELATIONS[INVERSES[name]](start2.time, end2.time, start1.time, end1.time)
    return RELATIONS[name](start1.time, end1.time, start2.time, end2.time)


def overlaps_strictly(start1: Instant, end1: Instant, start2: Instant, end2: Instant) -> bool:
    """`PAR`: the intervals share more than an endpoint, or one is a point strictly inside the other."""
    return max(start1.time, start2.time) < min(end1.time, end2.time) or (
        (start1.time == end1.time and start2.time < start1.time < end2.time)
        or (start2.time == end2.time and start1.time < start2.time < end1.time)
    )


BEGINNING = Instant(-UNORDERED, -UNORDERED)


def ends_of(start: int, end: int, *, place: int | None = None) -> tuple[Instant, Instant]:
    """Start and end of the interval `[start, end]`, at a position among simultaneous events or unordered."""
    if place is None:
        return Instant(start, -UNORDERED), Instant(end, UNORDERED)
    return Instant(start, place), Instant(end, place)
