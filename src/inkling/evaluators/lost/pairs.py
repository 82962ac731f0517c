"""Which keys are compared: all that agree in what the event demands to be equal, a portion at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inkling.evaluators.hashes import Hashes
from inkling.model.batch import Ints

PAIRS_AT_ONCE = 1 << 18

ANSWERS_AT_ONCE = 1 << 21
"""A pair has one for each number of segments up to the largest that is asked for."""


def pairs_of(
    left: Hashes, right: Hashes, chosen: Ints | None = None, *, apart: bool, at_once: int = PAIRS_AT_ONCE
) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of keys with equal hashes, in the order of the left ones, or of `chosen` ones of them.

    With `apart`, no key with itself.
    """
    keys = np.arange(len(left)) if chosen is None else chosen
    left = left[keys]
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, side="left")
    n_partners = np.searchsorted(right[order], left, side="right") - first
    until = np.cumsum(n_partners)
    begin = 0
    while begin < len(left):
        done = until[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(until, done + at_once, side="right")))
        ones = np.repeat(np.arange(begin, end), n_partners[begin:end])
        place = np.arange(len(ones)) - np.repeat(until[begin:end] - n_partners[begin:end] - done, n_partners[begin:end])
        others = order[first[ones] + place]
        ones = keys[ones]
        if apart:
            differs = ones != others
            ones, others = ones[differs], others[differs]
        if len(ones):
            yield ones, others
        begin = end
