"""Where a learning program runs: in this process or on Spark; either way only sums of counts come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from inkling.evaluators.whole import run_plan
from inkling.fitting.program import LearningProgram
from inkling.fitting.refusals import Refusals
from inkling.io import Data
from inkling.io.normalize import END
from inkling.local import TakenIn, taken_in
from inkling.logical.forecasts import COUNTED
from inkling.model.time import Clock


class Run(Protocol):
    """Data that programs can be run over."""

    @property
    def clock(self) -> Clock: ...

    def earliest(self, share: float, until: int | None) -> int | None:
        """The time by which so many of the rows have ended that do so by `until`; none without rows."""
        ...

    def counts(self, program: LearningProgram, events: Sequence[str]) -> tuple[Mapping[str, pa.Table], Refusals]:
        """The counts of some events, with the columns `COUNTED`, and which rows took no part.

        Equal rows may stand there several times.
        """
        ...


@dataclass(frozen=True, slots=True)
class LocalRun:
    """In this process; rows are read once."""

    given: TakenIn
    streams: tuple[str, ...]

    @classmethod
    def of(cls, program: LearningProgram, inputs: Mapping[str, Data], tables: Mapping[str, Data] | None) -> LocalRun:
        return cls(taken_in(program, inputs, tables), program.streams)

    @property
    def clock(self) -> Clock:
        return self.given.measure.clock

    def earliest(self, share: float, until: int | None) -> int | None:
        times = np.sort(np.concatenate([self.given.sources[name][END].to_numpy() for name in self.streams]))
        if until is not None:
            times = times[: np.searchsorted(times, until, side="right")]
        return int(times[max(0, int(np.ceil(share * len(times))) - 1)]) if len(times) else None

    def counts(self, program: LearningProgram, events: Sequence[str]) -> tuple[Mapping[str, pa.Table], Refusals]:
        found = run_plan(program.physical, self.given.sources, self.given.facts, self.given.around)
        names = [column.name for column in COUNTED]
        counted = {event: pa.table({name: found[event].values[name] for name in names}) for event in events}
        return counted, Refusals.among(self.given.rejects)
