"""How the rises of two symbols lie to each other, counted pair by pair."""

from __future__ import annotations

import numpy as np

from inkling.generate.arrays import Integers


class RisePairs:
    """Rises of two symbols, each from one price to the next; those too old for a pair are forgotten."""

    def __init__(self, period: int, within: int) -> None:
        self._period, self._within = period, within
        self._ends: list[Integers] = [np.empty(0, np.int64), np.empty(0, np.int64)]
        self.counts = {"both_rise": 0, "rise_together": 0, "rises_alone": 0}

    def add(self, first: Integers, second: Integers) -> None:
        """Take up later rises, by their end."""
        before = self._pairs(*self._ends)
        self._ends = [np.concatenate(both) for both in zip(self._ends, (first, second), strict=True)]
        after = self._pairs(*self._ends)
        for event in self.counts:
            self.counts[event] += after[event] - before[event]
        latest = max((int(ends[-1]) for ends in self._ends if ends.size), default=0)
        self._ends = [ends[ends > latest - self._within - 2 * self._period] for ends in self._ends]

    def _pairs(self, first: Integers, second: Integers) -> dict[str, int]:
        later, earlier = np.maximum.outer(first, second), np.minimum.outer(first, second)
        lengths = later - earlier + self._period
        overlaps = later - self._period < earlier
        return {
            "both_rise": int(np.count_nonzero(lengths <= self._within)),
            "rise_together": int(np.count_nonzero(overlaps)),
            "rises_alone": sum(self._alone(int(end), first, second) for end in first),
        }

    def _alone(self, end: int, first: Integers, second: Integers) -> int:
        """Later rises of the first symbol that no whole rise of the second one parts from the one with this end."""
        follow = first[(first - self._period > end) & (first - end + self._period <= self._within)]
        between = second[second - self._period > end]
        if between.size:
            follow = follow[follow - self._period <= between[0]]
        return int(follow.size)
