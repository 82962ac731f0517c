"""The stateless half of a streaming query: raw rows become messages to the buckets of their keys."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import TaskContext

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import source_numbers
from inkling.evaluators.state import table_bytes
from inkling.io.normalize import LatestTime
from inkling.io.rejects import Reason
from inkling.model.watermarks import Watermarks
from inkling.runtime.ahead import FutureGuard
from inkling.runtime.routing import RoutedRows
from inkling.spark.streaming.failures import in_place
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import (
    EVERY_STAGE,
    Message,
    MessageKind,
    kind_of_rows,
    reason_messages,
    record_batch,
    watermarks_of,
    watermarks_payload,
)

ROWS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class IntakeTask:
    """Checks and types the rows of one stream and splits them by bucket, on the worker that read them.

    With a guard, the last column has the time at which the micro-batch began. Spark writes it to the checkpoint, so a
    repeated micro-batch rejects the same rows.
    """

    job: Job
    stream: str
    columns: tuple[str, ...]
    reader: Callable[[pa.Table], Iterator[pa.Table]] | None = None  # None if Spark reads rows already
    guard: FutureGuard | None = None
    _began_us: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with in_place(f"the intake of `{self.stream}`"):
            yield from self._ingested(batches)

    def _ingested(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        first = (context.partitionId() if context else 0) << ROW_BITS
        watermarks, n_read, n_rejected, n_ahead = [], 0, 0, 0
        for raw in _gathered(self._tables(batches)):
            numbers = np.arange(first, first + len(raw))
            ingested = self.job.operators().ingest(self.stream, raw, numbers, self._credible)
            first += len(raw)
            n_read, n_rejected = n_read + len(raw), n_rejected + len(ingested.rejects)
            too_far = pc.equal(ingested.rejects["reason"], Reason.TOO_FAR_AHEAD.value)
            n_ahead += pc.sum(too_far).as_py() or 0
            watermarks.append(ingested.watermarks)
            messages = [message for part in ingested.parts for message in part_messages(self.job, part)]
            if len(ingested.rejects):
                payload = table_bytes(ingested.rejects)
                messages.append(Message(0, 0, MessageKind.REJECTS, 0, len(ingested.rejects), payload))
                messages += reason_messages(0, 0, ingested.rejects)
            yield from record_batch(messages)
        if watermarks:
            yield from record_batch(watermark_messages(self.job, Watermarks.merged(watermarks)))
        if n_read:
            yield from record_batch([self._read_message(n_read, n_read - n_rejected, n_ahead)])

    def _credible(self, times: NDArray[np.int64]) -> LatestTime | None:
        return None if self.guard is None else self.guard.limit(times, None, self._began_us[0])

    def _tables(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            if self.guard is not None:
                if len(table):
                    self._began_us[:] = [table.column(len(self.columns))[0].as_py()]
                table = table.select(range(len(self.columns)))
            table = table.rename_columns(list(self.columns))
            yield from (table,) if self.reader is None else self.reader(table)

    def _read_message(self, n_read: int, n_good: int, n_ahead: int) -> Message:
        about = self.job.stream_names.index(self.stream)
        payload = json.dumps({"good": n_good, "ahead": n_ahead}).encode()
        return Message(0, 0, MessageKind.READ, about, n_read, payload)


def control_messages(job: Job, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The watermarks, to every bucket."""
    for batch in batches:
        for line in batch.column(0).to_pylist():
            yield from record_batch(watermark_messages(job, watermarks_of(line)))


def part_messages(job: Job, part: RoutedRows) -> Iterator[Message]:
    """A part as messages to the buckets of its stage."""
    kind = kind_of_rows(of_stream=part.stream is not None, withdrawn=part.withdrawn)
    about = 0 if part.stream is None else job.stream_names.index(part.stream)
    for bucket, piece in job.operators().divided(part, job.n_buckets):
        yield Message(part.stage, bucket, kind, about, len(piece.rows), table_bytes(piece.rows))


def watermark_messages(job: Job, watermarks: Watermarks) -> Iterator[Message]:
    payload = watermarks_payload(watermarks)
    for bucket in range(job.n_buckets):
        yield Message(EVERY_STAGE, bucket, MessageKind.WATERMARKS, 0, 1, payload)


def _gathered(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in larger tables, to save the cost per table."""
    held: list[pa.Table] = []
    for table in tables:
        # files of one folder need not agree on types
        if held and (sum(map(len, held)) >= ROWS_AT_ONCE or table.schema != held[0].schema):
            yield pa.concat_tables(held)
            held = []
        held.append(table)
    if held:
        yield pa.concat_tables(held)


ROW_BITS, TASK_BITS = 27, 10


def shifted(rows: pa.Table, steps: int, inputs: Iterable[int] | None = None) -> pa.Table:
    """Rows with ids that are unique over all micro-batches; with `inputs`, only rows of these inputs change."""
    ids = rows[r.ID].combine_chunks()
    if pa.types.is_integer(ids.type):
        moved = pc.add(ids, steps << (ROW_BITS + TASK_BITS))
    else:
        moved = pc.binary_join_element_wise(str(steps), ids, ".")
    if inputs is not None:
        chosen = pc.is_in(pa.array(source_numbers(rows)), value_set=pa.array(list(inputs), pa.int16()))
        moved = pc.if_else(chosen, moved, ids)
    return rows.set_column(rows.column_names.index(r.ID), r.ID, moved.cast(ids.type))
