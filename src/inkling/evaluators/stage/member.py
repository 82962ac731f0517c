"""The protocol of evaluators in a stage: they share its rows, and one may read the matches of another.

All of them see the same rows in a step. An evaluator that reads events which another one derives comes after that one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import pyarrow as pa

from inkling.analysis.bounds.lag import lag_of
from inkling.evaluators.protocol import Moment, StatefulEvaluator
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.rows.format import concatenated, split_rows
from inkling.evaluators.stage.rows.keys import Owners, is_among, owners_of
from inkling.evaluators.stage.rows.migration import RowMigration
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.batch import FOREVER, MatchBatch
from inkling.physical.plan import EventStep, Stage

SPARE_ROWS = 256
"""So many rows that cannot matter any more may stay before they are cleared away."""

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class StepInput:
    """The stage rows of one step, all of which end after `after`, and the matches of other evaluators in them."""

    rows: pa.Table
    after: int  # the time of the step before
    since: Mapping[str, int] = field(default_factory=dict)  # of events that do not see rows which end by then
    found: Mapping[str, MatchBatch] = field(default_factory=dict)  # by event


@dataclass(frozen=True, slots=True)
class StepOutput:
    """The matches of one step by event, and rows that `ORDER BY` does not distinguish from the row before."""

    matches: Mapping[str, MatchBatch]
    tied: pa.Table | None = None


class StageMember(StatefulEvaluator[State, StepInput, StepOutput], Protocol[State]):
    """An evaluator of some events of a stage."""

    @property
    def name(self) -> str:
        """Distinguishes it from the other evaluators of its stage."""
        ...


S = TypeVar("S", bound="RowsState")
E = TypeVar("E", bound="OfStep")


@dataclass(frozen=True, slots=True)
class RowsState:
    """Rows with the columns of keys, most of them stage rows that may still matter; no step changes them in place."""

    rows: pa.Table
    n_trimmed: int  # rows that were left when others were last cleared away

    def is_tidy(self, rows: pa.Table) -> bool:
        """Whether it would cost more to look through what is kept from now on than to keep all of it."""
        return len(rows) <= self.n_trimmed + self.n_trimmed // 4 + SPARE_ROWS

    def with_rows(self, rows: pa.Table) -> Self:
        """Some of the rows."""
        return replace(self, rows=rows, n_trimmed=min(self.n_trimmed, len(rows)))


class RowsEvaluator(Generic[S]):
    """What evaluators have in common that keep rows."""

    stage: Stage

    @property
    def is_divisible(self) -> bool:
        return bool(self.stage.key_types)

    def split(self, state: S, owners: Owners) -> tuple[S, S]:
        theirs, others = split_rows(state.rows, self._is_theirs(state.rows, owners))
        return state.with_rows(theirs), state.with_rows(others)

    def merge(self, left: S, right: S) -> S:
        rows = concatenated([left.rows, right.rows])
        return replace(left, rows=rows, n_trimmed=left.n_trimmed + right.n_trimmed)

    def copied(self, state: S) -> S:
        return state

    def n_kept(self, state: S) -> int:
        return len(state.rows)

    def _is_theirs(self, rows: pa.Table, owners: Owners) -> Any:
        """Whether each row is of one of these keys."""
        return is_among(owners_of(rows, len(self.stage.key_types)), owners)


@dataclass(frozen=True, slots=True)
class StageSetting:
    """What the evaluators of a stage are made from, besides the events they answer."""

    engine: StageEngine
    program: ProgramPlan
    context: ExpressionContext
    owners: bool  # whether results say whose they are

    @property
    def stage(self) -> Stage:
        return self.engine.stage

    def event(self, step: EventStep) -> Any:
        """What the plan has chosen for an event."""
        return self.engine.event(step)

    def lag(self, step: EventStep) -> int:
        """How much later than its rows an event can be decided."""
        return lag_of(step.event, self.program, self.context.unit)


class OfStep(Protocol):
    """What evaluates one event over a batch."""

    @property
    def step(self) -> EventStep: ...


@dataclass(frozen=True)
class EventEvaluator(RowsEvaluator[S], Generic[E, S]):
    """What evaluators of one event have in common."""

    stage: Stage
    event: E
    lag: int
    owners: bool  # whether results say whose they are

    @classmethod
    def of(cls, steps: Iterable[EventStep], setting: StageSetting) -> list[Self]:
        """Those of events that it takes; another evaluator has to answer the others."""
        return [
            cls(setting.stage, setting.event(step), setting.lag(step), setting.owners)
            for step in steps
            if cls.takes(step, setting)
        ]

    @staticmethod
    def takes(step: EventStep, setting: StageSetting) -> bool:
        return True

    @property
    def name(self) -> str:
        return f"event {self.events[0].name}"

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return (self.event.step.event,)

    def times(self, given: StepInput, until: Moment) -> tuple[int, int, int]:
        """The time after which rows are seen, and those after and by which what ends is to be decided."""
        since = given.since.get(self.events[0].name, -FOREVER)
        return since, behind(given.after, self.lag), behind(until.time, self.lag)

    def migrated(self, state: S, before: EventEvaluator[Any, S], kept: Collection[str]) -> S:
        rows = RowMigration.between(before.stage, self.stage, kept).rows(state.rows)
        assert len(rows) == len(state.rows), "rows of an event that is kept are kept, in the same order"
        return replace(state, rows=rows)


def behind(time: int, lag: int) -> int:
    """A time with a lag; the end of all time has none."""
    return time if time >= FOREVER else max(time - lag, -FOREVER)
