"""Checks of uncertain streams that compare the rows of a KEY, by Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.evaluators.lost.numbered import EVEN, ODD, roles_of
from inkling.io.checks.acceptable import acceptable
from inkling.io.rejects import REJECTS_SCHEMA
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.worlds.rows import by_key


def refused_rows(schema: StreamSchema, rows: DataFrame, n_partitions: int) -> DataFrame:
    """Rejects of an uncertain stream; a pass of its own, when asked for."""
    task = _RejectTask(schema, tuple(rows.columns))
    return plainly_named(by_key(schema, rows, n_partitions)).mapInArrow(task, from_arrow_schema(REJECTS_SCHEMA))


def with_roles(schema: StreamSchema, columns: pa.Schema, rows: DataFrame, n_partitions: int) -> DataFrame:
    """Rows with the roles of lost events, which all recorded ones have a say in, whatever their KEY."""
    assert isinstance(schema.doubt, LostEvents)
    said = pa.schema(role_fields(schema, columns))
    task = _RoleTask(schema, tuple(rows.columns), said)
    found = plainly_named(by_key(schema, rows, n_partitions)).mapInArrow(task, from_arrow_schema(said))
    least = found.agg(*(F.min(named(name)).alias(name) for name in (EVEN, ODD)))
    return rows.crossJoin(F.broadcast(least))


def role_fields(schema: StreamSchema, columns: pa.Schema) -> list[pa.Field]:
    """The columns that `with_roles` adds."""
    assert isinstance(schema.doubt, LostEvents)
    kind = columns.field(schema.doubt.role).type
    return [pa.field(EVEN, kind), pa.field(ODD, kind)]


def tells_roles(schema: StreamSchema) -> bool:
    return isinstance(schema.doubt, LostEvents) and schema.doubt.role is not None


@dataclass(frozen=True, slots=True)
class _RejectTask:
    schema: StreamSchema
    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if gathered := list(batches):
            _, refused = acceptable(self.schema, pa.Table.from_batches(gathered).rename_columns(list(self.columns)))
            for table in refused:
                yield from table.to_batches()


@dataclass(frozen=True, slots=True)
class _RoleTask:
    schema: StreamSchema
    columns: tuple[str, ...]
    said: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if gathered := list(batches):
            good, _ = acceptable(self.schema, pa.Table.from_batches(gathered).rename_columns(list(self.columns)))
            assert isinstance(self.schema.doubt, LostEvents)
            even, odd = roles_of(good, self.schema.doubt)
            yield pa.RecordBatch.from_pylist([{EVEN: even, ODD: odd}], schema=self.said)
