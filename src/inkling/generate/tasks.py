"""Tasks that have started and wait for their time to finish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.generate.arrays import Integers, Marks


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks side by side: when they finish, their number and their node."""

    finish: Integers
    number: Integers
    node: Integers

    def __getitem__(self, rows: Marks | Integers) -> Tasks:
        return Tasks(self.finish[rows], self.number[rows], self.node[rows])


class RunningTasks:
    """Numbers tasks as they start and gives each of them back once, in the order of finishing."""

    def __init__(self) -> None:
        nothing = np.empty(0, np.int64)
        self._running = Tasks(nothing, nothing, nothing)
        self._n_started = 0

    def start(self, finish: Integers, node: Integers) -> Tasks:
        """The new tasks, numbered in the given order."""
        new = Tasks(finish, np.arange(self._n_started, self._n_started + finish.size), node)
        self._n_started += finish.size
        old = self._running
        self._running = Tasks(
            np.concatenate([old.finish, new.finish]),
            np.concatenate([old.number, new.number]),
            np.concatenate([old.node, new.node]),
        )
        return new

    def finish_before(self, tick: int) -> Tasks:
        is_due = self._running.finish < tick
        due = self._running[is_due]
        self._running = self._running[~is_due]
        return due[np.lexsort((due.number, due.finish))]
