"""A last stage that can take every event which the stage before accepts: only the latest one counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.evaluators.query.grounding import Mask, Numbers
from inkling.evaluators.query.safe.intervals import Carried, Operator
from inkling.evaluators.query.safe.scope import Scope
from inkling.evaluators.query.safe.seq import match_chances
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class Cover:
    child: Operator
    stage: int

    def begun(self, scope: Scope, state: Carried | None) -> CoverRun:
        return CoverRun(self, scope, state)


class CoverRun:
    neglected = 0.0

    def __init__(self, node: Cover, scope: Scope, state: Carried | None) -> None:
        self._kernels = scope.block.kernels
        self._match, self._taken = match_chances(scope, node.stage)
        self._child = node.child.begun(scope, None if state is None else state["child"])
        self.errors = np.zeros(len(scope.times))
        self._latest: Numbers = np.zeros(1, self._match.dtype) if state is None else state["latest"]
        self._too_low = np.zeros(1) if state is None else state["too_low"]

    def points(self, first: int, last: int) -> Numbers:
        out = np.zeros(last - first, self._match.dtype)
        satisfied = self._child.points(first, last)
        match, taken = self._match[first:last], self._taken[first:last]
        self._latest = np.array([self._kernels.covered(match, taken, satisfied, self._latest[0], out)], out.dtype)
        missing = self._child.errors[first:last]
        if missing.any() or self._too_low[0]:
            plain = (match.astype(float), taken.astype(float), missing, self._too_low[0], self.errors[first:last])
            self._too_low = np.array([self._kernels.covered(*plain)])
        return out

    def possible(self, first: int, last: int) -> Mask:
        raise NotImplementedError("what a last stage takes is known by time only")

    def table(self, first: int, last: int, kept: Ints, made: Ints, starts: Ints) -> Numbers:
        raise NotImplementedError("what a last stage takes is known by time only")

    def carried(self) -> Carried:
        return {"child": self._child.carried(), "latest": self._latest, "too_low": self._too_low}
