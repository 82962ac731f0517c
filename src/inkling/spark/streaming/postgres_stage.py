"""On a worker: rows into a table of PostgreSQL that nobody reads yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext

from inkling.spark.streaming.postgres_server import Server

ATTEMPT = "inkling_attempt"
"""Which attempt of a worker wrote a staged row; those that did not come to an end do not count."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The rows of a partition into a table, all or none; gives the number of the attempt."""

    server: Server
    schema: str
    table: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return
        task = TaskContext.get()
        assert task is not None, "rows are written by workers"
        attempt = task.taskAttemptId()

        def marked() -> Iterator[pa.RecordBatch]:
            for batch in (first, *filled):
                yield batch.append_column(ATTEMPT, pa.repeat(pa.scalar(attempt, pa.int64()), batch.num_rows))

        schema = first.schema.append(pa.field(ATTEMPT, pa.int64()))
        with self.server.connected() as connection, connection.cursor() as cursor:
            rows = pa.RecordBatchReader.from_batches(schema, marked())
            cursor.adbc_ingest(self.table, rows, mode="append", db_schema_name=self.schema)
            connection.commit()
        yield pa.RecordBatch.from_pydict({"attempt": pa.array([attempt], pa.int64())})
