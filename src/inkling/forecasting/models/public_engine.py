"""The methods of the public Wayeb engine, to compare with published figures.

- `label_contexts`: only the label of the tree node that was reached is carried from event to event. That forgets too
  much; `tree_contexts` remembers as much of the past as decides which node is reached.
- `path_waiting_times` (`computeWtDistsOpt`): every path into the future is one list of symbols, two paths that come to
  the same state are never merged, and a path that has not arrived is dropped as soon as its probability is not above a
  cutoff. What is dropped is lost, so the chance of a detection comes out too low. `waiting_times` merges paths and
  needs no cutoff.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.contexts import Contexts
from inkling.forecasting.models.prediction_tree import PredictionTree

CUTOFF = 0.001
MOST_PATHS = 5_000_000


def label_contexts(tree: PredictionTree) -> Contexts:
    """Only the label of the node that was reached is carried from event to event."""
    n = tree.n_symbols
    onward = np.zeros((len(tree), n), np.int32)
    found = np.zeros((len(tree), n), np.bool_)
    longer = tree.code[:, None] * n + np.arange(n)
    for length in range(tree.depth + 1, -1, -1):
        open_places = ~found & (tree.length[:, None] + 1 >= length)
        where = np.nonzero(open_places)
        nodes = tree.nodes(length, longer[where] % n**length)
        hit = nodes >= 0
        onward[where[0][hit], where[1][hit]] = nodes[hit]
        found[where[0][hit], where[1][hit]] = True
    return Contexts(
        n,
        tree.length,
        tree.code,
        onward,
        tree.gamma[None],
        tree.length + tree.inner(),
        np.arange(len(tree), dtype=np.int32),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PathTimes:
    """Where the probability of all that may follow went; by state of the chain, they add up to one."""

    times: npt.NDArray[np.float64]  # [state, n - 1]: arrived with the n-th event
    lost: npt.NDArray[np.float64]  # [state, n - 1]: given up after the n-th event
    under_way: npt.NDArray[np.float64]  # [state]: neither, when the horizon is reached


def path_waiting_times(chain: MarkovChain, horizon: int, *, cutoff: float = CUTOFF) -> PathTimes:
    """Waiting times of every state; with a cutoff of 0 they are those of `waiting_times`, at exponential cost."""
    if horizon < 1:
        raise ValueError(f"a horizon is at least one event, not {horizon}")
    if not 0 <= cutoff < 1:
        raise ValueError(f"a cutoff is at least 0 and below 1, not {cutoff}")
    times, lost = np.zeros((chain.n_states, horizon)), np.zeros((chain.n_states, horizon))
    under_way = np.zeros(chain.n_states)
    for start in range(chain.n_states):
        state, chance = np.array([start]), np.array([1.0])
        for step in range(horizon):
            if len(state) * chain.n_symbols > MOST_PATHS:
                raise ValueError(f"more than {MOST_PATHS} paths of {step + 1} events; a larger cutoff leaves fewer")
            onward = (chance[:, None] * chain.weight[state]).reshape(-1)
            state = chain.target[state].reshape(-1)
            arrived = chain.final[state]
            # however improbable, a path that arrives counts
            times[start, step] = onward[arrived].sum()
            kept = ~arrived & (onward > cutoff)
            lost[start, step] = onward[~arrived & ~kept].sum()
            state, chance = state[kept], onward[kept]
        under_way[start] = chance.sum()
    return PathTimes(times, lost, under_way)
