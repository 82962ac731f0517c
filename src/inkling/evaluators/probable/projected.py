"""Some value of a variable: the values are independent of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.evaluators.probable.ground import Mask, Numbers
from inkling.evaluators.probable.intervals import Carried, Operator, Run
from inkling.evaluators.probable.scope import Scope
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class Projected:
    """For operators that are more than a chain of states, value by value."""

    child: Operator
    variable: str
    n_stages: int

    def begun(self, scope: Scope, state: Carried | None) -> ProjectedRun:
        return ProjectedRun(self, scope, state)


class ProjectedRun:
    def __init__(self, node: Projected, scope: Scope, state: Carried | None) -> None:
        self._dtype = scope.block.ground.chance.dtype
        known = {} if state is None else {int(name): some for name, some in state["values"].items()}
        scopes = scope.divided(node.variable, range(node.n_stages))
        self._runs: dict[int, Run] = {
            value: node.child.begun(scopes.get(value, scope.nothing()), known.get(value))
            for value in sorted({*known, *scopes})
        }
        self._fresh = set(scopes) - set(known)
        self.errors = np.zeros(len(scope.times))
        self._starts: Ints = np.empty(0, np.int64) if state is None else state["starts"]

    @property
    def neglected(self) -> float:
        return sum(run.neglected for run in self._runs.values())

    def points(self, first: int, last: int) -> Numbers:
        left = np.ones(last - first, self._dtype)
        for run in self._runs.values():
            left *= 1 - run.points(first, last)
            self.errors[first:last] += run.errors[first:last]
        return 1 - left

    def possible(self, first: int, last: int) -> Mask:
        found = np.zeros(last - first, bool)
        for run in self._runs.values():
            found |= run.possible(first, last)
        return found

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        self._starts = np.concatenate([self._starts[kept], starts])
        left = np.ones((last - first, len(self._starts)), self._dtype)
        for value, run in self._runs.items():
            if value in self._fresh:  # of which nothing has happened since any start
                old = np.concatenate([np.full(len(kept), first), made]).astype(np.int64)
                left *= 1 - run.table(first, last, np.empty(0, np.int64), old, self._starts)
            else:
                left *= 1 - run.table(first, last, kept, made, starts)
        self._fresh = set()
        return 1 - left

    def carried(self) -> Carried:
        return {"values": {str(value): run.carried() for value, run in self._runs.items()}, "starts": self._starts}
