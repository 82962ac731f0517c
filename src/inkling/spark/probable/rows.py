"""Rows of streams as they travel to workers: whole KEYs of those that queries read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.analysis.probable.bits import of_row
from inkling.analysis.probable.query import Query
from inkling.evaluators.stage.derive import with_derived_columns
from inkling.io.checks.acceptable import acceptable
from inkling.io.normalize import END, ID, PLACE, START
from inkling.logical import expr as e
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import StreamPlan
from inkling.spark.duplicates import first_rows
from inkling.spark.expressions import fits_column, to_column
from inkling.spark.stage_frame import RowReferences
from inkling.spark.worlds.rows import row_schema


@dataclass(frozen=True, slots=True)
class Carried:
    """The columns of a stream that travel to workers, and where these find the others."""

    stream: StreamPlan
    schema: pa.Schema  # of what travels
    copies: Mapping[str, str]  # columns that do not, because others hold the same

    @classmethod
    def of(cls, stream: StreamPlan) -> Carried:
        every, schema = row_schema(stream), stream.schema
        same = {schema.start: START, schema.end: START, END: START} | ({} if schema.id is None else {schema.id: ID})
        copies = {
            name: other
            for name, other in same.items()
            if name in every.names and every.field(name).type == every.field(other).type
        }
        return cls(stream, pa.schema([one for one in every if one.name not in {*copies, PLACE}]), copies)

    def holder(self, name: str) -> str:
        """The column that travels and holds the values of a column."""
        return self.copies.get(name, name)

    def ready(self, rows: pa.Table, around: Surroundings) -> pa.Table:
        """Rows that pass all checks, with all their columns; what does not pass is told elsewhere."""
        for name, original in self.copies.items():
            rows = rows.append_column(name, rows[original])
        rows = rows.append_column(PLACE, pa.nulls(len(rows), row_schema(self.stream).field(PLACE).type))
        good, _ = acceptable(self.stream.schema, rows)
        return with_derived_columns(self.stream, good, around)


def prepared(
    stream: StreamPlan, divided_by: Sequence[str], queries: Sequence[Query], rows: DataFrame, around: Surroundings
) -> DataFrame:
    """The rows that workers must know of."""
    if stream.schema.doubt is None and not set(divided_by) <= set(stream.schema.key):
        # rows with one id may lie in different partitions
        rows = first_rows(stream.schema, rows)
    useful = useful_rows(stream, queries, rows, around)
    return rows if useful is None else rows.where(useful)


def useful_rows(stream: StreamPlan, queries: Iterable[Query], rows: DataFrame, around: Surroundings) -> Column | None:
    """What tells rows that no stage can use; of doubtful streams all or none of a KEY."""
    schema = stream.schema
    if schema.doubt is None and (schema.id is not None or stream.derived):
        return None
    decisive = set(schema.key) if schema.doubt is not None else set(rows.columns)
    references = RowReferences(frozenset(rows.columns))
    choices = []
    for stage in (one for query in queries for one in query.stages if one.source == schema.name):
        conditions = [of_row(one, stage) for one in stage.filters]
        asked = [one for one in conditions if fits_column(one) and _reads(one) <= decisive]
        if not asked:
            return None
        choices.append(reduce(and_, (_truth(to_column(one, references, around.measure)) for one in asked)))
    return reduce(or_, choices)


def _truth(condition: Column) -> Column:
    return F.coalesce(condition, F.lit(False))


def _reads(condition: e.Expr) -> set[str]:
    """The columns of a row that a condition reads; one that looks at more reads what no row has."""
    read = set()
    for part in e.walk(condition):
        if isinstance(part, e.ColumnOf):
            read.add(part.column)
        elif isinstance(part, e.TimeOf | e.IdOf | e.KeyColumn):
            read.add("@more")
    return read
