"""The protocol of evaluators in a stage, and the common parts of those that keep rows.

All evaluators of a stage get the same rows in a step, in order; an evaluator may read the matches of earlier ones.
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
"""The number of unneeded rows that a state may hold before they are cleared."""

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class StepInput:
    """The stage rows of one step, and the matches that earlier evaluators have found in them."""

    rows: pa.Table
    after: int  # the watermark of the last step; all rows end after it
    since: Mapping[str, int] = field(default_factory=dict)  # by event: rows that end by this time are ignored
    found: Mapping[str, MatchBatch] = field(default_factory=dict)  # by event


@dataclass(frozen=True, slots=True)
class StepOutput:
    """The matches of one step by event, and rows that ORDER BY leaves unordered with the row before."""

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
    """Rows, with key columns, that later matches may need; not changed in place."""

    rows: pa.Table
    n_trimmed: int  # the number of rows after the last clearing

    def is_tidy(self, rows: pa.Table) -> bool:
        """Whether there are too few new rows to make clearing worthwhile."""
        return len(rows) <= self.n_trimmed + self.n_trimmed // 4 + SPARE_ROWS

    def with_rows(self, rows: pa.Table) -> Self:
        """The state with some of its rows."""
        return replace(self, rows=rows, n_trimmed=min(self.n_trimmed, len(rows)))


class RowsEvaluator(Generic[S]):
    """The common part of evaluators that keep rows."""

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
        """Whether each row has one of these keys."""
        return is_among(owners_of(rows, len(self.stage.key_types)), owners)


@dataclass(frozen=True, slots=True)
class StageSetting:
    """What the evaluators of a stage are built from, besides the events that they answer."""

    engine: StageEngine
    program: ProgramPlan
    context: ExpressionContext
    owners: bool  # whether matches have the hashes of their keys

    @property
    def stage(self) -> Stage:
        return self.engine.stage

    def event(self, step: EventStep) -> Any:
        return self.engine.event(step)

    def lag(self, step: EventStep) -> int:
        """How long after its rows an event can be decided, in units of the clock."""
        return lag_of(step.event, self.program, self.context.unit)


class OfStep(Protocol):
    """A compiled event."""

    @property
    def step(self) -> EventStep: ...


@dataclass(frozen=True)
class EventEvaluator(RowsEvaluator[S], Generic[E, S]):
    """The common part of evaluators of a single event that keep rows."""

    stage: Stage
    event: E
    lag: int
    owners: bool  # whether matches have the hashes of their keys

    @classmethod
    def of(cls, steps: Iterable[EventStep], setting: StageSetting) -> list[Self]:
        """One evaluator per event that it takes; the network answers the others."""
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
        """The time up to which rows are ignored.

        And the times after which, and by which, ends are decided in this step.
        """
        since = given.since.get(self.events[0].name, -FOREVER)
        return since, behind(given.after, self.lag), behind(until.time, self.lag)

    def migrated(self, state: S, before: EventEvaluator[Any, S], kept: Collection[str]) -> S:
        rows = RowMigration.between(before.stage, self.stage, kept).rows(state.rows)
        assert len(rows) == len(state.rows), "all rows of a kept event are kept, in the same order"
        return replace(state, rows=rows)


def behind(time: int, lag: int) -> int:
    """A time minus a lag; `FOREVER` has no lag."""
    return time if time >= FOREVER else max(time - lag, -FOREVER)
