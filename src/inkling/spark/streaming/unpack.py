"""Messages on their way out: bytes become rows again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.live.snapshot import table_of
from inkling.spark.streaming.messages import Kind


@dataclass(frozen=True, slots=True)
class _Unpack:
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for payload in batch.column(0):
                table = table_of(payload.as_buffer()).cast(self.schema)
                yield from table.to_batches(max_chunksize=100_000)


def rows_of(messages: DataFrame, kind: Kind, schema: pa.Schema, about: int | None = None) -> DataFrame:
    """The rows inside the messages of one kind."""
    chosen = messages.where(F.col("kind") == int(kind))
    if about is not None:
        chosen = chosen.where(F.col("about") == about)
    return chosen.select("payload").mapInArrow(_Unpack(schema), from_arrow_schema(schema))
