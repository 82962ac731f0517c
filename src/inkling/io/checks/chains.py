"""Chains of steps that depend on each other: every state that may be the previous one needs rows that follow it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inkling.io.checks.groups import Numbers
from inkling.io.checks.steps import NOTHING, Steps
from inkling.model.weights import TOLERANCE

NEARLY = float(TOLERANCE)


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """A state that a KEY may be in before a step whose rows do not say what follows it."""

    state: int
    mass: float


@dataclass(frozen=True, slots=True)
class Chains:
    """A chain starts with a KEY, and at a step none of whose rows names a previous state."""

    steps: Steps
    is_anew: NDArray[np.bool_]
    starts: NDArray[np.bool_]

    @classmethod
    def of(cls, steps: Steps) -> Chains:
        is_anew = ~steps.per_step(steps.given != NOTHING)
        return cls(steps, is_anew, steps.starts_key | is_anew)

    @property
    def chain(self) -> Numbers:
        """Number of the chain of each step."""
        return np.cumsum(self.starts) - 1

    def spread(self, guilty: NDArray[np.bool_]) -> Numbers:
        """The first guilty step of the chain at or before each step, or -1: from there on a chain is void."""
        places = np.arange(len(guilty))
        found = np.where(guilty, places, len(guilty))
        first = np.minimum.reduceat(found, np.flatnonzero(self.starts))[self.chain]
        return np.where(first <= places, first, -1)

    def unfollowed(self, chances: NDArray[np.float64], guilty: NDArray[np.bool_]) -> dict[int, Unfollowed]:
        """The first step of each chain that leaves out a previous state, unless the chain is void before."""
        begins = np.append(np.flatnonzero(self.starts), self.steps.n_steps)
        walks = (
            self._walk(range(begins[chain], begins[chain + 1]), chances, guilty) for chain in self._suspects(chances)
        )
        return dict(found for found in walks if found is not None)

    def _suspects(self, chances: NDArray[np.float64]) -> Numbers:
        """Chains in which some state lacks followers, be it one that cannot come about."""
        steps = self.steps
        sums = np.bincount(steps.source, chances, minlength=1)
        goes_on = np.append(~self.starts[1:], False)
        places = int(max(steps.value.max(initial=0), steps.given.max(initial=0))) + 2

        def pairs(step: Numbers, state: Numbers | int) -> Numbers:
            return np.asarray(step * places + state + 1, np.int64)

        possible = (chances > 0) & goes_on[steps.step]
        leaves_some = (sums[steps.source] < 1 - NEARLY) & goes_on[steps.step]
        wanted = np.concatenate(
            [
                pairs(steps.step[possible] + 1, steps.value[possible]),
                pairs(steps.step[leaves_some] + 1, NOTHING),
                pairs(np.flatnonzero(steps.starts_key & ~self.is_anew), NOTHING),
            ]
        )
        missing = np.unique(wanted[~np.isin(wanted, pairs(steps.step, steps.given))])
        return np.unique(self.chain[missing // places])

    def _walk(
        self, chain: range, chances: NDArray[np.float64], guilty: NDArray[np.bool_]
    ) -> tuple[int, Unfollowed] | None:
        """The mass of every state from step to step, up to the first step at which one is not followed."""
        steps = self.steps
        masses = {NOTHING: 1.0}
        for step in chain:
            if guilty[step]:
                return None
            rows = steps.members(step)
            followers: dict[int, list[tuple[int, float]]] = {}
            for given, value, chance in zip(
                steps.given[rows].tolist(), steps.value[rows].tolist(), chances[rows].tolist(), strict=True
            ):
                followers.setdefault(given, []).append((value, chance))
            if not self.is_anew[step]:
                for state, mass in masses.items():
                    if mass > NEARLY and state not in followers:
                        return step, Unfollowed(state, mass)
            masses = _moved(masses, followers)
        return None


def _moved(masses: dict[int, float], followers: dict[int, list[tuple[int, float]]]) -> dict[int, float]:
    after: dict[int, float] = {}
    for state, mass in masses.items():
        moves = followers.get(state, [])
        total = sum(chance for _, chance in moves)
        is_full = total >= 1 - NEARLY
        for value, chance in moves:
            after[value] = after.get(value, 0.0) + mass * (chance / total if is_full else chance)
        if not is_full:
            after[NOTHING] = after.get(NOTHING, 0.0) + mass * (1 - total)
    return after
