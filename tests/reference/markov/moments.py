"""Mean and variance of waiting times, by solving the equations of an absorbing Markov chain."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.forecasting.models.chain import MarkovChain

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """One entry per state of a chain."""

    ever: Floats  # the probability of any further detection
    mean: Floats  # the number of events until it, given that there is one; NaN if there is none
    variance: Floats


def moments(chain: MarkovChain) -> Moments:
    """Solves x = c + N x for three right-hand sides; N has the steps between states that are not final."""
    weight = np.where(_may_detect(chain)[:, None], chain.weight, 0.0)
    stays = ~chain.final[chain.target]
    matrix = np.eye(chain.n_states)
    np.subtract.at(matrix, (np.arange(chain.n_states)[:, None], chain.target), weight * stays)
    ever = np.linalg.solve(matrix, (weight * ~stays).sum(axis=1))
    first = np.linalg.solve(matrix, ever)
    second = np.linalg.solve(matrix, ever + 2 * (weight * stays * first[chain.target]).sum(axis=1))
    there = ever > 0
    mean, square = (np.divide(one, ever, out=np.full(len(ever), np.nan), where=there) for one in (first, second))
    return Moments(np.minimum(ever, 1.0), mean, square - mean**2)


def _may_detect(chain: MarkovChain) -> npt.NDArray[np.bool_]:
    """States from which a detection has a chance; only for them do the equations have one solution."""
    possible = chain.weight > 0
    able: npt.NDArray[np.bool_] = np.asarray((possible & chain.final[chain.target]).any(axis=1))
    while True:
        more = np.asarray(able | (possible & able[chain.target] & ~chain.final[chain.target]).any(axis=1))
        if (more == able).all():
            return able
        able = more
