"""How likely a detection is within a duration: each event takes the time that its symbol took before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.kernels import durations as kernel
from inkling.kernels.forecasts import mixed
from inkling.markov.chain import Chain
from inkling.markov.gaps import GapCounts

MOST_WORK = 2_000_000_000
FEWEST_STEPS = 16


@dataclass(frozen=True, slots=True, eq=False)
class WithinDuration:
    """One entry per state of a chain, from the moment of the event after which the chain is there."""

    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]

    @property
    def chance(self) -> npt.NDArray[np.float64]:
        return (self.lower + self.upper) / 2

    def on(self, belief: npt.NDArray[np.float64]) -> WithinDuration:
        """For beliefs about where the chain is, [row, state]."""
        both = mixed(belief, np.column_stack([self.lower, self.upper]))
        return WithinDuration(both[:, 0], both[:, 1])

    @property
    def half_width(self) -> npt.NDArray[np.float64]:
        return (self.upper - self.lower) / 2


def within_duration(chain: Chain, gaps: GapCounts, duration: int, *, steps: int = 256) -> WithinDuration:
    """Bounds on the probability of a detection at most ``duration`` after now.

    Time is divided into steps. Gaps that are rounded up give the lower bound, gaps that are rounded down the upper
    one. Gaps before events of one symbol are taken to be independent of everything else. A symbol before which no
    gap was ever measured has those of all symbols together.
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
    """[symbol, steps]: how likely the gap before a symbol takes so many steps; too long ones are left out."""
    # in whole numbers: a gap g takes g · steps / duration steps
    taken = -(-gaps.gap_high * steps // duration) if up else gaps.gap_low * steps // duration
    short = (gaps.gap_high if up else gaps.gap_low) <= duration
    law = np.zeros((n_symbols, steps + 1))
    totals = np.bincount(gaps.symbol, gaps.count, n_symbols)
    np.add.at(law, (gaps.symbol[short], taken[short]), gaps.count[short])
    law[totals == 0] = law.sum(axis=0)
    totals = np.where(totals == 0, gaps.count.sum(), totals)
    return law / totals[:, None]
