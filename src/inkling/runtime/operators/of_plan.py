"""The operators of a plan in their order, and how raw rows of a stream reach them.

    guard (of integer times) -> changelogs (with revision) -> stage 0 -> stage 1 -> ... -> events over uncertain streams

Each operator ingests the rows with its address; its results are routed to the operators that read them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.format import concatenated
from inkling.evaluators.stage.rows.keys import buckets_of
from inkling.io.normalize import ID, LatestTime, Normalizer
from inkling.io.rejects import NO_REJECTS
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import ProgramPlan, StreamPlan
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock, TimeUnit
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import Watermarks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.streams import streams_behind, time_of
from inkling.runtime.ahead import FutureGuard
from inkling.runtime.late import NO_LATE_ROWS
from inkling.runtime.operators.changelogs import ChangelogOperator
from inkling.runtime.operators.guard import GuardOperator
from inkling.runtime.operators.protocol import Emitted, StreamOperator
from inkling.runtime.operators.revised import RevisedOperator
from inkling.runtime.operators.stage import StageOperator
from inkling.runtime.operators.uncertain import UncertainOperator
from inkling.runtime.registry import Maker
from inkling.runtime.replacement import RunningPlan
from inkling.runtime.revision.changelogs import readers_of
from inkling.runtime.revision.clocks import RevisionWindows
from inkling.runtime.revision.stage import StageMachine, is_revised
from inkling.runtime.revision.uncertain import UncertainMachine
from inkling.runtime.routing import CHANGELOGS, GUARD, UNCERTAIN, RoutedRows, Routes, divided, pieces
from inkling.runtime.stage import BufferedStage


class OperatorChain:
    """Takes rows through all operators in one process."""

    def __init__(self, operators: Sequence[StreamOperator[Any]], routes: Routes) -> None:
        self.operators, self.routes = operators, routes

    def start(self) -> tuple[Any, ...]:
        return tuple(operator.start() for operator in self.operators)

    def step(
        self, states: Sequence[Any], parts: Iterable[RoutedRows], watermarks: Watermarks
    ) -> tuple[tuple[Any, ...], Emitted]:
        """Every operator ingests its parts and the watermarks."""
        parts = list(parts)
        after, emitted = [], []
        for operator, before in zip(self.operators, states, strict=True):
            state, one = operator.step(before, [part for part in parts if part.stage == operator.address], watermarks)
            after.append(state)
            emitted.append(one)
            for sent in one.onward:
                parts += self.routes(sent.source, sent.rows, withdrawn=sent.withdrawn)
        return tuple(after), _merged(emitted)


def _merged(emitted: Sequence[Emitted]) -> Emitted:
    return Emitted(
        concatenated([NO_LATE_ROWS, *(one.late for one in emitted)]),
        concatenated([NO_REJECTS, *(one.rejects for one in emitted)]),
        {name: found for one in emitted for name, found in one.matches.items()},
        {name: table for one in emitted for name, table in one.tables.items()},
    )


@dataclass(frozen=True, slots=True)
class Ingested:
    """Raw rows of a stream after checks: parts for operators, watermarks and rejects."""

    parts: tuple[RoutedRows, ...]
    watermarks: Watermarks
    rejects: pa.Table
    newest: int | None = None  # the latest time of the accepted rows


Credible: TypeAlias = Callable[[NDArray[np.int64]], LatestTime | None] | None
Ingest: TypeAlias = Callable[[pa.Table, NDArray[np.int64] | None, Credible], Ingested]


class Operators:
    """Changelogs where rows may be withdrawn, the stages of certain events, then the events over uncertain streams.

    Each operator is compiled when it is first asked for.
    """

    def __init__(
        self,
        plan: PhysicalPlan,
        clocks: Mapping[str, Clock],
        tables: Mapping[str, pa.Table],
        context: ExpressionContext,
        unit: TimeUnit,
        sampling: Sampling,
        makers: Mapping[str, Maker] | None = None,
        running: RunningPlan | None = None,
        guards: Mapping[str, FutureGuard] | None = None,
    ) -> None:
        """`clocks`: by stream that is read; `makers`: the registry of evaluators of another process.

        `running`: where the events of a running program are; without it, all events begin now.
        `guards`: of the streams whose rows pass an operator that rejects rows of the far future; None without one.
        """
        self.plan, running = plan, running or RunningPlan.begun(plan, unit)
        self.staged, self._cohorts = running.staged, running.cohorts
        self._clocks, self._tables, self._context, self._unit = clocks, tables, context, unit
        self._sampling, self._makers = sampling, makers
        self._guards = guards
        self._compiled: dict[int, StreamOperator[Any]] = {}
        self._ingests: dict[str, Ingest] = {}

    @property
    def addresses(self) -> tuple[int, ...]:
        """The addresses of the operators in the order of the chain."""
        return addresses_of(self.plan, self.staged, is_guarded=self._guards is not None)

    def __getitem__(self, address: int) -> StreamOperator[Any]:
        if address not in self._compiled:
            self._compiled[address] = self._made(address)
        return self._compiled[address]

    @property
    def stages(self) -> tuple[BufferedStage, ...] | None:
        """The stages of certain events, if the program has no other operators."""
        operators = [self[address] for address in self.addresses]
        stages = tuple(one.stage for one in operators if isinstance(one, StageOperator))
        return stages if len(stages) == len(operators) else None

    def address_of(self, event: str) -> int:
        """The address of the operator that answers an event."""
        if event in self.plan.uncertain:
            return UNCERTAIN
        return next(one.number for one in self.staged.stages if any(step.event.name == event for step in one.steps))

    def is_compiled(self, address: int) -> bool:
        return address in self._compiled

    def chain(self) -> OperatorChain:
        """All operators, for one process."""
        return OperatorChain([self[address] for address in self.addresses], self.routes)

    def ingest(
        self, stream: str, raw: pa.Table, numbers: NDArray[np.int64] | None = None, credible: Credible = None
    ) -> Ingested:
        """Check and type raw rows, and address them.

        `numbers` are the ids of rows that have none; `credible` gives the limit of times, if one of them is beyond it.
        """
        if stream not in self._ingests:
            self._ingests[stream] = self._ingest(stream)
        return self._ingests[stream](raw, numbers, credible)

    @cached_property
    def routes(self) -> Routes:
        streams = self.uncertain.streams if self.plan.uncertain else {}
        return Routes(self.staged, self._tables, self._context, streams)

    @cached_property
    def uncertain(self) -> UncertainOperator:
        """The operator of the events over uncertain streams."""
        common = self._tables, self._context, self._unit, self._sampling, self._makers
        return UncertainOperator(self.plan, self._cohorts, *common)

    def divided(self, part: RoutedRows, n_buckets: int) -> Iterator[tuple[int, RoutedRows]]:
        """A part split by bucket; co-partitioned rows are in one bucket."""
        if not len(part.rows):
            return
        if part.stage >= 0:
            yield from divided(part, self.staged, n_buckets)
        elif part.stage in (CHANGELOGS, GUARD):
            yield from pieces(part, buckets_of(part.rows, (ID,), n_buckets))
        elif not self.uncertain.key or (self.uncertain.part.revises and _has_roles(self.uncertain.part)):
            yield 0, part
        else:
            yield from pieces(part, buckets_of(part.rows, self.uncertain.key, n_buckets))

    def _made(self, address: int) -> StreamOperator[Any]:
        program, clock = self.plan.program, self._unit.clock
        if address == GUARD:
            return GuardOperator({one.schema.name: one.schema for one in program.streams}, self._guards or {})
        if address == CHANGELOGS:
            streams = [stream for stream in program.streams if stream.schema.name in self._clocks]
            return ChangelogOperator(streams, self._readers(), clock)
        if address == UNCERTAIN:
            if not program.revises:
                return self.uncertain
            (live,) = self.uncertain.live  # programs with revision have one cohort
            return RevisedOperator(UNCERTAIN, UncertainMachine(live), self._uncertain_windows)
        if not is_revised(address, self.staged):
            return StageOperator(BufferedStage(self.staged, address, self._tables, self._context), clock)
        stage = BufferedStage(self.staged, address, self._tables, self._context, distinct=True, owners=True)
        behind = streams_behind(self.staged.stages[address], self.staged)
        windows = RevisionWindows.of(behind, self.staged.program, self._unit)
        return RevisedOperator(address, StageMachine(stage, clock), windows)

    @property
    def _uncertain_windows(self) -> RevisionWindows:
        return RevisionWindows.of(self.uncertain.streams, self.plan.program, self._unit)

    def _readers(self) -> dict[str, list[RevisionWindows]]:
        """By stream, the windows of its readers, by which its changelog recognizes late rows."""
        readers = readers_of(self.staged, self._context)
        if self.plan.uncertain:
            for name in self.uncertain.streams:
                readers.setdefault(name, []).append(self._uncertain_windows)
        return readers

    def _ingest(self, stream: str) -> Ingest:
        plan = self.plan.program.stream(stream)
        assert plan is not None
        normalizer, revises = normalizer_of(plan, self._clocks[stream]), self.plan.program.revises
        watermarks_of, time = self._watermarks_of(plan.schema), time_of(plan.schema)
        guard = (self._guards or {}).get(stream)

        def ingest(raw: pa.Table, numbers: NDArray[np.int64] | None, credible: Credible) -> Ingested:
            found = normalizer(raw, numbers)
            if credible is not None and (limit := credible(found.rows[time].to_numpy())) is not None:
                found = normalizer.up_to(limit, raw, numbers)
            newest = int(found.rows[time].to_numpy().max()) if len(found.rows) else None
            watermarks = watermarks_of(found.rows) if len(found.rows) else Watermarks()
            if guard is not None and len(found.rows):
                chains = tuple(guard.chains(found.rows[time].to_numpy()))
                watermarks = replace(watermarks, latest={}, chains={stream: chains})
                parts = [RoutedRows(GUARD, stream, found.rows)]
            else:
                parts = self.admitted(stream, found.rows)
            if revises:
                parts.append(RoutedRows(CHANGELOGS, stream, found.withdrawals, withdrawn=True))
            return Ingested(tuple(part for part in parts if len(part.rows)), watermarks, found.rejects, newest)

        return ingest

    def admitted(self, stream: str, rows: pa.Table) -> list[RoutedRows]:
        """Checked rows of a stream, for the operators that read it."""
        if self.plan.program.revises:
            return [RoutedRows(CHANGELOGS, stream, rows)]
        return list(self.routes(stream, rows))

    def _watermarks_of(self, schema: StreamSchema) -> Callable[[pa.Table], Watermarks]:
        """The function that gives the watermarks of rows of a stream."""
        stream, revises = schema.name, self.plan.program.revises
        if not (self.plan.uncertain and stream in self.uncertain.streams):
            time = time_of(schema)
            return lambda rows: Watermarks({stream: int(rows[time].to_numpy().max())})

        def watermarks(rows: pa.Table) -> Watermarks:
            found = self.uncertain.watermarks({stream: rows})
            return Watermarks(found.latest) if revises else found

        return watermarks


def addresses_of(plan: PhysicalPlan, staged: PhysicalPlan, *, is_guarded: bool = False) -> tuple[int, ...]:
    """The operators of a plan whose certain events run in the stages of `staged`, in the order of rows."""
    guard = (GUARD,) if is_guarded else ()
    first = (CHANGELOGS,) if plan.program.revises else ()
    last = (UNCERTAIN,) if plan.uncertain else ()
    return (*guard, *first, *(stage.number for stage in staged.stages), *last)


def normalizer_of(stream: StreamPlan, clock: Clock) -> Normalizer:
    return Normalizer(stream.schema, [column.name for column in stream.derived], clock)


def _has_roles(program: ProgramPlan) -> bool:
    """Whether the roles of numbered events come from rows of other keys; in a replay, all keys must share a bucket."""
    uncertainties = [stream.schema.uncertainty for stream in program.streams]
    return any(isinstance(uncertainty, LostEvents) and uncertainty.role is not None for uncertainty in uncertainties)
