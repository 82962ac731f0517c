"""How many right segments are related to a left one, from where its ends lie among the right points alone.

Right segments follow each other, so the number of right points before each end of the left segment, and of those
before or at it, says everything. Points are counted from 1 here: odd ones open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from tests.reference.lost.exact.question import COMPOSITES


class Ranks(NamedTuple):
    """Right points before the start of the left segment, up to its start, before its end, up to its end."""

    s_lt: int
    s_le: int
    e_lt: int
    e_le: int


def _meets(r: Ranks, _: int) -> bool:
    return _end_ties(r) and _is_odd(r.e_le)


def _met_by(r: Ranks, _: int) -> bool:
    return _start_ties(r) and not _is_odd(r.s_le)


def _starts(r: Ranks, _: int) -> bool:
    return _starts_together(r) and r.e_le == r.s_le


def _started_by(r: Ranks, _: int) -> bool:
    return _starts_together(r) and r.e_lt >= r.s_le + 1


def _equals(r: Ranks, _: int) -> bool:
    return _starts_together(r) and r.e_lt == r.s_le and r.e_le == r.s_le + 1


def _finishes(r: Ranks, _: int) -> bool:
    return _ends_together(r) and r.s_le == r.s_lt == r.e_le - 1


def _finished_by(r: Ranks, _: int) -> bool:
    return _ends_together(r) and r.e_le - 1 > r.s_le


def _start_ties(r: Ranks) -> bool:
    return r.s_le == r.s_lt + 1


def _end_ties(r: Ranks) -> bool:
    return r.e_le == r.e_lt + 1


def _starts_together(r: Ranks) -> bool:
    return _start_ties(r) and _is_odd(r.s_le)


def _ends_together(r: Ranks) -> bool:
    return _end_ties(r) and not _is_odd(r.e_le)


def _is_odd(number: int) -> bool:
    return number % 2 == 1


NUMBER_RELATED: dict[str, Callable[[Ranks, int], int]] = {
    "INTERSECTS": lambda r, n: (r.e_le + 1) // 2 - r.s_lt // 2,
    "PRECEDES": lambda r, n: n - (r.e_le + 1) // 2,
    "PRECEDED_BY": lambda r, n: r.s_lt // 2,
    "CONTAINS": lambda r, n: max(0, r.e_lt // 2 - (r.s_le + 1) // 2),
    "DURING": lambda r, n: _is_odd(r.s_lt) and r.e_le == r.s_lt,
    "OVERLAPS": lambda r, n: _is_odd(r.e_lt) and r.e_le == r.e_lt > r.s_le,
    "OVERLAPPED_BY": lambda r, n: _is_odd(r.s_lt) and r.s_le == r.s_lt < r.e_lt,
    "MEETS": _meets,
    "MET_BY": _met_by,
    "STARTS": _starts,
    "STARTED_BY": _started_by,
    "EQUALS": _equals,
    "FINISHES": _finishes,
    "FINISHED_BY": _finished_by,
}
"""Of each relation: how many of `n` right segments stand in it."""


def n_related(relations: Collection[str], ranks: Ranks, n_right: int) -> int:
    """For a set of the 13 relations, of which one holds for each right segment."""
    if set(relations) == set(COMPOSITES["INTERSECTS"]):
        return NUMBER_RELATED["INTERSECTS"](ranks, n_right)
    return sum(int(NUMBER_RELATED[name](ranks, n_right)) for name in relations)
