"""The fastest of the exact ways to the ranges and the confidence of a candidate."""

from __future__ import annotations

from tests.kit.imprecise import blocks, formula, matrices, signed
from tests.kit.imprecise.case import Outcome
from tests.kit.imprecise.chain import Chain
from tests.kit.imprecise.fixpoint import possible_ranges

MOST_SIGNED = 64


def weigh(chain: Chain, _points: object = None) -> Outcome | None:
    """Bounds tell which instants are possible; where an instant inside an interval is not, only points tell."""
    ranges = possible_ranges(chain)
    if ranges is None:
        return None
    if not chain.full_support:
        return formula.weighed(chain)
    chain = chain.reduced(ranges)
    if not chain.blockers:
        return Outcome(ranges, blocks.confidence(chain, ranges))
    if matrices.covers(chain):
        return Outcome(ranges, matrices.confidence(chain, ranges))
    if signed.n_terms(chain) <= MOST_SIGNED:
        return Outcome(ranges, signed.confidence(chain, ranges))
    return formula.weighed(chain)
