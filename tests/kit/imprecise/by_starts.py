"""Confidence without blockers: the chances of increasing instants, once for each instant of the first event."""

from __future__ import annotations

from tests.kit.imprecise.bounds import four_passes
from tests.kit.imprecise.case import Chance
from tests.kit.imprecise.chain import Chain


def confidence(chain: Chain) -> Chance:
    ranges = four_passes(chain.boxes, chain.window)
    if ranges is None:
        return 0
    densities, window = [event.at for event in chain.events], chain.window
    answer: Chance = 0
    for start in range(ranges[0][0], ranges[0][1] + 1):
        last = start + window - 1
        reached = {start: densities[0](start)}
        for density, (lower, upper) in zip(densities[1:], ranges[1:], strict=True):
            extended: dict[int, Chance] = {}
            before: Chance = 0
            for instant in range(min(reached, default=last), min(upper, last) + 1):
                if before and instant >= lower:
                    extended[instant] = before * density(instant)
                before += reached.get(instant, 0)
            reached = extended
        answer += sum(reached.values())
    return answer
