"""Rows of all streams of a program as one frame, so that one shuffle brings together what belongs together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type

from inkling.logical.plan import StreamPlan
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.spark.checked_rows import RowCheck
from inkling.spark.stage_frame import named

SOURCE = "@source"


def row_schema(stream: StreamPlan) -> pa.Schema:
    """The columns of a stream's normalized rows."""
    derived = tuple(column.name for column in stream.derived)
    return RowCheck(stream.schema, derived, Clock.TICKS).row_schema()


@dataclass(frozen=True, slots=True)
class Layout:
    """How rows of several streams share a frame: equal columns of different streams are one."""

    streams: tuple[str, ...]
    schemas: tuple[pa.Schema, ...]

    def united(self, frames: Mapping[str, DataFrame]) -> DataFrame:
        """All rows, with the number of their stream and null in the columns of the others."""
        parts = [
            frames[name].select(
                F.lit(number).alias(SOURCE),
                *(named(field.name).cast(from_arrow_type(field.type)).alias(_shared(field)) for field in schema),
            )
            for number, (name, schema) in enumerate(zip(self.streams, self.schemas, strict=True))
        ]
        return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)

    def keys(self, key: Sequence[str]) -> list[Column]:
        """What rows of one key have in common, in whichever columns streams keep it."""
        return [F.coalesce(*(_as_text(field) for field in self._fields(name))) for name in key]

    def column(self, stream: str, name: str) -> Column:
        """Where a stream keeps a column."""
        return named(_shared(self.schemas[self.streams.index(stream)].field(name)))

    def tables(self, rows: pa.Table) -> dict[str, pa.Table]:
        """The rows of each stream, in its own columns."""
        source = rows[SOURCE]
        return {
            name: _taken(rows.filter(pc.equal(source, number)), schema)
            for number, (name, schema) in enumerate(zip(self.streams, self.schemas, strict=True))
        }

    def _fields(self, name: str) -> list[pa.Field]:
        fields = (schema.field(name) for schema in self.schemas if name in schema.names)
        return list({_shared(field): field for field in fields}.values())


def by_key(schema: StreamSchema, rows: DataFrame, n_partitions: int) -> DataFrame:
    """Rows of a stream so that those of one KEY are in one partition."""
    return rows.repartition(n_partitions, *map(named, schema.key)) if schema.key else rows.coalesce(1)


def _shared(field: pa.Field) -> str:
    return f"{field.name}|{field.type}"


def _as_text(field: pa.Field) -> Column:
    value = named(_shared(field))
    # -0.0 and 0.0 are one key
    return (value + F.lit(0.0) if pa.types.is_floating(field.type) else value).cast("string")


def _taken(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    found = rows.select([_shared(field) for field in schema]).rename_columns(schema.names)
    return found.cast(schema).combine_chunks()
