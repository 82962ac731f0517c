"""How long it takes until the next detection, and the forecasts that are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from inkling.kernels import chains
from inkling.kernels import forecasts as kernel
from inkling.markov.chain import Chain

DENSE = 1_500
SWEEPS = 200_000
TOLERANCE = 1e-13


def waiting_times(chain: Chain, horizon: int) -> npt.NDArray[np.float64]:
    """[state, n - 1]: the probability that the next detection comes with the n-th event from now.

    From a final state this is the time to the detection after the one that was just made.
    """
    if horizon < 1:
        raise ValueError(f"a horizon is at least one event, not {horizon}")
    times = chains.waiting_times(chain.target, chain.weight, chain.final, horizon)
    return np.ascontiguousarray(times.T)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """What is known of the waiting times without a horizon; one entry per state of the chain."""

    ever: npt.NDArray[np.float64]  # probability of any further detection
    mean: npt.NDArray[np.float64]  # number of events, given that there is one; NaN if there is none
    variance: npt.NDArray[np.float64]


def moments(chain: Chain) -> Moments:
    """Probability, mean and variance by solving x = c + N x for three right-hand sides."""
    able = _able(chain)
    weight = np.where(able[:, None], chain.weight, 0.0)
    stays = ~chain.final[chain.target]
    absorbed = (weight * ~stays).sum(axis=1)
    ever = _solved(chain, weight, absorbed)
    first = _solved(chain, weight, ever)
    onward = (weight * stays * first[chain.target]).sum(axis=1)
    second = _solved(chain, weight, ever + 2 * onward)
    there = ever > 0
    mean = np.divide(first, ever, out=np.full(len(ever), np.nan), where=there)
    square = np.divide(second, ever, out=np.full(len(ever), np.nan), where=there)
    return Moments(np.minimum(ever, 1.0), mean, square - mean**2)


def _able(chain: Chain) -> npt.NDArray[np.bool_]:
    """States from which a detection has a chance; only for them do the equations have one solution."""
    possible = chain.weight > 0
    able: npt.NDArray[np.bool_] = np.asarray((possible & chain.final[chain.target]).any(axis=1))
    while True:
        more = np.asarray(able | (possible & able[chain.target] & ~chain.final[chain.target]).any(axis=1))
        if (more == able).all():
            return able
        able = more


def _solved(
    chain: Chain, weight: npt.NDArray[np.float64], constant: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    n = chain.n_states
    if n <= DENSE:
        matrix = np.eye(n)
        onward = np.where(chain.final[chain.target], 0.0, weight)
        np.subtract.at(matrix, (np.arange(n)[:, None], chain.target), onward)
        return np.linalg.solve(matrix, constant).astype(np.float64)
    value = constant.copy()
    change = chains.settle(chain.target, weight, chain.final, constant, value, TOLERANCE, SWEEPS)
    if change > 1e-9:
        raise ValueError(f"detections are so rare that {SWEEPS} rounds did not settle how long they take")
    return value


UNBOUNDED = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Within:
    """The next detection comes with one of the next so many events."""

    events: int


@dataclass(frozen=True, slots=True)
class Around:
    """It comes about when the shortest way to a detection ends: in a window of this width around it."""

    events: int


@dataclass(frozen=True, slots=True)
class Point:
    """It comes with the most likely event."""


@dataclass(frozen=True, slots=True)
class Shortest:
    """It comes in the shortest interval that is likely enough."""


@dataclass(frozen=True, slots=True)
class Argmax:
    """It comes in an interval grown on both sides of the most likely event until it is likely enough."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """It comes in the likeliest interval whose ends are so many events apart."""

    spread: int


Kind: TypeAlias = Within | Around | Point | Shortest | Argmax | Fixed


@dataclass(frozen=True, slots=True)
class Asked:
    """What a forecast must be like to be issued."""

    kind: Kind
    confidence: float = 0.0
    horizon: int = 0  # events looked ahead; not needed where the kind says it
    spread: int | None = None  # the most that may lie between first and last
    remaining: tuple[float, float] | None = None  # share of the longest way to a detection that is still to go
    including_final: bool = False  # also right after a detection

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"a confidence lies between 0 and 1, not at {self.confidence}")
        match self.kind:
            case Point() | Shortest() | Argmax() if self.horizon < 1:
                raise ValueError(f"a forecast of kind {type(self.kind).__name__.lower()} needs a horizon")
            case Within(events) | Around(events) if events < 1:
                raise ValueError(f"a forecast covers at least one event, not {events}")
            case Fixed(spread) if spread < 0:
                raise ValueError(f"the ends of an interval are at least 0 events apart, not {spread}")
            case _:
                pass

    def horizon_for(self, chain: Chain) -> int:
        """How many events ahead must be computed."""
        match self.kind:
            case Within(events):
                return events
            case Around(events):
                return max(1, int(chain.distance.max(initial=0)) + events // 2)
            case Fixed(spread):
                return max(self.horizon, spread + 1)
            case Point() | Shortest() | Argmax():
                return self.horizon
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class ForecastTable:
    """One forecast per row: per state of a chain, or per belief about where the chain is."""

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
    def of(cls, chain: Chain, asked: Asked, times: npt.NDArray[np.float64] | None = None) -> ForecastTable:
        """A forecast for every state of a chain; waiting times may be given if they are there already."""
        if times is None:
            times = waiting_times(chain, asked.horizon_for(chain))
        return _table(asked, times, chain.distance, _eligible(chain, asked))

    def on(self, belief: npt.ArrayLike) -> ForecastTable:
        """Forecasts for beliefs, [row, state] or [state]: distributions over the states of the chain.

        Waiting times are mixed in the proportions of the belief; the way to go is that of the likeliest state.
        A forecast is made where any is made for a state that is possible.
        """
        weights = np.atleast_2d(np.asarray(belief, np.float64))
        if weights.shape[1] != len(self.times):
            raise ValueError(f"a belief is about {len(self.times)} states, not {weights.shape[1]}")
        likeliest = weights.argmax(axis=1)
        eligible = np.asarray(((weights > 0) & self.eligible).any(axis=1))
        return _table(self.asked, kernel.mixed(weights, self.times), self.center[likeliest], eligible)


def _eligible(chain: Chain, asked: Asked) -> npt.NDArray[np.bool_]:
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
    asked: Asked,
    times: npt.NDArray[np.float64],
    center: npt.NDArray[np.int32],
    eligible: npt.NDArray[np.bool_],
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
        case Point():
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
