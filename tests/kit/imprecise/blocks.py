"""Confidence without blockers: starts are cut into blocks no longer than the window, and each block is done at once.

Of a match that starts in block p..q, some events happen up to q, and these are inside the window in any case; only the
last one of those after q must be compared with it. How many happen up to q is a question with one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from tests.kit.imprecise.bounds import four_passes
from tests.kit.imprecise.case import Chance, Range
from tests.kit.imprecise.chain import Chain


def confidence(chain: Chain, within: Sequence[Range] | None = None) -> Chance:
    """Over instants `within` given ranges, or all of them."""
    ranges = four_passes(chain.boxes if within is None else within, chain.window)
    if ranges is None:
        return 0
    (first, _), (_, last) = ranges[0], ranges[-1]
    dense = [
        [event.at(instant) if lo <= instant <= hi else 0 for instant in range(first, last + 1)]
        for event, (lo, hi) in zip(chain.events, ranges, strict=True)
    ]
    n_starts = ranges[0][1] - first + 1
    return sum(
        _block(dense, start, min(start + chain.window, n_starts), chain.window)
        for start in range(0, n_starts, chain.window)
    )


def _block(dense: list[list[Chance]], start: int, stop: int, window: int) -> Chance:
    """The share of matches whose first instant is `start` or later, and before `stop`."""
    count, end = len(dense), len(dense[0])
    answer: Chance = 0
    for n_inside in range(1, count + 1):
        inside = _ending_inside(dense[:n_inside], start, stop)
        outside = _starting_outside(dense[n_inside:], stop, end)
        for offset, share in enumerate(inside):
            if share:
                reach = min(start + offset + window, end) - stop
                answer += share * (1 if n_inside == count else outside[reach] if reach > 0 else 0)
    return answer


def _ending_inside(dense: list[list[Chance]], start: int, stop: int) -> list[Chance]:
    """For each first instant of a block, the chance that all of these events follow inside of it."""
    chances = dense[-1][start:stop]
    for one in reversed(dense[:-1]):
        later = [*reversed([0, *accumulate(reversed(chances[1:]))])]
        chances = [here * after for here, after in zip(one[start:stop], later, strict=True)]
    return chances


def _starting_outside(dense: list[list[Chance]], stop: int, end: int) -> list[Chance]:
    """For each number of instants after a block, the chance that all of these events follow each other within them."""
    if not dense:
        return []
    chances = dense[0][stop:end]
    for one in dense[1:]:
        earlier = [0, *accumulate(chances[:-1])] if chances else []
        chances = [here * before for here, before in zip(one[stop:end], earlier, strict=True)]
    return [0, *accumulate(chances)]
