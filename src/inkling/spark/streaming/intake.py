"""The stateless half of a streaming query: raw rows become messages to the buckets that keep their keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from inkling.live.clocks import Marks
from inkling.live.parts import Part, divided
from inkling.live.snapshot import table_bytes
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import EVERY_STAGE, Kind, Message, marks_of, marks_payload, record_batch

ROWS_AT_ONCE = 1 << 20
ROW_BITS, TASK_BITS = 27, 10
"""Rows without an id are numbered by their task and their place in it, and then by the step that takes them in."""


@dataclass(frozen=True, slots=True)
class IntakeTask:
    """Checks, types and divides the rows of one stream, on the worker that read them."""

    job: Job
    stream: str
    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        first = (context.partitionId() if context else 0) << ROW_BITS
        marks = []
        for raw in _gathered(batches, self.columns):
            fed = self.job.feed(self.stream)(raw, np.arange(first, first + len(raw)))
            first += len(raw)
            marks.append(fed.marks)
            messages = [message for part in fed.parts for message in part_messages(self.job, part)]
            if len(fed.rejects):
                payload = table_bytes(fed.rejects)
                messages.append(Message(0, 0, Kind.REJECTS, 0, len(fed.rejects), payload))
            yield from record_batch(messages)
        if marks:
            yield from record_batch(mark_messages(self.job, Marks.together(marks)))


@dataclass(frozen=True, slots=True)
class ControlTask:
    """Tells every bucket what was said about time."""

    job: Job

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for line in batch.column(0).to_pylist():
                yield from record_batch(mark_messages(self.job, marks_of(line)))


def part_messages(job: Job, part: Part) -> Iterator[Message]:
    """A part as messages to the buckets of its stage."""
    kind = Kind.ROWS if part.stream is None else Kind.RAW
    about = 0 if part.stream is None else job.stream_names.index(part.stream)
    for bucket, piece in divided(part, job.plan, job.n_buckets):
        yield Message(part.stage, bucket, kind, about, len(piece.rows), table_bytes(piece.rows))


def mark_messages(job: Job, marks: Marks) -> Iterator[Message]:
    payload = marks_payload(marks)
    for bucket in range(job.n_buckets):
        yield Message(EVERY_STAGE, bucket, Kind.MARKS, 0, 1, payload)


def _gathered(batches: Iterator[pa.RecordBatch], columns: tuple[str, ...]) -> Iterator[pa.Table]:
    """Larger tables: what has to be done per table is then done less often."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= ROWS_AT_ONCE:
            yield pa.Table.from_batches(held).rename_columns(list(columns))
            held = []
    if held:
        yield pa.Table.from_batches(held).rename_columns(list(columns))
