"""The protocol of evaluators: a state, and a step from one watermark to the next.

An evaluator answers some events of a program. A step ingests the checked rows of its streams up to the watermark, and
returns the matches that are known then. A batch is one step to the end of time.

    state = evaluator.start()
    state, results = evaluator.step(state, {"Door": rows}, Moment(10))  # rows up to time 10
    state, results = evaluator.step(state, {}, END)                     # no further rows

>>> from inkling.evaluators.protocol import END, Moment
>>> Moment(7).is_end, END.is_end
(False, True)
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from inkling.analysis.worlds import common_key
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage.rows.keys import Owners
from inkling.io.normalize import Normalizer
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, ProgramPlan, StreamPlan
from inkling.model.batch import FOREVER
from inkling.model.roles import Roles
from inkling.model.time import Clock, TimeUnit
from inkling.model.watermarks import NEVER
from inkling.physical.stages import Placement

Rows = Mapping[str, pa.Table]
"""Checked rows by stream; a missing stream has no rows."""

State = TypeVar("State")
Input = TypeVar("Input", contravariant=True)
Output = TypeVar("Output", covariant=True)

SPARE = 1e-9
"""The tolerance of probabilities on streams: smaller contributions are dropped, so that states stay bounded."""

OnWorlds = Callable[[int, int], None]
"""Called with the number of sampled worlds that are done, and the total."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A watermark: no further row has this time or an earlier one."""

    time: int
    roles: Mapping[str, Roles] = field(default_factory=dict)  # by stream: the roles of numbered events
    begun: int = NEVER  # the streams are read from this time on, by events that were added to a running program

    @property
    def is_end(self) -> bool:
        return self.time >= FOREVER


END = Moment(FOREVER)


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """The answer of an evaluator in batch: results by event in the public columns, and notes for the user."""

    tables: Mapping[str, pa.Table]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StartDecisions:
    """Decisions about the events of an evaluator when they begin; they do not change while the program runs."""

    placement: Placement  # of events in the stages of the evaluator
    scale: int = 1  # units of its clock per unit of the streams' clock
    compared: tuple[str, ...] = ()  # streams that are read only by patterns that compare keys


@dataclass(frozen=True, slots=True)
class EvaluatorContext:
    """What evaluators need besides the plan: table facts, the time unit, and the settings of sampling."""

    facts: Mapping[str, pa.Table]
    expressions: ExpressionContext
    unit: TimeUnit
    sampling: Any = None  # `inkling.Sampling`, or None for its defaults
    on_stream: bool = False  # states must stay bounded
    on_worlds: OnWorlds | None = None
    begun: Mapping[str, StartDecisions] = field(default_factory=dict)  # by choice, for events that run already


def no_rows(streams: Iterable[StreamPlan], clock: Clock) -> dict[str, pa.Table]:
    """Empty tables with the columns of checked rows, by stream."""
    return {
        one.schema.name: Normalizer(one.schema, [column.name for column in one.derived], clock)(pa.table({})).rows
        for one in streams
    }


class StatefulEvaluator(Protocol[State, Input, Output]):
    """Answers some events by steps over rows.

    `Input` is checked rows by stream, or rows of a stage. The results of all steps together do not depend on how the
    rows are cut into steps (`tests/kit/evaluator_laws.py` checks this and the other laws).
    """

    @property
    def events(self) -> tuple[EventPlan, ...]: ...

    @property
    def state_type(self) -> type[State]:
        """The type of states, which `inkling.evaluators.state` writes and reads."""
        ...

    @property
    def is_divisible(self) -> bool:
        """Whether states can be split by key, and merged again."""
        ...

    def start(self) -> State: ...

    def step(self, state: State, given: Input, until: Moment, /) -> tuple[State, Output]:
        """Ingests rows up to a watermark and returns the results that are known then. May change the state in place."""
        ...

    def split(self, state: State, owners: Owners) -> tuple[State, State]:
        """The state of the keys with these hashes (sorted), and the state of all other keys.

        Steps of one half change neither the other half nor the original.
        """
        ...

    def merge(self, left: State, right: State) -> State:
        """One state from two states of different keys at the same watermark."""
        ...

    def copied(self, state: State) -> State:
        """A copy of the state, which steps of the original do not change."""
        ...

    def migrated(self, state: State, before: Any, kept: Collection[str]) -> State:
        """The state of kept events, from the state of the evaluator `before` in the replaced program."""
        ...

    def n_kept(self, state: State) -> int:
        """The approximate number of rows or numbers in the state."""
        ...


class StreamEvaluator(StatefulEvaluator[State, Rows, Mapping[str, pa.Table]], Protocol[State]):
    """An evaluator of checked rows by stream, whose results have the public columns. Runners use this protocol.

    `physical.streams.time_of` names the column that decides which step ingests a row.
    """

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        """The streams that it reads."""
        ...

    def answer(self, rows: Rows) -> BatchAnswer:
        """All results over complete streams."""
        ...

    @property
    def scale(self) -> int:
        """Units of its clock per unit of the streams' clock: more than 1 if lost events lie between ticks."""
        ...

    @property
    def key(self) -> tuple[str, ...]:
        """Columns of all its streams that divide the work: no match has rows that differ in them."""
        ...

    def decided(self, state: State) -> int | None:
        """The time up to which lost events are placed; None without lost events."""
        ...

    def forgotten(self, state: State) -> int | None:
        """The time before which events of new keys are not considered any more; None if all keys are kept."""
        ...

    def open_matches(self, state: State, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """The open matches of an event at time `now`; `rows` are those up to `now` that are not ingested yet."""
        ...


class OfPart(Protocol):
    """The part of a program that one evaluator answers."""

    @property
    def part(self) -> ProgramPlan: ...

    @property
    def unit(self) -> TimeUnit: ...


class PartEvaluator:
    """The common part of evaluators of events over uncertain streams."""

    __slots__ = ()

    program: OfPart

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return self.program.part.events

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        return self.program.part.streams

    @property
    def key(self) -> tuple[str, ...]:
        return common_key(self.program.part).conclusion

    @property
    def scale(self) -> int:
        return 1

    @property
    def is_divisible(self) -> bool:
        """With a common key, unless TOP compares results of all keys."""
        return bool(self.key) and all(event.top is None for event in self.events)

    def copied(self, state: Any) -> Any:
        """The state itself: steps of most evaluators do not change states in place."""
        return state

    def decided(self, state: Any) -> int | None:
        return None

    def forgotten(self, state: Any) -> int | None:
        return None

    def complete(self, rows: Rows) -> dict[str, pa.Table]:
        """Rows of all streams; empty tables for missing ones."""
        missing = [stream for stream in self.streams if stream.schema.name not in rows]
        return {**no_rows(missing, self.program.unit.clock), **rows}
