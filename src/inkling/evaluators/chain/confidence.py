"""The probability of chains: sums over ticks (Zhang, Diao, Immerman, section 4 and algorithm 3: confidence of a match).

The cheapest algorithm that fits a chain is used:

    certain chains                          probability 1
    no other event can prevent the chain    one pass over ticks per event, split at the window (`in_any_order`)
    NEXT with rivals that chains share      tables per pair of neighboring events (`next_by_tables`)
    all others                              sums in which other events are kept out of regions (`kept_free`)

Sums have only non-negative terms, so nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.chain.moments import Chances, Moments
from inkling.evaluators.chain.others import Others
from inkling.evaluators.chain.search_space import PartialChains
from inkling.kernels.chain.by_tables import RivalRows, next_by_tables
from inkling.kernels.chain.chances import ChainTicks, TickChances, are_certain, in_any_order
from inkling.kernels.chain.kept_free import OthersByChain, kept_free
from inkling.kernels.chain.partial_orders import in_partial_orders
from inkling.model.batch import Ints

MOST_STEPS = 5e7
"""The most steps for the probability of one chain."""

WIDEST = 1 << 12
"""The most ticks of an event where others are kept out: the number of steps grows with its square."""

COMPILED = SimpleNamespace(
    in_any_order=in_any_order,
    kept_free=kept_free,
    next_by_tables=next_by_tables,
    are_certain=are_certain,
    in_partial_orders=in_partial_orders,
)
"""The kernels on floats; tests pass the same kernels on fractions."""


MOST_CELLS = 1 << 24
"""The most numbers in shared tables."""

WIDE = 24
"""The mean number of ticks from which on shared tables pay off."""


@dataclass(frozen=True, slots=True)
class Rivals:
    """The candidates of all links, where none fits two links and none depends on earlier events of the chain.

    Those of place j stand from `begins[j]` on, those of key c there from `offsets[j, c]` on.
    """

    begins: Ints
    offsets: Ints
    rows: Ints
    widest: Ints
    always: bool = False

    def pay_off(self, chains: PartialChains, moments: Moments) -> bool:
        """Whether tables save time: intervals are long, and chains share most of their events."""
        if not len(chains) or chains.rows.shape[1] == 1:
            return False
        if self.always:
            return True
        widths = (moments.upper - moments.lower)[chains.rows[:, 1:]]
        if int(widths.max()) ** 2 > MOST_CELLS // 8:
            return False
        n_events = len(np.unique(chains.rows[:, 1:]))
        return bool(widths.mean() >= WIDE and chains.rows[:, 1:].size >= 4 * n_events)


@dataclass(frozen=True, slots=True)
class ChainConfidence:
    """Per chain: its probability, first and last tick, whether it is certain, and whether it was computed at all."""

    chance: Chances
    first: Ints
    last: Ints
    certain: NDArray[np.bool_]
    found: NDArray[np.bool_]

    @classmethod
    def unknown(cls, chains: PartialChains) -> ChainConfidence:
        """No probability computed."""
        none = np.zeros(len(chains), bool)
        return cls(np.zeros(len(chains)), chains.lo[:, 0], chains.hi[:, -1], none, none)


def confidence_of(
    chains: PartialChains,
    others: Others | None,
    moments: Moments,
    window: int,
    rivals: Rivals | None = None,
    kernels: SimpleNamespace = COMPILED,
    most_steps: float = MOST_STEPS,
) -> ChainConfidence:
    """The exact probabilities of chains; `others` are the events that could prevent them."""
    if others is None:
        none = np.zeros(len(chains) + 1, np.int64)
        others = Others(none, none[:0], none[:0])
    return _Sums(chains, others, moments, np.int64(window), kernels).confidence(rivals, most_steps)


@dataclass(frozen=True, slots=True)
class _Sums:
    chains: PartialChains
    others: Others
    moments: Moments
    window: np.int64
    kernels: SimpleNamespace

    def confidence(self, rivals: Rivals | None, most_steps: float) -> ChainConfidence:
        chains = self.chains
        chance: Chances = np.zeros(len(chains), self.moments.mass.dtype)
        first, last, found = chains.lo[:, 0].copy(), chains.hi[:, -1].copy(), np.ones(len(chains), bool)
        certain, tight = self._certain(), self._tight()
        chance[certain] = 1
        left = ~certain
        alone = np.flatnonzero(left & ~tight & (np.diff(self.others.offsets) == 0))
        if len(alone):
            chance[alone] = self._alone(alone)
            left[alone] = False
        shared = np.flatnonzero(left & ~tight)
        if rivals is not None and rivals.pay_off(chains.take(shared), self.moments):
            chance[shared] = self._by_tables(shared, rivals)
            left[shared] = False
        rest = np.flatnonzero(left)
        if len(rest):
            chance[rest], first[rest], last[rest], found[rest] = self._kept_free(rest, tight[rest], most_steps)
        return ChainConfidence(chance, first, last, certain, found)

    def _certain(self) -> NDArray[np.bool_]:
        chains, others, m = self.chains, self.others, self.moments
        certain: NDArray[np.bool_] = self.kernels.are_certain(
            self.window, chains.lo, chains.hi, chains.rows, others.offsets, others.rows, others.regions,
            m.lower, m.upper, m.cum_at, m.cum,
        )  # fmt: skip
        return certain

    def _tight(self) -> NDArray[np.bool_]:
        """Whether bounds may be too wide, because some tick within an interval has probability 0."""
        tight = np.asarray(~self.moments.gapless[self.chains.rows].all(axis=1), bool)
        if not self.moments.gapless.all():
            behind = np.repeat(np.arange(len(tight)), np.diff(self.others.offsets))
            tight[behind[~self.moments.gapless[self.others.rows]]] = True
        return tight

    def _alone(self, which: Ints) -> Chances:
        """Probabilities of chains that no other event can prevent."""
        some, m = self.chains.take(which), self.moments
        found: Chances = self.kernels.in_any_order(self.window, some.lo, some.hi, some.rows, m.lower, m.at, m.mass)
        return found

    def _by_tables(self, which: Ints, rivals: Rivals) -> Chances:
        some, m = self.chains.take(which), self.moments
        found: Chances = self.kernels.next_by_tables(
            self.window, some.key, ChainTicks(some.lo, some.hi, some.rows),
            RivalRows(rivals.begins, rivals.offsets, rivals.rows, rivals.widest),
            TickChances(m.lower, m.upper, m.at, m.mass, m.cum_at, m.cum), MOST_CELLS,
        )  # fmt: skip
        return found

    def _kept_free(
        self, which: Ints, tight: NDArray[np.bool_], most_steps: float
    ) -> tuple[Chances, Ints, Ints, NDArray[np.bool_]]:
        """Chains in groups of similar width, because a group needs the memory of its widest chain."""
        chains, m = self.chains, self.moments
        n, wide = len(which), (chains.hi - chains.lo)[which].max(axis=1)
        found = np.zeros(n, m.mass.dtype), chains.lo[which, 0], chains.hi[which, -1], wide < WIDEST
        group = np.where(found[3], np.frexp(wide.astype(np.float64))[1], -1)
        for number in np.unique(group[group >= 0]):
            here = np.flatnonzero(group == number)
            some, others = chains.take(which[here]), _of(self.others, which[here])
            parts = self.kernels.kept_free(
                self.window, ChainTicks(some.lo, some.hi, some.rows),
                OthersByChain(others.offsets, others.rows, others.regions),
                TickChances(m.lower, m.upper, m.at, m.mass, m.cum_at, m.cum), tight[here], most_steps,
            )  # fmt: skip
            for every, part in zip(found, parts, strict=True):
                every[here] = part
        return found


def _of(others: Others, chains: Ints) -> Others:
    """The others of some chains, given in ascending order."""
    sizes = np.diff(others.offsets)[chains]
    ends = np.append(0, np.cumsum(sizes))
    at = np.repeat(others.offsets[chains] - ends[:-1], sizes) + np.arange(ends[-1])
    return Others(ends, others.rows[at], others.regions[at])
