"""Keys that play scripts at a steady pace: their rows block by block, and the expected results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from .chain import SymbolChain
from .randomness import BlockRandom, Floats, Integers
from .readings import Block, blocks_from, steps_per_block

SECOND_US = 1_000_000


class Counted(Protocol):
    """A step of a script, with its contribution to the number of results of each event."""

    @property
    def ends(self) -> Mapping[str, int]: ...


Step = TypeVar("Step", bound=Counted)


@dataclass(frozen=True, slots=True)
class Played:
    """Consecutive rows of all keys, in the order of time."""

    key: Integers
    state: Integers
    t: Integers
    block: Block

    def unit(self, n_keys: int) -> Floats:
        """A number in [0, 1) per row, which does not depend on the number of rows."""
        drawn: Floats = self.block.random.unit((self.block.n_steps * n_keys,))[: self.key.size]
        return drawn


def _spread(n_moments: int, period: int) -> Integers:
    """Different moments of a period, in whole seconds if it is long enough."""
    apart = 9 * period // 10 // n_moments
    unit = SECOND_US if apart >= SECOND_US else 1
    moments: Integers = np.arange(n_moments, dtype=np.int64) * (apart // unit * unit)
    return moments


class Players(Generic[Step]):
    """Every key makes one step per period of microseconds, always at the same moment of the period."""

    def __init__(
        self, name: str, chain: SymbolChain[Step], *, events: int, keys: int, seed: int, start: int, period: int
    ) -> None:
        self._name, self._chain = name, chain
        self._events, self._keys, self._seed = events, keys, seed
        self._start, self._period = start, period
        self._turn = np.argsort(BlockRandom(seed, name, 0).bits((keys,)), kind="stable")
        self._moment = np.empty(keys, np.int64)
        self._moment[self._turn] = _spread(keys, period)
        self.visits: Integers = np.zeros((len(chain.steps), keys), np.int64)

    def play(self) -> Iterator[Played]:
        """All rows; `visits` counts the rows so far, by state and key."""
        state = self._chain.beginning(self._keys)
        remaining = self._events
        for block in blocks_from(self._seed, self._name, steps_per_block(self._keys)):
            shape = (block.n_steps, self._keys)
            path = self._chain.walk(state, block.random.bits(shape))
            state = path[-1]
            keys = np.tile(self._turn, block.n_steps)[:remaining]
            states = path[:, self._turn].ravel()[:remaining].astype(np.int64)
            steps = np.repeat(np.arange(block.first_step, block.first_step + block.n_steps), self._keys)[:remaining]
            self.visits += np.bincount(states * self._keys + keys, minlength=self.visits.size).reshape(
                self.visits.shape
            )
            yield Played(keys, states, self._start + steps * self._period + self._moment[keys], block)
            remaining -= keys.size
            if not remaining:
                return

    def ended(self) -> dict[str, int]:
        """Results of each event, according to the steps."""
        counts: dict[str, int] = {}
        for step, visits in zip(self._chain.steps, self.visits.sum(axis=1), strict=True):
            for event, change in step.ends.items():
                counts[event] = counts.get(event, 0) + change * int(visits)
        return counts

    def completed(self, scripts: Mapping[str, str]) -> dict[str, int]:
        """How many times each script was completed, by the given names."""
        visits = self.visits.sum(axis=1)
        return {name: int(visits[self._chain.last_step(script)]) for name, script in scripts.items()}
