"""Confidence when blockers have several regions to stay out of: a signed sum over the regions they may fall into.

One minus the masses of the regions is a sum of terms with one region each, and every term is a product over the gaps.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import product

from tests.kit.imprecise import matrices
from tests.kit.imprecise.case import Chance, Range, TimedEvent
from tests.kit.imprecise.chain import Chain


def n_terms(chain: Chain) -> int:
    return math.prod(1 + len(regions) for _, regions in chain.blockers if len(regions) > 1)


def confidence(chain: Chain, within: Sequence[Range] | None = None) -> Chance:
    single = [(event, regions[0]) for event, regions in chain.blockers if len(regions) == 1]
    several = [(event, regions) for event, regions in chain.blockers if len(regions) > 1]
    answer: Chance = 0
    for chosen in product(*((None, *regions) for _, regions in several)):
        factors: matrices.Factors = defaultdict(list)
        for event, region in single:
            factors[region].append(_outside(event))
        for (event, _), fallen in zip(several, chosen, strict=True):
            if fallen is not None:
                factors[fallen].append(_inside(event))
        sign = -1 if sum(fallen is not None for fallen in chosen) % 2 else 1
        answer += sign * matrices.product(chain, factors, within)
    return answer


def _outside(event: TimedEvent) -> matrices.Factor:
    return lambda region: 1 - event.mass(*region)


def _inside(event: TimedEvent) -> matrices.Factor:
    return lambda region: event.mass(*region)
