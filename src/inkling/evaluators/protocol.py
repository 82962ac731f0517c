"""The protocol of evaluators: a state, and a step from one moment to the next.

An evaluator answers some events of a program. It takes the checked rows of the streams that it reads, once no earlier
row can arrive, and returns their matches. A batch is one step from the start to the end of time.

>>> from inkling.evaluators.protocol import END, Moment
>>> Moment(7).is_end, END.is_end
(False, True)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from inkling.analysis.worlds import common_key
from inkling.evaluators.open_matches import OpenMatch, not_kept
from inkling.evaluators.stage.rows.keys import Owners
from inkling.io.normalize import Normalizer
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, ProgramPlan, StreamPlan
from inkling.model.batch import FOREVER
from inkling.model.roles import Roles
from inkling.model.time import Clock, TimeUnit
from inkling.physical.stages import Placement

Rows = Mapping[str, pa.Table]
"""Checked rows by stream; of a stream that is missing, none."""

State = TypeVar("State")
Input = TypeVar("Input", contravariant=True)
Output = TypeVar("Output", covariant=True)

SPARE = 1e-9
"""By how much probabilities on a stream may be off, depending on how rows were cut, so that states have a limit."""

OnWorlds = Callable[[int, int], None]
"""Is called with the number of sampled worlds that are done, and of all."""


@dataclass(frozen=True, slots=True)
class Moment:
    """How far time has come: no further row will be of `time` or before."""

    time: int
    roles: Mapping[str, Roles] = field(default_factory=dict)  # what numbered events of whole streams are called

    @property
    def is_end(self) -> bool:
        return self.time >= FOREVER


END = Moment(FOREVER)


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """Results by event in the public columns, and remarks about how they were found."""

    tables: Mapping[str, pa.Table]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StartDecisions:
    """What is decided about the events of an evaluator when they begin, and stays while other events come and go."""

    placement: Placement  # in its own stages
    scale: int = 1
    compared: tuple[str, ...] = ()  # streams of which nothing but keys is asked for


@dataclass(frozen=True, slots=True)
class EvaluatorContext:
    """What evaluators need besides the plan: facts of tables, the time unit, and how to sample where they must."""

    facts: Mapping[str, pa.Table]
    expressions: ExpressionContext
    unit: TimeUnit
    sampling: Any = None  # `inkling.Sampling`, or None for its defaults
    on_stream: bool = False  # states must not grow with the stream
    on_worlds: OnWorlds | None = None
    begun: Mapping[str, StartDecisions] = field(default_factory=dict)  # by choice, where events run already


def no_rows(streams: Iterable[StreamPlan], clock: Clock) -> dict[str, pa.Table]:
    """Tables without rows, as checked rows of the streams would have them."""
    return {
        one.schema.name: Normalizer(one.schema, [column.name for column in one.derived], clock)(pa.table({})).rows
        for one in streams
    }


class StatefulEvaluator(Protocol[State, Input, Output]):
    """Answers some events: a state, and a step that takes the state from one moment to the next.

    `Input` is what has become due since the last step: checked rows by stream, or rows of a stage. The results of all
    steps together do not depend on how the rows were cut into steps.
    """

    @property
    def events(self) -> tuple[EventPlan, ...]: ...

    @property
    def state_type(self) -> type[State]:
        """What `inkling.evaluators.state` can write and read."""
        ...

    @property
    def is_divisible(self) -> bool:
        """Whether states can be split by key, and merged again."""
        ...

    def start(self) -> State: ...

    def step(self, state: State, given: Input, until: Moment, /) -> tuple[State, Output]:
        """Takes what is due at a moment; gives the results that are known by then. May use up the state."""
        ...

    def split(self, state: State, owners: Owners) -> tuple[State, State]:
        """The state of the keys with these hashes (`stage.owners`, sorted), and the state of all other keys.

        The halves share nothing with the state that a step would change.
        """
        ...

    def merge(self, left: State, right: State) -> State:
        """One state of two that hold different keys and have come to the same moment."""
        ...

    def copied(self, state: State) -> State:
        """The same state, which steps of the original leave as it is."""
        ...

    def migrated(self, state: State, before: Any, kept: Collection[str]) -> State:
        """The state that the evaluator `before`, of another program, has left of events that are kept."""
        ...

    def n_kept(self, state: State) -> int:
        """About how many rows or numbers the state holds."""
        ...


class StreamEvaluator(StatefulEvaluator[State, Rows, Mapping[str, pa.Table]], Protocol[State]):
    """An evaluator that a runner gives checked rows by stream; its results have the public columns.

    Rows are due by `physical.streams.time_of` their stream: the step that reaches it takes them.
    """

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        """What it reads, as declared."""
        ...

    def answer(self, rows: Rows) -> BatchAnswer:
        """All results over complete streams: one step from the start to the end."""
        ...

    @property
    def scale(self) -> int:
        """How many moments of its clock make one of the streams': more than one where lost events need places."""
        ...

    @property
    def key(self) -> tuple[str, ...]:
        """Columns of all its streams that divide the work: rows that differ in them are never in one match."""
        ...

    def decided(self, state: State) -> int | None:
        """The time up to which lost events have their places; None where they need none."""
        ...

    def open_matches(self, state: State, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """What has begun and may still be completed at a moment; `rows` were not taken yet, but are up to that."""
        ...


class OfPart(Protocol):
    """Something that holds the part of a program that one evaluator answers."""

    @property
    def part(self) -> ProgramPlan: ...

    @property
    def unit(self) -> TimeUnit: ...


class PartEvaluator:
    """What evaluators of a part of a program have in common."""

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
        """TOP compares results of all keys."""
        return bool(self.key) and all(event.top is None for event in self.events)

    def copied(self, state: Any) -> Any:
        """States are never changed in place, unless an evaluator says otherwise."""
        return state

    def decided(self, state: Any) -> int | None:
        return None

    def open_matches(self, state: Any, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """Not supported, unless an evaluator keeps rows or parts."""
        raise not_kept(event, "its state holds probabilities, from which parts cannot be recovered")

    def complete(self, rows: Rows) -> dict[str, pa.Table]:
        """Rows of all streams, of some none."""
        missing = [stream for stream in self.streams if stream.schema.name not in rows]
        return {**no_rows(missing, self.program.unit.clock), **rows}
