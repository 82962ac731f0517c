"""The stateful half of a streaming query: an operator steps the state of a bucket of keys and emits messages."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import ValueState

from inkling.evaluators.memory import within_budget
from inkling.evaluators.state import table_bytes, table_of
from inkling.model.watermarks import Watermarks
from inkling.results import WITHDRAWN as WITHDRAWN_OP
from inkling.results import result_table
from inkling.runtime.operators.protocol import Emitted, Onward, StreamOperator
from inkling.runtime.routing import CHANGELOGS, GUARD, UNCERTAIN, RoutedRows
from inkling.spark.streaming.failures import in_place
from inkling.spark.streaming.intake import part_messages, shifted
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import (
    ARROW_SCHEMA,
    EVERY_STAGE,
    INWARD,
    OF_STREAM,
    WITHDRAWN,
    Message,
    MessageKind,
    reason_messages,
    watermarks_of,
    watermarks_payload,
)


class BucketOperator:
    """Runs any one operator of a program on a bucket; messages to other operators pass through."""

    def __init__(self, job: Job, number: int) -> None:
        self._job, self._number, self._address = job, number, job.addresses[number]
        self._is_last = number == job.n_operators - 1
        nameless = {stream.schema.name for stream in job.plan.program.streams if stream.schema.id is None}
        self._nameless = nameless if self._address == GUARD else nameless - (job.guards or {}).keys()

    def handled(self, bucket: int, rows: Iterator[Row], kept: ValueState) -> Iterator[Row]:
        """Process the messages to a bucket; `kept` holds its state."""
        with in_place(self._place), within_budget():
            yield from self._handled(bucket, rows, kept)

    def _handled(self, bucket: int, rows: Iterator[Row], kept: ValueState) -> Iterator[Row]:
        parts, watermarks = [], []
        for row in rows:
            kind = MessageKind(row.kind)
            if kind is MessageKind.WATERMARKS:
                watermarks.append(watermarks_of(row.payload))
            elif kind in INWARD and row.stage == self._address:
                stream = self._job.stream_names[row.about] if kind in OF_STREAM else None
                parts.append(RoutedRows(self._address, stream, table_of(row.payload), kind in WITHDRAWN))
                continue
            if kind is not MessageKind.WATERMARKS or not (self._is_last or self._address == GUARD):
                yield row
        yield from map(as_row, self._stepped(bucket, parts, Watermarks.merged(watermarks), kept))

    def _stepped(
        self, bucket: int, parts: list[RoutedRows], watermarks: Watermarks, kept: ValueState
    ) -> Iterator[Message]:
        operator = self._job.operator(self._address)
        steps, state = self._stored(operator, kept)
        state, emitted = operator.step(state, [self._numbered(part, steps) for part in parts], watermarks)
        data = operator.to_bytes(state)
        kept.update((steps + 1, self._job.definition, data))
        yield from self._results(bucket, emitted)
        if not self._is_last:
            for sent in emitted.onward:
                for part in self._routed(sent):
                    yield from part_messages(self._job, part)
        if self._address == GUARD:
            payload = watermarks_payload(emitted.watermarks)
            yield Message(EVERY_STAGE, bucket, MessageKind.WATERMARKS, 0, 1, payload)
        for number, some in self._by_stream(emitted.late):
            yield self._out(bucket, MessageKind.LATE, some, number)
        yield from self._rejected(bucket, emitted.rejects)
        if self._address < 0 or self._job.staged.stages[self._address].steps:
            newest = operator.newest(state)
            about = {
                "bytes": len(data),
                "rows": operator.n_kept(state),
                "watermark": operator.watermark(state),
                "newest": [newest.get(name) for name in self._job.stream_names],
            }
            yield Message(self._address, bucket, MessageKind.STATE, 0, 1, json.dumps(about).encode())

    def _routed(self, sent: Onward) -> Iterable[RoutedRows]:
        if self._address == GUARD and isinstance(sent.rows, pa.Table):
            return self._job.operators().admitted(sent.source, sent.rows)
        return self._job.operators().routes(sent.source, sent.rows, withdrawn=sent.withdrawn)

    def _rejected(self, bucket: int, rejects: pa.Table) -> Iterator[Message]:
        """Rejects and their reasons; those of a guard with the number of their stream, which counts them as read."""
        if not len(rejects):
            return
        for number, some in self._by_stream(rejects) if self._address == GUARD else [(0, rejects)]:
            yield self._out(bucket, MessageKind.REJECTS, some, number)
        yield from reason_messages(self._address, bucket, rejects)

    def _by_stream(self, table: pa.Table) -> Iterable[tuple[int, pa.Table]]:
        """Rows of streams with the number of their stream, so that they can be counted."""
        names = self._job.stream_names
        return [
            (names.index(one), table.filter(pc.equal(table["stream"], one)))
            for one in pc.unique(table["stream"]).to_pylist()
        ]

    def _stored(self, operator: StreamOperator[Any], kept: ValueState) -> tuple[int, Any]:
        stored = kept.get()
        if stored is None:
            return 0, operator.start()
        steps, definition, data = stored
        return steps, self._job.restored(self._address, bytes(data), definition)

    def _numbered(self, part: RoutedRows, steps: int) -> RoutedRows:
        """Makes generated ids unique over all micro-batches, in the first operator that receives the rows."""
        if self._address not in (GUARD, CHANGELOGS) and self._job.revises:
            return part
        if part.stream is not None:
            return replace(part, rows=shifted(part.rows, steps)) if part.stream in self._nameless else part
        inputs = self._job.staged.stages[self._address].inputs
        own = [number for number, given in enumerate(inputs) if given.source in self._nameless]
        return replace(part, rows=shifted(part.rows, steps, own)) if own else part

    def _results(self, bucket: int, emitted: Emitted) -> Iterator[Message]:
        """The results of every event, and the number of withdrawals among them."""
        for number, event in enumerate(self._job.plan.program.events):
            if event.hidden and number not in self._job.counted:
                continue
            table, matches = emitted.tables.get(event.name), emitted.matches.get(event.name)
            if matches is not None and len(matches):
                table = result_table(event, matches, self._job.clock)
            if table is None or not len(table):
                continue
            yield self._out(bucket, MessageKind.RESULTS, table, number)
            if self._job.revises:
                n_withdrawn = pc.sum(pc.equal(table["op"], WITHDRAWN_OP)).as_py()
                yield Message(self._address, bucket, MessageKind.WITHDRAWALS, number, n_withdrawn, b"")

    @property
    def _place(self) -> str:
        """The name of the operator in messages about failures."""
        job = self._job
        if self._address == GUARD:
            return f"the guard of the times of {', '.join(job.guards or {})}"
        if self._address == CHANGELOGS:
            return f"the changelogs of {', '.join(name for name in job.stream_names if name in job.clocks)}"
        if self._address == UNCERTAIN:
            return f"the worlds of {', '.join(job.event_names)}"
        events = [step.event.name for step in job.staged.stages[self._address].steps]
        return f"stage {self._address} ({', '.join(events)})"

    def _out(self, bucket: int, kind: MessageKind, table: pa.Table, about: int = 0) -> Message:
        return Message(self._address, bucket, kind, about, len(table), table_bytes(table))


def as_row(message: Message) -> Row:
    return Row(*ARROW_SCHEMA.names)(*message.as_tuple())
