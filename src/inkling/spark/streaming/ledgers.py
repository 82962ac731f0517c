"""Streams whose past may change, in a streaming query: before all stages, an operator keeps what stands of their rows.

Rows and withdrawals go to buckets by their ids, and from there to the buckets that keep their keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import ValueState

from inkling.evaluators.hashes import combined, hashes_of
from inkling.io.normalize import END, ID, Normalized, Normalizer
from inkling.live.clocks import Marks
from inkling.live.feed import Fed
from inkling.live.parts import Part, SourceReader, pieces
from inkling.live.revision.books import Books, readers_of
from inkling.live.revision.clocks import Windows
from inkling.live.revision.ledger import Entered
from inkling.live.revision.snapshot import books_from_bytes, books_to_bytes
from inkling.live.snapshot import table_bytes, table_of
from inkling.model.batch import FOREVER
from inkling.spark.streaming.failures import in_place
from inkling.spark.streaming.intake import part_messages
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import INWARD, LEDGERS, UNCERTAIN, WITHDRAWN, Kind, Message, marks_of
from inkling.spark.streaming.numbering import shifted
from inkling.spark.streaming.operator import as_row


class LedgerFeed:
    """Checks and types the rows of one stream, and tells events from withdrawals."""

    def __init__(self, job: Job, stream: str) -> None:
        self._job, self._name, self._normalizer = job, stream, normalizer_of(job, stream)

    def __call__(self, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Fed:
        found = self._normalizer(raw, numbers)
        parts = (
            Part(LEDGERS, self._name, found.rows),
            Part(LEDGERS, self._name, found.withdrawals, withdrawn=True),
        )
        return Fed(parts, self._marks(found), found.rejects)

    def _marks(self, found: Normalized) -> Marks:
        if self._job.is_doubtful and self._name in self._job.uncertain().streams:
            return self._job.revised_worlds().marks({self._name: found.rows})
        return Marks({self._name: int(found.rows[END].to_numpy().max())}) if len(found.rows) else Marks()


def ledger_pieces(part: Part, n_buckets: int) -> Iterator[tuple[int, Part]]:
    """Rows and withdrawals by bucket: those of one id are in one."""
    if len(part.rows):
        code = combined(hashes_of(part.rows[ID].combine_chunks()))
        yield from pieces(part, (code % np.uint64(n_buckets)).astype(np.int64))


class LedgerOperator:
    """The ledgers of the ids in a bucket; what stands and what does not any more goes on to the stages."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._streams = [stream.schema for stream in job.plan.program.streams if stream.schema.name in job.clocks]
        self._nameless = [schema.name for schema in self._streams if schema.id is None]
        self._readers: dict[str, SourceReader] = {}

    def handled(self, bucket: int, rows: Iterator[Row], kept: ValueState) -> Iterator[Row]:
        """Take in the messages to a bucket, whose state is `kept`."""
        with in_place(f"the ledgers of {', '.join(schema.name for schema in self._streams)}"):
            yield from self._handled(bucket, rows, kept)

    def _handled(self, bucket: int, rows: Iterator[Row], kept: ValueState) -> Iterator[Row]:
        marks: list[Marks] = []
        entering: dict[str, list[pa.Table]] = {}
        withdrawals: dict[str, list[pa.Table]] = {}
        for row in rows:
            kind = Kind(row.kind)
            if kind in INWARD and row.stage == LEDGERS:
                which = withdrawals if kind in WITHDRAWN else entering
                which.setdefault(self._job.stream_names[row.about], []).append(table_of(row.payload))
                continue
            if kind is Kind.MARKS:
                marks.append(marks_of(row.payload))
            yield row
        steps, books = self._stored(kept)
        entered = books.enter(
            {name: self._numbered(name, entering.get(name, []), steps) for name in {*entering, *withdrawals}},
            {name: pa.concat_tables(some) for name, some in withdrawals.items()},
            Marks.together(marks),
        )
        data = books_to_bytes(books)
        kept.update((steps + 1, self._job.definition, data))
        yield from map(as_row, self._said(bucket, books, entered, len(data)))

    def _numbered(self, name: str, tables: list[pa.Table], steps: int) -> pa.Table:
        """All rows of a stream that came; ids of rows that have none become unique over all steps."""
        if not tables:
            return self._no_rows[name]
        rows = pa.concat_tables(tables)
        return shifted(rows, steps) if name in self._nameless else rows

    def _stored(self, kept: ValueState) -> tuple[int, Books]:
        books, stored = Books(self._streams, self._windows), kept.get()
        if stored is None:
            return 0, books
        steps, definition, data = stored
        books = books_from_bytes(books, bytes(data))
        if definition != self._job.definition:
            books.rewindowed(self._windows)
        return steps, books

    def _said(self, bucket: int, books: Books, entered: Mapping[str, Entered], n_bytes: int) -> Iterator[Message]:
        for name, one in entered.items():
            for rows, withdrawn in ((one.withdrawn, True), (one.added, False)):
                for part in self._parts(name, rows, withdrawn=withdrawn):
                    yield from part_messages(self._job, part)
            for kind, table in ((Kind.LATE, one.late), (Kind.REJECTS, one.rejects)):
                if len(table):
                    yield Message(LEDGERS, bucket, kind, 0, len(table), table_bytes(table))
        clocks = [one for many in books.clocks.values() for one in many.clocks]
        latest = max((time for one in clocks for time in one.latest.values()), default=None)
        rows = sum(ledger.n_held for ledger in books.ledgers.values())
        # how far results are told is for the stages to say
        about = {"bytes": n_bytes, "rows": rows, "watermark": FOREVER, "latest": latest}
        yield Message(LEDGERS, bucket, Kind.STATE, 0, 1, json.dumps(about).encode())

    def _parts(self, name: str, rows: pa.Table, *, withdrawn: bool) -> Iterator[Part]:
        """What rows of a stream are to those who read them."""
        if not len(rows):
            return
        job = self._job
        if job.is_doubtful and name in job.uncertain().streams:
            yield Part(UNCERTAIN, name, rows, withdrawn)
        if name not in self._readers:
            self._readers[name] = SourceReader(job.staged, name, job.tables, job.around)
        yield from self._readers[name](rows, withdrawn=withdrawn)

    @cached_property
    def _windows(self) -> Mapping[str, list[Windows]]:
        job = self._job
        staged = readers_of(job.staged, job.around)
        others = job.revised_worlds().readers if job.is_doubtful else {}
        return {name: [*staged.get(name, []), *others.get(name, [])] for name in {**staged, **others}}

    @cached_property
    def _no_rows(self) -> Mapping[str, pa.Table]:
        """Of each stream, what is left when all that came is withdrawals."""
        nothing = pa.table({})
        return {schema.name: normalizer_of(self._job, schema.name)(nothing).rows for schema in self._streams}


def normalizer_of(job: Job, stream: str) -> Normalizer:
    plan = job.plan.program.stream(stream)
    assert plan is not None
    return Normalizer(plan.schema, [column.name for column in plan.derived], job.clocks[stream])
