"""Which instants each event of a match can take when others must stay out of its gaps, to the tick."""

from __future__ import annotations

from tests.kit.imprecise.case import Range
from tests.kit.imprecise.chain import Chain


def possible_ranges(chain: Chain) -> tuple[Range, ...] | None:
    """Exact if no event has an instant without chance inside its interval.

    A region lets a blocker escape unless the whole interval of that blocker lies in it. So each condition bounds one
    end by a monotone function of another one, and repeating them all leads to the tightest bounds.
    """
    window, count = chain.window, len(chain)
    if window < count:
        return None
    lo = [event.lower for event in chain.events]
    hi = [event.upper for event in chain.events]
    before: list[tuple[int, ...]] = []
    while before != [tuple(lo), tuple(hi)]:
        before = [tuple(lo), tuple(hi)]
        for j in range(1, count):
            lo[j] = max(lo[j], lo[j - 1] + 1)
            hi[j - 1] = min(hi[j - 1], hi[j] - 1)
        lo[0] = max(lo[0], lo[-1] - window + 1)
        hi[-1] = min(hi[-1], hi[0] + window - 1)
        for event, regions in chain.blockers:
            for region in regions:
                _keep_out(event.lower, event.upper, region, lo, hi, window)
        if any(first > last for first, last in zip(lo, hi, strict=True)):
            return None
    return tuple(zip(lo, hi, strict=True))


def _keep_out(lower: int, upper: int, region: int, lo: list[int], hi: list[int], window: int) -> None:
    """Not all of `lower`..`upper` may lie in a region."""
    if region == 0:
        if upper < lo[0]:
            lo[-1] = max(lo[-1], lower + window)
        if lower + window > hi[-1]:
            hi[0] = min(hi[0], upper)
    elif region == len(lo):
        if upper - window < lo[0]:
            lo[-1] = max(lo[-1], lower)
        if lower > hi[-1]:
            hi[0] = min(hi[0], upper - window)
    else:
        if lower > hi[region - 1]:
            hi[region] = min(hi[region], upper)
        if upper < lo[region]:
            lo[region - 1] = max(lo[region - 1], lower)
