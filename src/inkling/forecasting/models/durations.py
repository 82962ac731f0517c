"""The probability of a detection within a duration: a semi-Markov chain whose steps last as long as counted gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.gaps import GapCounts
from inkling.kernels.forecast import durations as kernel
from inkling.kernels.forecast.intervals import mixed

MOST_WORK = 2_000_000_000
FEWEST_STEPS = 16


@dataclass(frozen=True, slots=True, eq=False)
class WithinDuration:
    """Bounds on the probability, per state of a chain, from the time of the event that led to the state."""

    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]

    @property
    def chance(self) -> npt.NDArray[np.float64]:
        return (self.lower + self.upper) / 2

    def on(self, belief: npt.NDArray[np.float64]) -> WithinDuration:
        """The bounds for beliefs, [row, state]: distributions over the states of the chain."""
        both = mixed(belief, np.column_stack([self.lower, self.upper]))
        return WithinDuration(both[:, 0], both[:, 1])

    @property
    def half_width(self) -> npt.NDArray[np.float64]:
        return (self.upper - self.lower) / 2


def within_duration(chain: MarkovChain, gaps: GapCounts, duration: int, *, steps: int = 256) -> WithinDuration:
    """Bounds on the probability of a detection at most ``duration`` after now.

    Time is divided into steps. Gaps that are rounded up give the lower bound, gaps that are rounded down the upper
    one. The gap before an event is assumed to depend on the symbol of the event only. A symbol without any gap in the
    counts has the gaps of all symbols together.
    """
    if duration < 1:
        raise ValueError(f"a duration is at least 1, not {duration}")
    if not len(gaps.count):
        raise ValueError("no gap between events was ever measured")
    affordable = int((2 * MOST_WORK / max(chain.target.size, 1)) ** 0.5)
    steps = min(steps, duration, max(FEWEST_STEPS, affordable))
    bounds = []
    for up in (True, False):
        law = _gap_law(gaps, chain.n_symbols, duration, steps, up=up)
        bounds.append(kernel.detected_within(chain.target, chain.weight, chain.final, law, up))
    return WithinDuration(*bounds)


def _gap_law(gaps: GapCounts, n_symbols: int, duration: int, steps: int, *, up: bool) -> npt.NDArray[np.float64]:
    """[symbol, steps]: the probability that the gap before a symbol takes this many steps; longer gaps are left out."""
    # in whole numbers: a gap g takes g · steps / duration steps
    taken = -(-gaps.gap_high * steps // duration) if up else gaps.gap_low * steps // duration
    short = (gaps.gap_high if up else gaps.gap_low) <= duration
    law = np.zeros((n_symbols, steps + 1))
    totals = np.bincount(gaps.symbol, gaps.count, n_symbols)
    np.add.at(law, (gaps.symbol[short], taken[short]), gaps.count[short])
    law[totals == 0] = law.sum(axis=0)
    totals = np.where(totals == 0, gaps.count.sum(), totals)
    return law / totals[:, None]
