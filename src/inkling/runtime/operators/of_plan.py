"""All operators of a plan, and the way of raw rows to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.owners import buckets_of
from inkling.io.normalize import ID, Normalizer
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import ProgramPlan, StreamPlan
from inkling.model.clock import Measure
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import Marks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.streams import streams_behind, time_of
from inkling.runtime.operators.chain import OperatorChain, Routes
from inkling.runtime.operators.ledgers import LedgerOperator
from inkling.runtime.operators.protocol import LEDGERS, UNCERTAIN, Operator
from inkling.runtime.operators.revised import RevisedOperator
from inkling.runtime.operators.stage import StageOperator
from inkling.runtime.operators.uncertain import UncertainOperator
from inkling.runtime.parts import Part, divided, pieces
from inkling.runtime.registry import Maker
from inkling.runtime.revision.books import readers_of
from inkling.runtime.revision.clocks import Windows
from inkling.runtime.revision.stage import StageMachine, is_revised
from inkling.runtime.running import Running
from inkling.runtime.stage import LiveStage
from inkling.runtime.uncertain.machine import UncertainMachine


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of some raw rows of a stream."""

    parts: tuple[Part, ...]
    marks: Marks
    rejects: pa.Table


class Operators:
    """Ledgers where the past may change, the stages of certain events, then the events over uncertain streams.

    Each operator is compiled when it is first asked for.
    """

    def __init__(
        self,
        plan: PhysicalPlan,
        clocks: Mapping[str, Clock],
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        measure: Measure,
        sampling: Sampling,
        makers: Mapping[str, Maker] | None = None,
        running: Running | None = None,
    ) -> None:
        """`clocks` are those of the streams that are read; `makers` are the evaluators of another process.

        Without a program that is `running`, all events begin together.
        """
        self.plan, running = plan, running or Running.begun(plan, measure)
        self.staged, self._cohorts = running.staged, running.cohorts
        self._clocks, self._tables, self._around, self._measure = clocks, tables, around, measure
        self._sampling, self._makers = sampling, makers
        self._compiled: dict[int, Operator[Any]] = {}
        self._ingests: dict[str, Callable[[pa.Table, NDArray[np.int64] | None], Ingested]] = {}

    @property
    def addresses(self) -> tuple[int, ...]:
        """In the order in which rows pass the operators."""
        return addresses_of(self.plan, self.staged)

    def __getitem__(self, address: int) -> Operator[Any]:
        if address not in self._compiled:
            self._compiled[address] = self._made(address)
        return self._compiled[address]

    def address_of(self, event: str) -> int:
        """Of the operator that answers an event."""
        if event in self.plan.uncertain:
            return UNCERTAIN
        return next(one.number for one in self.staged.stages if any(step.event.name == event for step in one.steps))

    def is_compiled(self, address: int) -> bool:
        return address in self._compiled

    def chain(self) -> OperatorChain:
        """All operators, for one process."""
        return OperatorChain([self[address] for address in self.addresses], self.routes)

    def ingest(self, stream: str, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Ingested:
        """Check and type raw rows, and address them; `numbers` are the ids of rows that have none."""
        if stream not in self._ingests:
            self._ingests[stream] = self._ingest(stream)
        return self._ingests[stream](raw, numbers)

    @cached_property
    def routes(self) -> Routes:
        streams = self.uncertain.streams if self.plan.uncertain else {}
        return Routes(self.staged, self._tables, self._around, streams)

    @cached_property
    def uncertain(self) -> UncertainOperator:
        """What answers the events over uncertain streams."""
        common = self._tables, self._around, self._measure, self._sampling, self._makers
        return UncertainOperator(self.plan, self._cohorts, *common)

    def divided(self, part: Part, n_buckets: int) -> Iterator[tuple[int, Part]]:
        """A part cut by bucket: rows that an operator must see together are in one."""
        if not len(part.rows):
            return
        if part.stage >= 0:
            yield from divided(part, self.staged, n_buckets)
        elif part.stage == LEDGERS:
            yield from pieces(part, buckets_of(part.rows, (ID,), n_buckets))
        elif not self.uncertain.key or (self.uncertain.part.revises and _has_roles(self.uncertain.part)):
            yield 0, part
        else:
            yield from pieces(part, buckets_of(part.rows, self.uncertain.key, n_buckets))

    def _made(self, address: int) -> Operator[Any]:
        program, clock = self.plan.program, self._measure.clock
        if address == LEDGERS:
            streams = [stream for stream in program.streams if stream.schema.name in self._clocks]
            return LedgerOperator(streams, self._readers(), clock)
        if address == UNCERTAIN:
            if not program.revises:
                return self.uncertain
            (live,) = self.uncertain.live  # where the past may change, no event begins later than others
            return RevisedOperator(UNCERTAIN, UncertainMachine(live), self._uncertain_windows)
        if not is_revised(address, self.staged):
            return StageOperator(LiveStage.of(self.staged, address, self._tables, self._around), clock)
        stage = LiveStage.of(self.staged, address, self._tables, self._around, distinct=True, owners=True)
        behind = streams_behind(self.staged.stages[address], self.staged)
        windows = Windows.of(behind, self.staged.program, self._measure)
        return RevisedOperator(address, StageMachine(stage, clock), windows)

    @property
    def _uncertain_windows(self) -> Windows:
        return Windows.of(self.uncertain.streams, self.plan.program, self._measure)

    def _readers(self) -> dict[str, list[Windows]]:
        """By stream, the windows of all that read it, by which its ledger tells what comes too late."""
        readers = readers_of(self.staged, self._around)
        if self.plan.uncertain:
            for name in self.uncertain.streams:
                readers.setdefault(name, []).append(self._uncertain_windows)
        return readers

    def _ingest(self, stream: str) -> Callable[[pa.Table, NDArray[np.int64] | None], Ingested]:
        plan = self.plan.program.stream(stream)
        assert plan is not None
        normalizer, revises = normalizer_of(plan, self._clocks[stream]), self.plan.program.revises
        marks_of = self._marks(plan.schema)

        def ingest(raw: pa.Table, numbers: NDArray[np.int64] | None) -> Ingested:
            found = normalizer(raw, numbers)
            marks = marks_of(found.rows) if len(found.rows) else Marks()
            if not revises:
                return Ingested(tuple(self.routes(stream, found.rows)), marks, found.rejects)
            both = Part(LEDGERS, stream, found.rows), Part(LEDGERS, stream, found.withdrawals, withdrawn=True)
            return Ingested(tuple(part for part in both if len(part.rows)), marks, found.rejects)

        return ingest

    def _marks(self, schema: StreamSchema) -> Callable[[pa.Table], Marks]:
        """How far rows of a stream say that time has come."""
        stream, revises = schema.name, self.plan.program.revises
        if not (self.plan.uncertain and stream in self.uncertain.streams):
            time = time_of(schema)
            return lambda rows: Marks({stream: int(rows[time].to_numpy().max())})

        def marks(rows: pa.Table) -> Marks:
            found = self.uncertain.marks({stream: rows})
            return Marks(found.latest) if revises else found

        return marks


def addresses_of(plan: PhysicalPlan, staged: PhysicalPlan) -> tuple[int, ...]:
    """The operators of a plan whose certain events run in the stages of `staged`, in the order of rows."""
    first = (LEDGERS,) if plan.program.revises else ()
    last = (UNCERTAIN,) if plan.uncertain else ()
    return (*first, *(stage.number for stage in staged.stages), *last)


def normalizer_of(stream: StreamPlan, clock: Clock) -> Normalizer:
    return Normalizer(stream.schema, [column.name for column in stream.derived], clock)


def _has_roles(program: ProgramPlan) -> bool:
    """Whether rows of one key say what numbered events of others are called; going back, each bucket asks its own."""
    doubts = [stream.schema.doubt for stream in program.streams]
    return any(isinstance(doubt, LostEvents) and doubt.role is not None for doubt in doubts)
