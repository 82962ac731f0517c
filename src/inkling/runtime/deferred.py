"""Rows that are pushed one by one: a row that decides nothing is deferred until a later one does.

A step over one row costs as much as a step over a thousand. A row decides something if the clock, which it moves,
reaches a row that may complete a match, or one that may be a duplicate. Until then, rows that no event reads only move
the clocks, and other rows are kept as Python values. Rows that need more than that take a step of their own, as do all
rows of a program in which time alone may decide a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.row_tests import passing
from inkling.evaluators.stage.rows.single_tests import RowTest, all_may, any_may, may_hold
from inkling.io.single_rows import Row, SingleRows
from inkling.logical.plan import StreamPlan
from inkling.model.time import Clock
from inkling.model.watermarks import NEVER
from inkling.physical.plan import Input, LeafTest
from inkling.runtime.ahead import FutureGuard, now_us
from inkling.runtime.buffered import BufferedState
from inkling.runtime.stage import BufferedStage

MOST_ROWS = 1024
"""More rows are not deferred, so that no push has to make up for too many of them."""

Identity: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Deferred:
    """Rows that were deferred, and the latest times of their streams; `n_read` and `newest` as in the state."""

    rows: Mapping[str, pa.Table]
    latest: Mapping[str, int]
    n_read: Mapping[str, int]
    newest: Mapping[str, int]


class StageClock:
    """The watermark of a stage, and the times at which it must be evaluated."""

    def __init__(self, stage: BufferedStage) -> None:
        self._stage, self._lateness = stage, stage.lateness
        self.watermark = NEVER
        self.has_idle = False  # whether some streams do not count for the watermark
        self._complete: dict[str, int] = {}
        self._due: list[int] = []  # a heap
        self._seen: set[Identity] = set()
        self._unknown = NEVER  # rows up to this time may have been buffered before

    def begin(self, state: BufferedState) -> None:
        """Continue from the state of the stage."""
        clocks, waiting = state.clocks, state.waiting[r.STAGE_ROWS]
        self.watermark, self.has_idle = clocks.watermark, bool(clocks.idle)
        self._lateness = clocks.lateness
        latest = {name: time for name, time in clocks.latest.items() if name in self._lateness}
        self._complete = {name: self._up_to(name, time) for name, time in latest.items()}
        ends = waiting[r.END].to_numpy()
        self._unknown = int(ends.max()) if len(ends) else NEVER
        closing = self._stage.evaluator.closing
        if len(waiting) == 1 and closing is not None:
            ends = ends[passing(waiting, closing)]
        self._due, self._seen = np.sort(ends).tolist(), set()

    def expect(self, end: int, rows: Iterable[Identity], *, closes: bool) -> None:
        """A row is buffered under some keys; it is due if it may complete a match, or repeat another row."""
        again = end <= self._unknown
        for identity in rows:
            again |= identity in self._seen
            self._seen.add(identity)
        if closes or again:
            heappush(self._due, end)

    def move(self, stream: str, time: int) -> bool:
        """Whether the stage must be evaluated now that a row of a stream has this time."""
        complete = self._complete
        complete[stream] = max(complete.get(stream, NEVER), self._up_to(stream, time))
        if len(complete) == len(self._lateness):
            self.watermark = max(self.watermark, min(complete.values()))
        return bool(self._due) and self._due[0] <= self.watermark

    def evaluated(self) -> None:
        """The stage was evaluated up to the watermark."""
        while self._due and self._due[0] <= self.watermark:
            heappop(self._due)
        self._seen = {identity for identity in self._seen if identity[0] > self.watermark}

    def _up_to(self, stream: str, time: int) -> int:
        return time - self._lateness[stream] - 1


@dataclass(frozen=True, slots=True)
class InputGate:
    """What an input of a stage does with a row: whether it may read it, and whether the row may complete a match."""

    keep: RowTest | None
    closing: RowTest | None
    key: tuple[int, ...]

    @classmethod
    def of(cls, number: int, given: Input, closing: Iterable[LeafTest], rows: SingleRows) -> InputGate:
        conditions = {bit.number: bit.expr for bit in given.early}
        tests = [
            all_may([may_hold(conditions[bit], rows.place_of) for bit in leaf.bits if bit in conditions])
            for leaf in closing
            if number in leaf.inputs
        ]
        keep = None if given.keep is None else may_hold(given.keep, rows.place_of)
        key = [rows.place_of(column) for column in given.key]
        return cls(keep, any_may(tests), tuple(place for place in key if place is not None))


@dataclass(frozen=True, slots=True)
class StageGate:
    """The inputs of a stage that read a stream, and the clock of the stage."""

    clock: StageClock
    inputs: tuple[InputGate, ...]

    @classmethod
    def of(cls, clock: StageClock, stage: BufferedStage, stream: str, rows: SingleRows) -> StageGate | None:
        """None if not only rows decide the results of the stage."""
        closing = stage.evaluator.closing
        if closing is None:
            return None
        numbered = enumerate(stage.stage.inputs)
        return cls(
            clock,
            tuple(InputGate.of(number, given, closing, rows) for number, given in numbered if given.source == stream),
        )

    def reads(self, row: Row, end: int) -> bool:
        """Whether an event of the stage may read the row; the stage expects it."""
        readers = [one for one in self.inputs if one.keep is None or one.keep(row)]
        if readers:
            closes = any(one.closing is None or one.closing(row) for one in readers)
            identities = {(end, *[row[place] for place in one.key]) for one in readers}
            self.clock.expect(end, identities, closes=closes)
        return bool(readers)


@dataclass(frozen=True, slots=True)
class StreamGate:
    """The stages whose clocks the rows of a stream move."""

    rows: SingleRows
    stages: tuple[StageGate, ...]
    guard: FutureGuard | None


class DeferredRows:
    """Defers rows of some streams, which only stages of certain events read."""

    def __init__(
        self,
        stages: Sequence[BufferedStage],
        streams: Iterable[StreamPlan],
        clock: Clock,
        guards: Mapping[str, FutureGuard],
    ) -> None:
        self._stages = tuple(stages)
        self._clocks = tuple(map(StageClock, self._stages))
        self._gates = {
            stream.schema.name: gate
            for stream in streams
            if (gate := self._gate(stream, clock, guards.get(stream.schema.name))) is not None
        }
        self._is_current = False
        self._n_read: dict[str, int] = {}
        self._newest: dict[str, int] = {}
        self._latest: dict[str, int] = {}
        self._rows: dict[str, list[Row]] = {}
        self._n_rows = 0

    @property
    def is_empty(self) -> bool:
        """Whether all rows are in the states of the operators."""
        return not self._latest

    def outdated(self) -> None:
        """The states of the operators were changed in another way."""
        assert self.is_empty, "deferred rows come first"
        self._is_current = False

    def begin(self, states: Iterable[BufferedState], n_read: Mapping[str, int], newest: Mapping[str, int]) -> None:
        """Continue from the states of the operators, if they have changed."""
        if not self._is_current and self._gates:
            for one, state in zip(self._clocks, states, strict=True):
                one.begin(state)
            self._n_read, self._newest, self._is_current = dict(n_read), dict(newest), True

    def take(self, stream: str, given: Mapping[str, Any]) -> bool | None:
        """Takes a row; returns whether it decides something, or None if it takes a step of its own."""
        gate, newest = self._gates.get(stream), self._newest.get(stream)
        if gate is None or newest is None:
            return None
        number = self._n_read[stream] + 1
        row = gate.rows(given, number)
        if row is None:
            return None
        end = row[gate.rows.end]
        if gate.guard is not None and end > self._credible(gate.guard, newest):
            return None
        for one in gate.stages:
            if end <= one.clock.watermark or one.clock.has_idle:
                return None
        self._n_read[stream] = number
        self._latest[stream] = max(end, self._latest.get(stream, end))
        self._newest[stream] = max(end, newest)
        is_read = decides = False
        for one in gate.stages:
            is_read |= one.reads(row, end)
            decides |= one.clock.move(stream, end)
        if is_read:
            self._rows.setdefault(stream, []).append(row)
            self._n_rows += 1
        return decides or self._n_rows >= MOST_ROWS

    def deferred(self) -> Deferred:
        """All deferred rows."""
        tables = {name: self._gates[name].rows.table(rows) for name, rows in self._rows.items()}
        return Deferred(tables, self._latest, dict(self._n_read), dict(self._newest))

    def ingested(self) -> None:
        """The operators have ingested all deferred rows."""
        for clock in self._clocks:
            clock.evaluated()
        self._rows, self._latest, self._n_rows = {}, {}, 0

    def _credible(self, guard: FutureGuard, newest: int) -> int:
        return (newest if guard.clock is Clock.TICKS else now_us()) + guard.ahead

    def _gate(self, stream: StreamPlan, clock: Clock, guard: FutureGuard | None) -> StreamGate | None:
        """None if rows of the stream always take steps."""
        name, derived = stream.schema.name, [column.name for column in stream.derived]
        rows = SingleRows.of(stream.schema, derived, clock)
        if rows is None:
            return None
        moved = [one for one in zip(self._clocks, self._stages, strict=True) if name in one[1].lateness]
        gates = [StageGate.of(*one, name, rows) for one in moved]
        known = tuple(gate for gate in gates if gate is not None)
        return StreamGate(rows, known, guard) if len(known) == len(gates) else None
