"""Numbers of related segments from the places of two ends alone: every case of up to four right segments."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest
from tests.reference.lost.exact.question import BASIC, COMPOSITES, INVERSE
from tests.reference.lost.exact.ranks import NUMBER_RELATED, Ranks, n_related

from inkling.logical.patterns.allen import relation_holds
from inkling.model.time import Instant

Ends = tuple[int, int]


def moments(n_ends: int) -> list[Ends]:
    """Between right ends, which lie at 2, 4, …, and at them: how many come before, and up to it."""
    return [(place, through) for place in range(n_ends + 1) for through in (place, place + 1) if through <= n_ends]


def time_of(moment: Ends) -> int:
    before, through = moment
    return 2 * through if through > before else 2 * before + 1


def cases(n_right: int) -> list[tuple[Ranks, int, int]]:
    """Ranks of the ends of every left segment, and their times; two ends between the same right ones may differ."""
    found = []
    for start, end in combinations_with_replacement(moments(2 * n_right), 2):
        if time_of(start) < time_of(end) or (start == end and start[0] == start[1]):
            found.append((Ranks(*start, *end), 3 * time_of(start), 3 * time_of(end) + (start == end)))
    return found


def holds(name: str, start: int, end: int, right: int) -> bool:
    """For right segments at 6 … 12, 18 … 24 and so on: three times as far apart, so that two ends fit between."""
    ends = (start, end, 6 * (2 * right + 1), 6 * (2 * right + 2))
    return relation_holds(name, *(Instant(end) for end in ends))


@pytest.mark.parametrize("n_right", range(5))
def test_closed_forms_are_what_counting_gives(n_right: int) -> None:
    for ranks, start, end in cases(n_right):
        for name, number in NUMBER_RELATED.items():
            expected = sum(holds(name, start, end, right) for right in range(n_right))
            assert number(ranks, n_right) == expected, f"{name} {ranks}"


def test_there_are_as_many_cases_as_ways_to_lie() -> None:
    """Of two ends among n points, with ties: as many as pairs of places, the same place twice only between points."""
    n_moments = [len(moments(2 * n_right)) for n_right in range(5)]
    assert n_moments == [1, 5, 9, 13, 17]
    assert [len(cases(n_right)) for n_right in range(5)] == [
        n * (n - 1) // 2 + 2 * n_right + 1 for n_right, n in enumerate(n_moments)
    ]


@pytest.mark.parametrize("n_right", range(5))
def test_every_right_segment_is_in_one_relation(n_right: int) -> None:
    for ranks, _, _ in cases(n_right):
        assert sum(n_related([name], ranks, n_right) for name in BASIC) == n_right
        assert n_related(BASIC, ranks, n_right) == n_right
        touching = n_right - n_related(["PRECEDES", "PRECEDED_BY"], ranks, n_right)
        assert n_related(COMPOSITES["INTERSECTS"], ranks, n_right) == touching


def test_inverse_is_an_involution() -> None:
    assert {INVERSE[INVERSE[name]] for name in BASIC} == set(BASIC)
    assert all(INVERSE[INVERSE[name]] == name for name in BASIC)
    assert [name for name in BASIC if INVERSE[name] == name] == ["EQUALS"]
