"""Uncertain streams in a streaming query: one operator answers all events over them, a bucket of keys at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import ValueState

from inkling.evaluators.hashes import combined, hashes_of
from inkling.io.normalize import END, Normalizer
from inkling.live.clocks import Marks
from inkling.live.feed import Fed
from inkling.live.parts import Part, SourceReader, pieces
from inkling.live.snapshot import table_bytes, table_of
from inkling.logical.plan import ProgramPlan, StreamPlan
from inkling.model.uncertainty import LostEvents
from inkling.runtime.uncertain.program import LiveWorlds, Told, WorldsState
from inkling.runtime.uncertain.snapshot import from_bytes, n_kept, to_bytes
from inkling.spark.streaming.failures import in_place
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import INWARD, UNCERTAIN, WITHDRAWN, Kind, Message, marks_of
from inkling.spark.streaming.numbering import shifted
from inkling.spark.streaming.operator import as_row

Rows = Mapping[str, pa.Table]


class UncertainFeed:
    """Checks and types the rows of one stream of a program with uncertain events.

    Rows go to the stages of certain events that read them, and to the operator of the uncertain ones.
    """

    def __init__(self, job: Job, stream: StreamPlan) -> None:
        self._name, self._live = stream.schema.name, job.uncertain()
        derived = [column.name for column in stream.derived]
        self._normalizer = Normalizer(stream.schema, derived, job.clocks[self._name])
        self._reader = SourceReader(job.staged, self._name, job.tables, job.around)

    def __call__(self, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Fed:
        found = self._normalizer(raw, numbers)
        if not len(found.rows):
            return Fed((), Marks(), found.rejects)
        if self._name not in self._live.streams:
            marks = Marks({self._name: int(found.rows[END].to_numpy().max())})
            return Fed(tuple(self._reader(found.rows)), marks, found.rejects)
        parts = (*self._reader(found.rows), Part(UNCERTAIN, self._name, found.rows))
        return Fed(parts, self._live.marks({self._name: found.rows}), found.rejects)


def world_pieces(part: Part, live: LiveWorlds, n_buckets: int) -> Iterator[tuple[int, Part]]:
    """Rows by bucket: those of one partition of all events over uncertain streams are in one, or all in the first."""
    if not len(part.rows):
        return
    if not live.key or (live.part.revises and _has_roles(live.part)):
        yield 0, part
        return
    code = combined(*(hashes_of(part.rows[name].combine_chunks()) for name in live.key))
    yield from pieces(part, (code % np.uint64(n_buckets)).astype(np.int64))


def _has_roles(program: ProgramPlan) -> bool:
    """Whether rows of one key tell what numbered events of others are called; going back, each bucket asks its own."""
    doubts = [stream.schema.doubt for stream in program.streams]
    return any(isinstance(doubt, LostEvents) and doubt.role is not None for doubt in doubts)


class WorldsOperator:
    """All worlds of the keys in a bucket take in messages and say what is settled."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._nameless = [stream.schema.name for stream in job.plan.program.streams if stream.schema.id is None]

    def handled(self, bucket: int, rows: Iterator[Row], kept: ValueState) -> Iterator[Row]:
        """Take in the messages to a bucket, whose state is `kept`."""
        with in_place(f"the worlds of {', '.join(self._job.event_names)}"):
            yield from self._handled(bucket, rows, kept)

    def _handled(self, bucket: int, rows: Iterator[Row], kept: ValueState) -> Iterator[Row]:
        marks: list[Marks] = []
        arrived: dict[str, list[pa.Table]] = {}
        withdrawn: dict[str, list[pa.Table]] = {}
        for row in rows:
            kind = Kind(row.kind)
            if kind is Kind.MARKS:
                marks.append(marks_of(row.payload))
            elif kind in INWARD:
                which = withdrawn if kind in WITHDRAWN else arrived
                which.setdefault(self._job.stream_names[row.about], []).append(table_of(row.payload))
            else:
                yield row
        come, gone = _together(arrived), _together(withdrawn)
        yield from map(as_row, self._advanced(bucket, come, gone, Marks.together(marks), kept))

    def _advanced(self, bucket: int, come: Rows, gone: Rows, marks: Marks, kept: ValueState) -> Iterator[Message]:
        assert not gone, "where nothing is revised, nothing is withdrawn"
        live = self._job.worlds()
        steps, state = self._stored(live, kept)
        rows = {name: shifted(some, steps) if name in self._nameless else some for name, some in come.items()}
        state, told = live.advance(state, rows, marks)
        data = to_bytes(state, live.exact)
        kept.update((steps + 1, self._job.definition, data))
        yield from self._said(bucket, told)
        yield self._state_message(bucket, state.clocks.latest, state.decided, n_kept(state, live.exact), len(data))

    def _stored(self, live: LiveWorlds, kept: ValueState) -> tuple[int, WorldsState]:
        stored = kept.get()
        if stored is None:
            return 0, live.start()
        steps, definition, data = stored
        assert definition == self._job.definition, "a program over uncertain streams is never replaced"
        return steps, from_bytes(bytes(data), live.exact)

    def _said(self, bucket: int, told: Told) -> Iterator[Message]:
        for number, name in enumerate(self._job.event_names):
            if name in told.tables and len(told.tables[name]):
                yield self._out(bucket, Kind.RESULTS, told.tables[name], number)
        for kind, table in ((Kind.LATE, told.late), (Kind.REJECTS, told.rejects)):
            if len(table):
                yield self._out(bucket, kind, table)

    def _state_message(
        self, bucket: int, latest: Mapping[str, int], decided: int, n_rows: int, n_bytes: int
    ) -> Message:
        last = max(latest.values(), default=None)
        about = {"bytes": n_bytes, "rows": n_rows, "watermark": decided, "latest": last}
        return Message(UNCERTAIN, bucket, Kind.STATE, 0, 1, json.dumps(about).encode())

    def _out(self, bucket: int, kind: Kind, table: pa.Table, about: int = 0) -> Message:
        return Message(UNCERTAIN, bucket, kind, about, len(table), table_bytes(table))


def _together(parts: Mapping[str, list[pa.Table]]) -> Rows:
    return {name: pa.concat_tables(some) for name, some in parts.items()}
