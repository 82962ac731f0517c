"""A Markov chain over scripts: the next script of a key is random, the steps of a script are fixed.

A script is a fixed run of steps, for example the four readings of a glitch. When its last step is over the
chain either lingers on that step or continues to another script. Because an episode is always played as
written, counting the visits to its last step counts the episodes in the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from .randomness import Draws

Step = TypeVar("Step")
Scalar = TypeVar("Scalar", bound=np.generic)

RESOLUTION_BITS = 12
RESOLUTION = 1 << RESOLUTION_BITS
DRAW_SHIFT = 16 - RESOLUTION_BITS


@dataclass(frozen=True, slots=True)
class Script(Generic[Step]):
    """Steps in a row, then `linger` as the chance to repeat the last one, else a choice of what follows."""

    name: str
    steps: tuple[Step, ...]
    then: Mapping[str, float]
    linger: float = 0.0

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError(f"script {self.name!r} has no step")
        if not 0.0 <= self.linger < 1.0:
            raise ValueError(f"script {self.name!r} lingers with probability {self.linger}, expected [0, 1)")


class SymbolChain(Generic[Step]):
    """Scripts laid end to end; a state is a position in that line.

    >>> scripts = [Script("on", ("x", "y"), {"off": 1.0}), Script("off", ("z",), {"on": 1.0})]
    >>> chain = SymbolChain(scripts, start={"on": 1.0})
    >>> path = chain.walk(chain.beginning(1), np.zeros((4, 1), np.uint16))
    >>> [chain.steps[state] for state in path[:, 0]]
    ['x', 'y', 'z', 'x']
    """

    def __init__(self, scripts: Sequence[Script[Step]], start: Mapping[str, float]) -> None:
        self.steps: tuple[Step, ...] = tuple(step for script in scripts for step in script.steps)
        lengths = [len(script.steps) for script in scripts]
        firsts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        self._first = {script.name: int(at) for script, at in zip(scripts, firsts, strict=True)}
        self._last = {
            script.name: self._first[script.name] + length - 1 for script, length in zip(scripts, lengths, strict=True)
        }
        self._successor = self._successors(scripts, start).ravel()

    def _successors(self, scripts: Sequence[Script[Step]], start: Mapping[str, float]) -> Draws:
        beginning = len(self.steps)
        table = np.empty((beginning + 1, RESOLUTION), np.uint16)
        table[:-1] = np.arange(1, beginning + 1, dtype=np.uint16)[:, None]
        for script in scripts:
            last = self._last[script.name]
            table[last] = self._choices(script.then, {last: script.linger} if script.linger else {})
        table[beginning] = self._choices(start, {})
        return table

    def _choices(self, then: Mapping[str, float], stay: Mapping[int, float]) -> Draws:
        leave = (1.0 - sum(stay.values())) / sum(then.values())
        chances = dict(stay) | {self._first[name]: weight * leave for name, weight in then.items()}
        bounds = np.rint(np.cumsum([0.0, *chances.values()]) * RESOLUTION).astype(np.int64)
        return np.repeat(np.array(list(chances), np.uint16), np.diff(bounds))

    def first_step(self, script: str) -> int:
        return self._first[script]

    def last_step(self, script: str) -> int:
        return self._last[script]

    def beginning(self, n_keys: int) -> Draws:
        """The states of keys that have not started yet."""
        return np.full(n_keys, len(self.steps), np.uint16)

    def column(self, value: Callable[[Step], object], dtype: type[Scalar]) -> npt.NDArray[Scalar]:
        """A property of every step, to be looked up by state."""
        return np.array([value(step) for step in self.steps], dtype)

    def walk(self, state: Draws, draws: Draws) -> Draws:
        """The states after `state`, one row per row of 16-bit random `draws`; one column per key."""
        path = np.empty(draws.shape, np.uint16)
        choice = (draws >> DRAW_SHIFT).astype(np.int64)
        at = state
        for row, chosen in zip(path, choice, strict=True):
            chosen += at.astype(np.int64) << RESOLUTION_BITS
            np.take(self._successor, chosen, out=row, mode="clip")
            at = row
        return path
