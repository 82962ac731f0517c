"""Waiting-time distributions, and the forecasts that are derived from them: Ntoulias et al., section 3.2.

| kind | in the paper, or in the Wayeb engine |
|---|---|
| `Within` | CLASSIFICATION-NEXTW |
| `Around` | classification of a window around the shortest path to a final state (engine) |
| `PointForecast` | REGRESSION-ARGMAX |
| `Shortest` | REGRESSION-INTERVAL |
| `Argmax` | an interval grown around the most likely point (engine) |
| `Fixed` | the interval of a fixed spread with the largest mass (engine) |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from inkling.forecasting.models.chain import MarkovChain
from inkling.kernels.forecast import chains
from inkling.kernels.forecast import intervals as kernel


def waiting_times(chain: MarkovChain, horizon: int) -> npt.NDArray[np.float64]:
    """[state, n - 1]: the waiting-time distribution P(W = n), n events from now until the next detection.

    From a final state, it is the time until the detection after the current one. All states are computed together, by
    f(1) = NF 1 and f(n + 1) = N f(n), where N has the transitions between states that are not final and NF those to
    final states. This equals the sum over all paths in the paper, without its exponential number of paths.
    """
    if horizon < 1:
        raise ValueError(f"a horizon is at least one event, not {horizon}")
    times = chains.waiting_times(chain.target, chain.weight, chain.final, horizon)
    return np.ascontiguousarray(times.T)


UNBOUNDED = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Within:
    """The next detection is one of the next ``events`` events."""

    events: int


@dataclass(frozen=True, slots=True)
class Around:
    """The next detection is in a window of this width around the end of the shortest path to a final state."""

    events: int


@dataclass(frozen=True, slots=True)
class PointForecast:
    """The next detection is the most likely event."""


@dataclass(frozen=True, slots=True)
class Shortest:
    """The next detection is in the shortest interval whose probability reaches the confidence."""


@dataclass(frozen=True, slots=True)
class Argmax:
    """The next detection is in an interval grown around the most likely event until it reaches the confidence."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The next detection is in the most likely interval whose ends are ``spread`` events apart."""

    spread: int


Kind: TypeAlias = Within | Around | PointForecast | Shortest | Argmax | Fixed


@dataclass(frozen=True, slots=True)
class Asked:
    """The kind of forecast, and the conditions under which one is issued."""

    kind: Kind
    confidence: float = 0.0
    horizon: int = 0  # events looked ahead; not needed where the kind says it
    spread: int | None = None  # the most that may lie between first and last
    remaining: tuple[float, float] | None = None  # allowed shares of the longest path to a final state that is left
    including_final: bool = False  # also right after a detection

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"a confidence lies between 0 and 1, not at {self.confidence}")
        match self.kind:
            case PointForecast() | Shortest() | Argmax() if self.horizon < 1:
                raise ValueError(f"a forecast of kind {type(self.kind).__name__.lower()} needs a horizon")
            case Within(events) | Around(events) if events < 1:
                raise ValueError(f"a forecast covers at least one event, not {events}")
            case Fixed(spread) if spread < 0:
                raise ValueError(f"the ends of an interval are at least 0 events apart, not {spread}")
            case _:
                pass

    def horizon_for(self, chain: MarkovChain) -> int:
        """The number of events for which waiting times are needed."""
        match self.kind:
            case Within(events):
                return events
            case Around(events):
                return max(1, int(chain.distance.max(initial=0)) + events // 2)
            case Fixed(spread):
                return max(self.horizon, spread + 1)
            case PointForecast() | Shortest() | Argmax():
                return self.horizon
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class ForecastTable:
    """One forecast per row: per state of a chain, or per belief about the state."""

    asked: Asked
    times: npt.NDArray[np.float64]  # [row, event]
    center: npt.NDArray[np.int32]  # events to the nearest final state
    eligible: npt.NDArray[np.bool_]  # whether a forecast is made here at all
    first: npt.NDArray[np.int32]  # events ahead, from 1; 0 if there is no such interval
    last: npt.NDArray[np.int32]
    chance: npt.NDArray[np.float64]
    expected: npt.NDArray[np.float64]  # mean number of events, given that it comes in the interval
    issued: npt.NDArray[np.bool_]  # eligible and likely enough

    @classmethod
    def of(cls, chain: MarkovChain, asked: Asked, times: npt.NDArray[np.float64] | None = None) -> ForecastTable:
        """A forecast for every state of a chain; ``times`` are its waiting times if they are known already."""
        if times is None:
            times = waiting_times(chain, asked.horizon_for(chain))
        return _table(asked, times, chain.distance, _eligible(chain, asked))

    def on(self, belief: npt.ArrayLike) -> ForecastTable:
        """Forecasts for beliefs, [row, state] or [state]: distributions over the states of the chain.

        Waiting times are mixed in the proportions of the belief; the distance to a final state is that of the most
        probable state. A forecast is made if one is made for any possible state.
        """
        weights = np.atleast_2d(np.asarray(belief, np.float64))
        if weights.shape[1] != len(self.times):
            raise ValueError(f"a belief is about {len(self.times)} states, not {weights.shape[1]}")
        likeliest = weights.argmax(axis=1)
        eligible = np.asarray(((weights > 0) & self.eligible).any(axis=1))
        return _table(self.asked, kernel.mixed(weights, self.times), self.center[likeliest], eligible)


def _eligible(chain: MarkovChain, asked: Asked) -> npt.NDArray[np.bool_]:
    made = chain.known & (chain.distance >= 0)
    if not asked.including_final:
        made &= ~chain.final
    if asked.remaining is not None:
        low, high = asked.remaining
        longest = max(int(chain.distance.max(initial=0)), 1)
        share = chain.distance / longest
        made &= (share >= low - kernel.TOLERANCE) & (share <= high + kernel.TOLERANCE)
    return made


def _table(
    asked: Asked, times: npt.NDArray[np.float64], center: npt.NDArray[np.int32], eligible: npt.NDArray[np.bool_]
) -> ForecastTable:
    n = len(times)
    low, high = np.ones(n, np.int32), np.zeros(n, np.int32)
    spread = UNBOUNDED if asked.spread is None else asked.spread
    match asked.kind:
        case Within(events):
            how = kernel.GIVEN
            high[:] = events
        case Around(events):
            how = kernel.GIVEN
            low = np.maximum(1, center - events // 2).astype(np.int32)
            high = (center + events // 2).astype(np.int32)
        case PointForecast():
            how = kernel.POINT
        case Shortest():
            how = kernel.SHORTEST
        case Argmax():
            how = kernel.WIDENED
        case Fixed(between):
            how, spread = kernel.FIXED, between
        case _:
            assert_never(asked.kind)
    first, last = np.zeros(n, np.int32), np.zeros(n, np.int32)
    chance, expected, enough = np.zeros(n), np.full(n, np.nan), np.zeros(n, np.bool_)
    kernel.intervals(times, how, asked.confidence, spread, low, high, first, last, chance, expected, enough)
    return ForecastTable(asked, times, center, eligible, first, last, chance, expected, eligible & enough)
