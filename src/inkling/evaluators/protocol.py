"""What an evaluator is to the runners: a state, and a step that takes it from one moment to the next.

An evaluator answers some events of a program. It takes the checked rows of the streams that it reads, once no earlier
row can come, and gives what these rows prove. A batch is one step from the start to the end of time.

>>> from inkling.evaluators.protocol import END, Moment
>>> Moment(7).is_end, END.is_end
(False, True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from inkling.analysis.worlds import common_key
from inkling.evaluators.open_matches import OpenMatch, not_kept
from inkling.evaluators.stage.owners import Owners
from inkling.io.normalize import Normalizer
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import EventPlan, ProgramPlan, StreamPlan
from inkling.model.batch import FOREVER
from inkling.model.clock import Measure
from inkling.model.roles import Roles
from inkling.model.time import Clock
from inkling.physical.stages import Placement

Rows = Mapping[str, pa.Table]
"""Checked rows by stream; of a stream that is missing, none."""

State = TypeVar("State")

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
class Answer:
    """Results by event in the public columns, and remarks about how they were found."""

    tables: Mapping[str, pa.Table]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is decided about the events of an evaluator when they begin, and stays while other events come and go."""

    placement: Placement  # in its own stages
    scale: int = 1
    compared: tuple[str, ...] = ()  # streams of which nothing but keys is asked for


@dataclass(frozen=True, slots=True)
class Context:
    """What evaluators need besides the plan: facts of tables, the time unit, and how to sample where they must."""

    facts: Mapping[str, pa.Table]
    around: Surroundings
    measure: Measure
    sampling: Any = None  # `inkling.Sampling`, or None for its defaults
    on_stream: bool = False  # states must not grow with the stream
    on_worlds: OnWorlds | None = None
    begun: Mapping[str, Beginning] = field(default_factory=dict)  # by choice, where events run already


def no_rows(streams: Iterable[StreamPlan], clock: Clock) -> dict[str, pa.Table]:
    """Tables without rows, as checked rows of the streams would have them."""
    return {
        one.schema.name: Normalizer(one.schema, [column.name for column in one.derived], clock)(pa.table({})).rows
        for one in streams
    }


class Evaluator(Protocol):
    """Answers some events of a program."""

    @property
    def events(self) -> tuple[EventPlan, ...]: ...

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        """What it reads, as declared."""
        ...

    def answer(self, rows: Rows) -> Answer:
        """All results over complete streams: one step from the start to the end."""
        ...


class Stateful(Protocol[State]):
    """Something whose state can be kept, copied, and handed to its successor in another program."""

    @property
    def state_type(self) -> type[State]:
        """What `inkling.evaluators.state` can write and read."""
        ...

    def start(self) -> State: ...

    def copied(self, state: State) -> State:
        """The same state, which steps of the original leave as it is; a step may use up the state that it is given."""
        ...

    def migrated(self, state: State, before: Any) -> State:
        """A state that was left by who answered these events and others, which stop."""
        ...

    def n_kept(self, state: State) -> int:
        """About how many rows or numbers the state holds."""
        ...


class StreamEvaluator(Evaluator, Stateful[State], Protocol[State]):
    """An evaluator that can be taken from moment to moment.

    Rows are due by `physical.streams.time_of` their stream: the step that reaches it takes them.
    """

    @property
    def scale(self) -> int:
        """How many moments of its clock make one of the streams': more than one where lost events need places."""
        ...

    @property
    def key(self) -> tuple[str, ...]:
        """Columns of all its streams that divide the work: rows that differ in them are never in one match."""
        ...

    @property
    def is_divisible(self) -> bool:
        """Whether states can be split by the values of `key`, and merged again."""
        ...

    def step(self, state: State, rows: Rows, until: Moment) -> tuple[State, Mapping[str, pa.Table]]:
        """Takes the rows that became due since the last step; gives the results that are known by now."""
        ...

    def decided(self, state: State) -> int | None:
        """The time up to which lost events have their places; None where they need none."""
        ...

    def split(self, state: State, owners: Owners) -> tuple[State, State]:
        """The state of the keys with these hashes (`stage.owners`, sorted), and the state of all other keys."""
        ...

    def merge(self, left: State, right: State) -> State:
        """One state of two that hold different keys and have come to the same moment."""
        ...

    def open_matches(self, state: State, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """What has begun and may still be completed at a moment; `rows` were not taken yet, but are up to that."""
        ...


class OfPart(Protocol):
    """Something that holds the part of a program that one evaluator answers."""

    @property
    def part(self) -> ProgramPlan: ...

    @property
    def measure(self) -> Measure: ...


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
        """Refused, unless an evaluator keeps rows or parts."""
        raise not_kept(event, "its state holds probabilities, from which parts cannot be told any more")

    def complete(self, rows: Rows) -> dict[str, pa.Table]:
        """Rows of all streams, of some none."""
        missing = [stream for stream in self.streams if stream.schema.name not in rows]
        return {**no_rows(missing, self.program.measure.clock), **rows}
