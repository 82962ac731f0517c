"""Confidence when each blocker has one region to stay out of: a kernel for each gap, multiplied as matrices."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from tests.kit.imprecise.bounds import four_passes
from tests.kit.imprecise.case import Chance, Range, TimedEvent
from tests.kit.imprecise.chain import Chain

Factor = Callable[[Range], Chance]
Factors = dict[int, list[Factor]]


def covers(chain: Chain) -> bool:
    return all(len(regions) == 1 for _, regions in chain.blockers)


def confidence(chain: Chain, within: Sequence[Range] | None = None) -> Chance:
    """Over instants `within` given ranges, or all of them."""
    factors: Factors = defaultdict(list)
    for event, (region,) in chain.blockers:
        factors[region].append(_escape(event))
    return product(chain, factors, within)


def _escape(event: TimedEvent) -> Factor:
    return lambda region: 1 - event.mass(*region)


def product(chain: Chain, factors: Factors, within: Sequence[Range] | None = None) -> Chance:
    """The sum over all instants of the chances of the events, times the factors of the regions between them."""
    ranges = four_passes(chain.boxes if within is None else within, chain.window)
    if ranges is None:
        return 0
    rows: dict[int, dict[int, Chance]] = {  # by first instant, then by that of the last element
        start: {start: chain.events[0].at(start)} for start in _instants(ranges[0])
    }
    for number in range(1, len(chain)):
        kernel = _kernel(chain, ranges, number, factors.get(number, []))
        rows = {start: _times(row, kernel, start + chain.window - 1) for start, row in rows.items()}
    ends = [(region, factor) for region in (0, len(chain)) for factor in factors.get(region, [])]
    return sum(
        share * math.prod(factor(_outer(chain, region, start, end)) for region, factor in ends)
        for start, row in rows.items()
        for end, share in row.items()
    )


def _outer(chain: Chain, region: int, start: int, end: int) -> Range:
    return (end - chain.window + 1, start - 1) if region == 0 else (end + 1, start + chain.window - 1)


def _kernel(
    chain: Chain, ranges: tuple[Range, ...], number: int, factors: list[Factor]
) -> dict[int, list[tuple[int, Chance]]]:
    """For each instant of the element before, what each instant of this one contributes."""
    event = chain.events[number]
    return {
        before: [
            (instant, event.at(instant) * math.prod(factor((before + 1, instant - 1)) for factor in factors))
            for instant in _instants((max(before + 1, ranges[number][0]), ranges[number][1]))
        ]
        for before in _instants(ranges[number - 1])
    }


def _times(row: dict[int, Chance], kernel: dict[int, list[tuple[int, Chance]]], last: int) -> dict[int, Chance]:
    extended: dict[int, Chance] = defaultdict(int)
    for before, share in row.items():
        for instant, chance in kernel[before]:
            if instant > last:
                break
            if chance:
                extended[instant] += share * chance
    return extended


def _instants(span: Range) -> range:
    return range(span[0], span[1] + 1)
