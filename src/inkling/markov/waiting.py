"""How many events it takes until the next detection, from every state of a chain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.kernels import chains as kernel
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
    times = kernel.waiting_times(chain.target, chain.weight, chain.final, horizon)
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
    change = kernel.settle(chain.target, weight, chain.final, constant, value, TOLERANCE, SWEEPS)
    if change > 1e-9:
        raise ValueError(f"detections are so rare that {SWEEPS} rounds did not settle how long they take")
    return value
