"""Derived columns of a stream whose key is not the key of the stage that reads it: a pass of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_type

from inkling.evaluators.stage import derive
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.spark.partitioning import Partitioning
from inkling.spark.stage_frame import named
from inkling.spark.worker import mapped


@dataclass(frozen=True, slots=True)
class _Derive:
    stream: StreamPlan
    around: Surroundings

    def __call__(self, rows: pa.Table) -> Iterator[pa.Table]:
        yield derive.with_derived_columns(self.stream, rows, self.around)


def with_derived_columns(
    stream: StreamPlan, source: DataFrame, around: Surroundings, partitioning: Partitioning
) -> DataFrame:
    """The rows with the columns of `DERIVE`, partitioned by the stream's own key."""
    keys = [named(column) for column in stream.schema.key]
    source = source.repartition(partitioning.for_frames([source]), *keys) if keys else source.coalesce(1)
    derived = [T.StructField(column.name, from_arrow_type(ARROW_TYPES[column.expr.type])) for column in stream.derived]
    schema = T.StructType([*source.schema.fields, *derived])
    return mapped(source, _Derive(stream, around), schema)
