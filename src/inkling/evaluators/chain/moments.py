"""Imprecise times: intervals of ticks with a distribution (Zhang, Diao, Immerman, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.model.batch import Ints
from inkling.model.uncertainty import normalized

Chances = NDArray[Any]
"""Probabilities in [0, 1]: floats, or `Fraction`s in tests."""


@dataclass(frozen=True, slots=True)
class Moments:
    """The interval and the distribution of each event; events with equal distributions share them.

    `mass[at[x] + i]` is the probability of tick `lower[x] + i` of event x, `cum[cum_at[x] + i]` that of all ticks
    before it. First and last ticks have positive probability; `gapless` events have it in all ticks between.
    """

    lower: Ints
    upper: Ints
    at: Ints
    cum_at: Ints
    mass: Chances
    cum: Chances
    gapless: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.lower)

    @classmethod
    def of(
        cls,
        lower: Ints,
        upper: Ints,
        offsets: Ints | None = None,
        weights: Chances | None = None,
        *,
        exact: bool = False,
    ) -> Moments:
        """Uniform distributions, except where event x has weights: `weights[offsets[x]:offsets[x + 1]]`."""
        laws = _Laws(exact)
        uniform = np.ones(len(lower), bool)
        if offsets is not None and weights is not None:
            uniform = np.diff(offsets) == 0
        widths = upper - lower + 1
        _require_room(widths[uniform])
        law = np.empty(len(lower), np.int64)
        distinct, which = np.unique(widths[uniform], return_inverse=True)
        law[uniform] = np.array([laws.uniform(int(width)) for width in distinct], np.int64)[which]
        lower, upper = lower.copy(), upper.copy()
        gapless = np.ones(len(lower), bool)
        for x in np.flatnonzero(~uniform).tolist():
            assert offsets is not None
            assert weights is not None
            own = weights[offsets[x] : offsets[x + 1]]
            possible = np.flatnonzero(own > 0)
            first, last = int(possible[0]), int(possible[-1])
            law[x] = laws.weighted(own[first : last + 1])
            gapless[x] = len(possible) == last - first + 1
            lower[x], upper[x] = lower[x] + first, lower[x] + last
        return cls(lower, upper, laws.begins[law], laws.begins[law] + law, laws.mass, laws.cum, gapless)

    def until(self, now: int, later: int) -> Moments:
        """The distributions with all ticks after `now` replaced by one tick, `later`."""
        open_ones = np.flatnonzero(self.upper > now)
        lower, upper, at, cum_at = (one.copy() for one in (self.lower, self.upper, self.at, self.cum_at))
        mass, cum, ends = [self.mass], [self.cum], [len(self.mass), len(self.cum)]
        known: dict[tuple[int, int], tuple[int, int]] = {}
        for x in open_ones.tolist():
            first = int(min(lower[x], later) if lower[x] <= now else later)
            n_past = max(0, now - first + 1)
            law = (int(self.at[x]), n_past)
            if law not in known:
                known[law] = (ends[0], ends[1])
                past, sums = self.mass[at[x] : at[x] + n_past], self.cum[cum_at[x] : cum_at[x] + n_past + 1]
                zero, one = self.mass[0] * 0, self.mass[0] * 0 + 1
                n_between = later - first - n_past
                mass.append(np.concatenate([past, np.repeat(zero, n_between), [one - sums[-1]]]))
                cum.append(np.concatenate([sums, np.repeat(sums[-1], n_between), [one]]))
                ends = [ends[0] + len(mass[-1]), ends[1] + len(cum[-1])]
            lower[x], upper[x] = first, later
            at[x], cum_at[x] = known[law]
        return Moments(lower, upper, at, cum_at, np.concatenate(mass), np.concatenate(cum), self.gapless)


MOST_TICKS = 1 << 27
"""The most ticks of all distinct widths of intervals together."""


def _require_room(widths: Ints) -> None:
    distinct = np.unique(widths)
    if distinct.astype(np.float64).sum() > MOST_TICKS:
        raise InputError.of(
            "INK0647",
            f"imprecise times of {len(distinct):,} widths have up to {int(distinct.max()):,} ticks, too many in total",
            notes=(f"exact probabilities are sums over ticks; the limit is {MOST_TICKS:,}",),
            helps=("declare a longer TICK, or reject wide intervals with AT MOST", "or add SAMPLED to the events"),
        )


class _Laws:
    """Distinct distributions over ticks in one array, and their sums, which have one number more each."""

    def __init__(self, exact: bool) -> None:
        self._exact = exact
        self._begins: list[int] = []
        self._mass: list[Chances] = []
        self._cum: list[Chances] = []
        self._end = 0

    def uniform(self, width: int) -> int:
        if self._exact:
            return self._added([Fraction(1, width)] * width, [Fraction(i, width) for i in range(width + 1)])
        return self._added(np.full(width, 1 / width), np.arange(width + 1) / width)

    def weighted(self, weights: Chances) -> int:
        if self._exact:
            shares = normalized(weights.tolist())
            sums = [sum(shares[:i], Fraction(0)) for i in range(len(shares) + 1)]
            return self._added(shares, sums)
        cum = np.append(0.0, np.cumsum(weights))
        return self._added(weights / cum[-1], cum / cum[-1])

    def _added(self, mass: Any, cum: Any) -> int:
        kind: Callable[[Any], Chances] = self._fractions if self._exact else np.asarray
        self._begins.append(self._end)
        self._mass.append(kind(mass))
        self._cum.append(kind(cum))
        self._end += len(mass)
        return len(self._begins) - 1

    @staticmethod
    def _fractions(values: list[Fraction]) -> Chances:
        array = np.empty(len(values), object)
        array[:] = values
        return array

    @property
    def begins(self) -> Ints:
        return np.array(self._begins, np.int64)

    @property
    def mass(self) -> Chances:
        return np.concatenate(self._mass) if self._mass else np.zeros(1)

    @property
    def cum(self) -> Chances:
        return np.concatenate(self._cum) if self._cum else np.zeros(1)
