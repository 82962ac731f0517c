"""Pairs counted piece by piece are those of the whole."""

import random

import numpy as np
import pytest
from inkling.examples.generators.randomness import Booleans, Integers
from inkling.examples.stocks.scenario import RisePairs
from inkling.examples.supply_chain.scenario import ClosePairs, Happenings


def happenings(times: list[int], who: list[int]) -> Happenings:
    return Happenings(np.array(times, np.int64), np.array(who, np.int64))


def is_less(one: Integers, other: Integers) -> Booleans:
    return one < other


@pytest.mark.parametrize("together", [False, True])
def test_close_pairs(together: bool) -> None:
    rng = random.Random(3)
    n_found = 0
    for _ in range(300):
        within = rng.randrange(4)
        pairs = ClosePairs(within, is_less, together=together)
        kinds = [[(t, rng.randrange(3)) for t in range(12) for _ in range(rng.choice([0, 0, 1, 2]))] for _ in "ab"]
        for border in (range(4), range(4, 5), range(5, 12)):
            parts = [[one for one in some if one[0] in border] for some in kinds]
            pairs.add(*(happenings([t for t, _ in part], [who for _, who in part]) for part in parts))
        wanted = sum(
            (t < u or (together and t == u)) and u - t <= within and one < other
            for t, one in kinds[0]
            for u, other in kinds[1]
        )
        assert pairs.count == wanted
        n_found += wanted
    assert n_found > 500


def test_rises_of_two_symbols() -> None:
    """Rises last 10; those of the second symbol begin 3 later in each period."""
    rng = random.Random(4)
    totals = dict.fromkeys(("both_rise", "rise_together", "rises_alone"), 0)
    for _ in range(200):
        within = rng.choice([20, 37, 40, 60])
        rises = [[(at, at + 10) for at in range(first, 200, 10) if rng.random() < 0.3] for first in (0, 3)]
        pairs = RisePairs(10, within)
        for border in (range(50), range(50, 60), range(60, 999)):
            ends = [[end for _, end in some if end in border] for some in rises]
            pairs.add(*(np.array(some, np.int64) for some in ends))
        first, second = rises
        wanted = {
            "both_rise": sum(max(e, f) - min(s, r) <= within for s, e in first for r, f in second),
            "rise_together": sum(max(s, r) < min(e, f) for s, e in first for r, f in second),
            "rises_alone": sum(
                e < r and f - s <= within and not any(e < a and b < r for a, b in second)
                for s, e in first
                for r, f in first
            ),
        }
        assert pairs.counts == wanted
        totals = {event: count + wanted[event] for event, count in totals.items()}
    assert min(totals.values()) > 300
