"""Which instants each event of a match can take, from the ends of its interval alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from tests.kit.imprecise.case import Range


def four_passes(boxes: Sequence[Range], window: int, *, lower_side: bool = True) -> tuple[Range, ...] | None:
    """The instants of each event over all matches of the order and the window alone; nothing if there is no match.

    Without `lower_side` these are the three passes of the paper, which leave instants in that are too
    early for the window.
    """
    if window < len(boxes):
        return None
    lo = [lower for lower, _ in boxes]
    hi = [upper for _, upper in boxes]
    for number in range(1, len(boxes)):
        lo[number] = max(lo[number], lo[number - 1] + 1)
    _press_down(hi)
    if hi[-1] > hi[0] + window - 1:
        hi[-1] = hi[0] + window - 1
        _press_down(hi)
    if any(first > last for first, last in zip(lo, hi, strict=True)):
        return None
    if lower_side and lo[-1] - window + 1 > lo[0]:
        lo[0] = lo[-1] - window + 1
        for number in range(1, len(boxes)):
            lo[number] = max(lo[number], lo[number - 1] + 1)
    return tuple(zip(lo, hi, strict=True))


def _press_down(hi: list[int]) -> None:
    for number in reversed(range(len(hi) - 1)):
        hi[number] = min(hi[number], hi[number + 1] - 1)


def with_gaps(boxes: Mapping[int, Range], length: int, window: int) -> dict[int, Range] | None:
    """The same when only some of `length` elements are known: an instant is set aside for each one between them."""
    known = sorted(boxes)
    first, last = known[0], known[-1]
    span = window - 1 - first - (length - 1 - last)
    if window < length:
        return None
    lo = {number: boxes[number][0] for number in known}
    hi = {number: boxes[number][1] for number in known}
    pairs = list(pairwise(known))
    for again in (False, True):
        if again:
            lo[first] = max(lo[first], lo[last] - span)
            hi[last] = min(hi[last], hi[first] + span)
        for before, after in pairs:
            lo[after] = max(lo[after], lo[before] + after - before)
        for before, after in reversed(pairs):
            hi[before] = min(hi[before], hi[after] - (after - before))
    if any(lo[number] > hi[number] for number in known):
        return None
    return {number: (lo[number], hi[number]) for number in known}
