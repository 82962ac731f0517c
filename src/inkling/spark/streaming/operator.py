"""The stateful half of a streaming query: a bucket of keys takes in messages and says what they prove."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import ValueState

from inkling.evaluators.stage.engine import source_table
from inkling.live.clocks import Marks
from inkling.live.parts import Part, parts_for_stages
from inkling.live.snapshot import from_bytes, table_bytes, table_of, to_bytes
from inkling.live.stage import Advanced, LiveStage, LiveState
from inkling.model.batch import MatchBatch
from inkling.results import result_table
from inkling.spark.streaming.failures import in_place
from inkling.spark.streaming.intake import part_messages
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import INWARD, OF_STREAM, WITHDRAWN, Kind, Message, marks_of
from inkling.spark.streaming.numbering import shifted


class StageOperator:
    """One stage; what is meant for others passes through."""

    def __init__(self, job: Job, stage: int) -> None:
        self._job, self._number = job, stage
        self._is_last = stage == len(job.staged.stages) - 1 and not job.is_doubtful
        self._events = [step.event.name for step in job.staged.stages[stage].steps]

    def handled(self, bucket: int, rows: Iterator[Row], kept: ValueState) -> Iterator[Row]:
        """Take in the messages to a bucket, whose state is `kept`."""
        with in_place(f"stage {self._number} ({', '.join(self._events)})"):
            yield from self._handled(bucket, rows, kept)

    def _handled(self, bucket: int, rows: Iterator[Row], kept: ValueState) -> Iterator[Row]:
        parts, marks = [], []
        for row in rows:
            kind = Kind(row.kind)
            if kind is Kind.MARKS:
                marks.append(marks_of(row.payload))
            elif kind in INWARD and row.stage == self._number:
                parts.append(self._part(kind, row))
                continue
            if not (self._is_last and kind is Kind.MARKS):
                yield row
        yield from map(as_row, self._advanced(bucket, parts, Marks.together(marks), kept))

    def _advanced(self, bucket: int, parts: list[Part], marks: Marks, kept: ValueState) -> Iterator[Message]:
        stage = self._job.stage(self._number)
        steps, state = self._stored(stage, kept)
        numbered = [self._numbered(part, steps) for part in parts]
        state, advanced = stage.advance(state, numbered, marks)
        data = to_bytes(state)
        kept.update((steps + 1, self._job.definition, data))
        yield from self._said(bucket, state, advanced, len(data))

    def _stored(self, stage: LiveStage, kept: ValueState) -> tuple[int, LiveState]:
        stored = kept.get()
        if stored is None:
            return 0, stage.start()
        steps, definition, data = stored
        return steps, self._job.taken_over(self._number, from_bytes(bytes(data)), definition)

    def _part(self, kind: Kind, row: Row) -> Part:
        stream = self._job.stream_names[row.about] if kind in OF_STREAM else None
        return Part(self._number, stream, table_of(row.payload), kind in WITHDRAWN)

    def _numbered(self, part: Part, steps: int) -> Part:
        """Ids of rows that have none become unique over all steps."""
        nameless = [stream.schema.name for stream in self._job.plan.program.streams if stream.schema.id is None]
        if part.stream is not None:
            return replace(part, rows=shifted(part.rows, steps)) if part.stream in nameless else part
        inputs = self._job.staged.stages[self._number].inputs
        own = [number for number, given in enumerate(inputs) if given.source in nameless]
        return replace(part, rows=shifted(part.rows, steps, own)) if own else part

    def _said(self, bucket: int, state: LiveState, advanced: Advanced, n_bytes: int) -> Iterator[Message]:
        found = advanced.found
        for number, event in enumerate(self._job.plan.program.events):
            matches = found.matches.get(event.name)
            if matches is not None and len(matches):
                table = result_table(event, matches, self._job.clock)
                yield self._out(bucket, Kind.RESULTS, table, number)
        yield from self._to_later_stages(found.matches)
        for kind, table in (
            (Kind.LATE, advanced.late),
            (Kind.REJECTS, advanced.rejects),
        ):
            if len(table):
                yield self._out(bucket, kind, table)
        if not self._job.staged.stages[self._number].steps:
            return
        clocks = state.clocks
        latest = max(clocks.latest.values(), default=None)
        about = {"bytes": n_bytes, "rows": n_kept(state), "watermark": clocks.watermark, "latest": latest}
        yield Message(self._number, bucket, Kind.STATE, 0, 1, json.dumps(about).encode())

    def _to_later_stages(self, matches: Mapping[str, MatchBatch]) -> Iterator[Message]:
        if self._is_last:
            return
        job = self._job
        for name, found in matches.items():
            if len(found):
                for part in parts_for_stages(job.staged, name, source_table(found), job.tables, job.around):
                    yield from part_messages(job, part)

    def _out(self, bucket: int, kind: Kind, table: pa.Table, about: int = 0) -> Message:
        return Message(self._number, bucket, kind, about, len(table), table_bytes(table))


_NAMES = ("stage", "bucket", "kind", "about", "n", "payload")


def as_row(message: Message) -> Row:
    """A message as Spark takes it back from a bucket."""
    return Row(*_NAMES)(*message.as_tuple())


def n_kept(state: LiveState) -> int:
    """Rows and open matches that a bucket keeps."""
    rows = [state.pending, state.stage.rows, *state.raw.values(), *state.last.values()]
    rows += [window.rows for window in state.stage.windows.values()]
    rows += [waiting.rows for waiting in state.stage.waiting.values()]
    rows += [forecast.keys for forecast in state.stage.forecasts.values()]
    return sum(map(len, rows)) + sum(len(carry.runs.key) for carry in state.stage.automata)
