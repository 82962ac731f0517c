"""Rows of streams as they travel to workers: those that chains can use, without columns that repeat others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.io.normalize import END, ID, PLACE, START
from inkling.logical import expr as e
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.plan import Input, Stage
from inkling.spark.derive_frame import with_derived_columns
from inkling.spark.duplicates import first_rows
from inkling.spark.expressions import to_column
from inkling.spark.partitioning import Partitioning
from inkling.spark.stage_frame import RowReferences, named
from inkling.spark.worlds.rows import row_schema


@dataclass(frozen=True, slots=True)
class Carried:
    """The columns of a stream that travel to workers, and where these find the others."""

    stream: StreamPlan
    schema: pa.Schema  # of what travels
    copies: Mapping[str, str]  # columns that do not, because others hold the same
    is_derived: bool  # the columns of DERIVE are among them

    @classmethod
    def of(cls, stream: StreamPlan, stage: Stage) -> Carried:
        every, is_derived = row_schema(stream), looks_across_keys(stream, stage)
        if is_derived:
            every = pa.schema([*every, *((one.name, ARROW_TYPES[one.expr.type]) for one in stream.derived)])
        copies = _copies(stream, every)
        # which of several rows with one id is the event depends on all columns
        needed = set(every.names) if stream.schema.id is not None else {START, END, ID, *_read(stream, stage)}
        kept = [field for field in every if field.name in needed and field.name not in {*copies, PLACE}]
        return cls(stream, pa.schema(kept), copies, is_derived)

    def holder(self, name: str) -> str:
        """The column that travels and holds the values of a column."""
        return self.copies.get(name, name)

    def restored(self, rows: pa.Table) -> pa.Table:
        """Rows with the columns that stayed behind; none of their memory is copied."""
        for name, original in self.copies.items():
            rows = rows.append_column(name, rows[original])
        return rows.append_column(PLACE, pa.nulls(len(rows), row_schema(self.stream).field(PLACE).type))


def looks_across_keys(stream: StreamPlan, stage: Stage) -> bool:
    """Whether derived columns look at rows that may not be there where the key of a stage is complete."""
    looks_back = stream.reset_when is not None or any(
        isinstance(part, e.PreviousColumn | e.SinceChange) for one in stream.derived for part in e.walk(one.expr)
    )
    return looks_back and any(not one.key or one.key != stream.schema.key for one in inputs_of(stream, stage))


def inputs_of(stream: StreamPlan, stage: Stage) -> list[Input]:
    return [one for one in stage.inputs if one.source == stream.schema.name]


def prepared(
    carried: Carried, stage: Stage, rows: DataFrame, around: Surroundings, partitioning: Partitioning
) -> DataFrame:
    """The rows that workers must know of."""
    stream = carried.stream
    schema, inputs = stream.schema, inputs_of(stream, stage)
    if carried.is_derived:
        rows = with_derived_columns(stream, first_rows(schema, rows), around, partitioning)
    elif any(not set(one.key) <= set(schema.key) for one in inputs):
        # rows with one id may lie in different partitions
        rows = first_rows(schema, rows)
    if isinstance(schema.doubt, ImpreciseTime) and schema.doubt.widest is not None:
        rows = rows.where(named(END) - named(START) <= F.lit(schema.units(schema.doubt.widest)))
    if schema.id is None and (useful := _useful(inputs, rows, around)) is not None:
        rows = rows.where(useful)
    return rows


def _useful(inputs: list[Input], rows: DataFrame, around: Surroundings) -> Column | None:
    """What tells the rows that no leaf can use; nothing where tables have a say in it."""
    references = RowReferences(frozenset(rows.columns))
    conditions = []
    for one in inputs:
        if one.keep is None or one.atoms:
            return None
        conditions.append(F.coalesce(to_column(one.keep, references, around.measure), F.lit(False)))
    return reduce(or_, conditions)


def _copies(stream: StreamPlan, every: pa.Schema) -> dict[str, str]:
    schema = stream.schema
    is_exact = not isinstance(schema.doubt, ImpreciseTime) or schema.doubt.error is None
    copies = {} if schema.id is None else {schema.id: ID}
    if is_exact:
        copies |= {schema.start: START, schema.end: END}
    copies = {name: other for name, other in copies.items() if name in every.names}
    return {name: other for name, other in copies.items() if every.field(name).type == every.field(other).type}


def _read(stream: StreamPlan, stage: Stage) -> Iterator[str]:
    """The columns that somebody reads, by the names that they have in the stream."""
    yield from stream.schema.key
    if isinstance(stream.schema.doubt, ImpreciseTime) and stream.schema.doubt.weights is not None:
        yield stream.schema.doubt.weights
    exprs = [column.expr for column in stream.derived]
    for one in inputs_of(stream, stage):
        yield from one.key
        yield from (name.rsplit("|", 1)[0] for name in one.columns)
        exprs += [bit.expr for bit in (*one.early, *one.late)]
        exprs += [computed.expr for computed in one.computed]
        exprs += [arg for atom in one.atoms for arg in atom.args if arg is not None]
    for expr in exprs:
        for part in e.walk(expr):
            if isinstance(part, e.ColumnOf | e.KeyColumn | e.PreviousColumn | e.SinceChange):
                yield part.column
                yield part.column.rsplit("|", 1)[0]
