"""Allen's relations as truth tables over four comparisons of the ends of two segments."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from inkling.logical.patterns.allen import INVERSES, RELATIONS

N_CASES = 3**4
"""A case is four signs as digits in base 3: start and end of one segment, each compared with both ends of the other."""

Signs = tuple[int, int, int, int]


def truth_table(relations: tuple[str, ...]) -> NDArray[np.int64]:
    """1 for every case in which one of the relations holds."""
    table = np.zeros(N_CASES, np.int64)
    for signs, related in _cases(relations):
        case = 0
        for sign in signs:
            case = case * 3 + sign + 1
        table[case] = related
    return table


def needed_comparisons(relations: tuple[str, ...]) -> NDArray[np.bool_]:
    """The fewest of the four comparisons that decide the relation."""
    cases = list(_cases(relations))
    for n_needed in range(5):
        for chosen in combinations(range(4), n_needed):
            outcomes = {(tuple(signs[place] for place in chosen), related) for signs, related in cases}
            if len(outcomes) == len({seen for seen, _ in outcomes}):
                return np.isin(np.arange(4), chosen)
    raise AssertionError("four comparisons decide every relation")


def _cases(relations: tuple[str, ...]) -> Iterator[tuple[Signs, bool]]:
    """All relative positions of two segments, points included."""
    for start, end, other_start, other_end in product(range(4), repeat=4):
        if start <= end and other_start <= other_end:
            ends = (start, end, other_start, other_end)
            signs = (
                _sign(start - other_start),
                _sign(start - other_end),
                _sign(end - other_start),
                _sign(end - other_end),
            )
            yield signs, any(_related(name, *ends) for name in relations)


def _sign(difference: int) -> int:
    return (difference > 0) - (difference < 0)


def _related(name: str, start: int, end: int, other_start: int, other_end: int) -> bool:
    if name in INVERSES:
        return RELATIONS[INVERSES[name]](other_start, other_end, start, end)
    return RELATIONS[name](start, end, other_start, other_end)
