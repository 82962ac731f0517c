"""A streaming query without Spark: intake, changelogs and stages of a job, bucket by bucket, in this process."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Row

from inkling.analysis.clock import time_unit
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.state import table_of
from inkling.knowledge.materialize import expression_context, known
from inkling.model.time import Clock
from inkling.model.watermarks import NEVER, Watermarks
from inkling.physical.plan import PhysicalPlan
from inkling.runtime.ahead import guards_of_ticks
from inkling.runtime.replacement import RunningPlan
from inkling.spark.streaming.intake import IntakeTask, watermark_messages
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import Message, MessageKind
from inkling.spark.streaming.operator import as_row
from inkling.spark.streaming.processor import _operator_of

Rows = dict[str, list[dict[str, Any]]]


class _Kept:
    """What Spark keeps for a bucket."""

    def __init__(self) -> None:
        self._value: tuple[Any, ...] | None = None

    def get(self) -> tuple[Any, ...] | None:
        return self._value

    def update(self, value: tuple[Any, ...]) -> None:
        self._value = value


def job_of(
    plan: PhysicalPlan,
    tables: Mapping[str, pa.Table] | None = None,
    n_buckets: int = 3,
    *,
    number: int = 0,
    sampling: Sampling | None = None,
    ahead: str | None = None,
) -> Job:
    """What the workers of a query would be given, whose streams are in ticks."""
    clocks = {stream.schema.name: Clock.TICKS for stream in plan.program.streams}
    unit = time_unit(plan.program, clocks)
    facts = known(plan.program, tables or {}, unit)
    context = expression_context(facts, unit)
    running = RunningPlan.begun(plan, unit)
    guards = guards_of_ticks(plan.program, clocks, ahead) or None
    job = Job.of(plan, running, clocks, facts, context, unit.clock, n_buckets, sampling or Sampling(), guards)
    return replace(job, definition=number)


class InProcess:
    """Micro-batches of a job; a message meets others of its bucket in any order."""

    def __init__(self, job: Job, seed: int = 0) -> None:
        self.job, self._rng = job, random.Random(seed)
        self.states: list[dict[str, Any]] = []  # what buckets say about themselves
        self._states: list[dict[int, _Kept]] = [{} for _ in range(job.n_operators)]

    def push(self, rows: Mapping[str, pa.Table], watermarks: Watermarks | None = None, *, n_readers: int = 1) -> Rows:
        """The outputs of one micro-batch, by name; each of some readers has a share of the rows."""
        shares = [
            (name, table.take(pa.array(range(at, len(table), n_readers), pa.int64())))
            for name, table in rows.items()
            for at in range(n_readers)
        ]
        messages = [message for name, share in shares for message in self._ingested(name, share)]
        if watermarks is not None:
            messages += map(as_row, watermark_messages(self.job, watermarks))
        for number, states in enumerate(self._states):
            messages = list(self._handled(number, states, messages))
        if messages:
            self.states = [
                json.loads(message.payload) for message in messages if MessageKind(message.kind) is MessageKind.STATE
            ]
        return told_by(self.job.event_names, messages)

    @property
    def watermark(self) -> int:
        """The time up to which all buckets have told what they know."""
        return min((int(state["watermark"]) for state in self.states), default=NEVER)

    def finish(self) -> Rows:
        return self.push({}, Watermarks(finished=True))

    def go_on_as(self, job: Job) -> None:
        """Another definition takes over what is kept."""
        self.job = job

    def _ingested(self, name: str, table: pa.Table) -> Iterator[Row]:
        task = IntakeTask(self.job, name, tuple(table.column_names))
        for batch in task(iter(table.to_batches())):
            for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield as_row(Message(*values))

    def _handled(self, number: int, states: dict[int, _Kept], messages: Iterable[Row]) -> Iterator[Row]:
        operator = _operator_of(self.job, number)
        buckets: dict[int, list[Row]] = {}
        for message in messages:
            buckets.setdefault(message.bucket, []).append(message)
        for bucket, mine in buckets.items():
            self._rng.shuffle(mine)
            yield from operator.handled(bucket, iter(mine), states.setdefault(bucket, _Kept()))  # type: ignore[arg-type]


def told_by(event_names: Sequence[str], messages: Iterable[Row]) -> Rows:
    """Results, late rows and rejects that messages hold."""
    found: Rows = {}
    for message in messages:
        kind = MessageKind(message.kind)
        if kind in (MessageKind.RESULTS, MessageKind.LATE, MessageKind.REJECTS):
            name = event_names[message.about] if kind is MessageKind.RESULTS else kind.name.lower()
            found.setdefault(name, []).extend(table_of(message.payload).to_pylist())
    return found
