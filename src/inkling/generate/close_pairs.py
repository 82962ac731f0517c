"""Pairs of happenings that lie close together in time, counted as they come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inkling.generate.arrays import Integers, Marks


@dataclass(frozen=True, slots=True)
class Happenings:
    """When something happened and to whom, in the order of time."""

    t: Integers
    who: Integers

    def since(self, t: int) -> Happenings:
        first = int(np.searchsorted(self.t, t))
        return Happenings(self.t[first:], self.who[first:])

    def followed_by(self, later: Happenings) -> Happenings:
        return Happenings(np.concatenate([self.t, later.t]), np.concatenate([self.who, later.who]))


NOTHING = Happenings(np.empty(0, np.int64), np.empty(0, np.int64))


class ClosePairs:
    """Pairs of an earlier and a later happening, at most `within` apart, of which `belong` is true."""

    def __init__(self, within: int, belong: Callable[[Integers, Integers], Marks], *, together: bool) -> None:
        self._within, self._belong = within, belong
        self._side: Literal["left", "right"] = "right" if together else "left"  # whether two at one time are a pair
        self._earlier = NOTHING
        self.count = 0

    def add(self, earlier: Happenings, later: Happenings) -> None:
        """Take up what happened next; each of `later` is paired with all before it."""
        known = self._earlier.followed_by(earlier)
        first = np.searchsorted(known.t, later.t - self._within, side="left")
        last = np.searchsorted(known.t, later.t, side=self._side)
        for back in range(1, int((last - first).max(initial=0)) + 1):
            has = last - back >= first
            self.count += int(np.count_nonzero(self._belong(known.who[last[has] - back], later.who[has])))
        latest = max((int(some.t[-1]) for some in (known, later) if some.t.size), default=0)
        self._earlier = known.since(latest - self._within)
