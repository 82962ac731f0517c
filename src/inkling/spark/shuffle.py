"""The rows of several streams as one DataFrame, divided among workers as a part of an evaluator demands.

`shuffled` unites the streams of a part and partitions the rows by key, by slices of time, by pairs of keys or by shares
of worlds (`inkling.evaluators.division`). `with_derived_columns` is a separate pass for the columns of DERIVE, for a
stream whose key is not the key of the stage that reads it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import and_, or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_type

from inkling.evaluators.division import (
    ByKey,
    ByPairs,
    ByTime,
    ByWorlds,
    Carried,
    Columns,
    EvaluatorPart,
    Packing,
    Share,
    Summary,
)
from inkling.evaluators.stage.rows import derive
from inkling.io.checks.acceptable import acceptable
from inkling.io.normalize import END, ID, START
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.expr import Expr
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.schema import StreamSchema
from inkling.spark.expressions import to_column
from inkling.spark.frames import united
from inkling.spark.partitioning import Partitioning, Pieces, cut, estimated_bytes
from inkling.spark.read.duplicates import first_rows
from inkling.spark.stage_frame import RowReferences, named
from inkling.spark.worker import mapped


def _derived(stream: StreamPlan, context: ExpressionContext, rows: pa.Table) -> Iterator[pa.Table]:
    yield derive.with_derived_columns(stream, rows, context)


def with_derived_columns(
    stream: StreamPlan, source: DataFrame, context: ExpressionContext, partitioning: Partitioning
) -> DataFrame:
    """The rows with the columns of DERIVE, partitioned by the key of the stream."""
    keys = [named(column) for column in stream.schema.key]
    source = source.repartition(partitioning.for_frames([source]), *keys) if keys else source.coalesce(1)
    derived = [T.StructField(column.name, from_arrow_type(ARROW_TYPES[column.expr.type])) for column in stream.derived]
    schema = T.StructType([*source.schema.fields, *derived])
    return mapped(source, partial(_derived, stream, context), schema)


SOURCE = "@source"

SLICES_PER_CORE = 4

PAIRS_PER_CORE = 4
"""Tasks per core for pairs of keys, because some keys have far more to compare than others; but see `LITTLE`."""

LITTLE = 1 << 20
"""Bytes of input, as Spark estimates it, below which more than one task per core does not pay."""


@dataclass(frozen=True, slots=True)
class UnionLayout:
    """How the rows of several streams share a DataFrame: columns with the same name and type are one column."""

    carried: tuple[Carried, ...]

    def united(self, frames: Iterable[DataFrame]) -> DataFrame:
        """All rows, with the number of their stream, and null in columns of other streams."""
        parts = [
            frame.select(
                F.lit(number).alias(SOURCE),
                *(named(field.name).cast(from_arrow_type(field.type)).alias(_shared(field)) for field in one.schema),
            )
            for number, (one, frame) in enumerate(zip(self.carried, frames, strict=True))
        ]
        return united(parts)

    def keys(self, columns: Columns) -> list[Column]:
        """The key of each row, from the columns in which its stream holds it."""
        n_columns = len(next(iter(columns.values())))
        return [self.held({name: some[place] for name, some in columns.items()}) for place in range(n_columns)]

    def held(self, columns: Mapping[str, str]) -> Column:
        """One value of each row, from the column in which its stream holds it.

        Keys that are the same by `model.keys` are equal here: -0.0 becomes 0.0, and Spark itself groups NaN with NaN
        and null with null. Keys of different types, which only conditions compare, may meet although they differ.
        """
        fields = [one.schema.field(one.holder(columns[one.name])) for one in self.carried]
        kind = _common([field.type for field in fields])
        if len(set(map(_shared, fields))) == 1:
            return _normal(fields[0], kind)
        value = F.lit(None).cast(from_arrow_type(kind))
        for number, field in enumerate(fields):
            value = F.when(named(SOURCE) == number, _normal(field, kind)).otherwise(value)
        return value

    def tables(self, rows: pa.Table) -> dict[str, pa.Table]:
        """The checked rows of each stream, in its own columns."""
        found = {}
        for number, one in enumerate(self.carried):
            # the rows of a single stream are not copied: they are most of the memory of a worker
            mine = rows if len(self.carried) == 1 else rows.filter(pc.equal(rows[SOURCE], number))
            mine = mine.select([_shared(field) for field in one.schema]).rename_columns(one.schema.names)
            found[one.name] = one.ready(mine.cast(one.schema))
        return found


def _shared(field: pa.Field) -> str:
    return f"{field.name}|{field.type}"


def _common(kinds: Sequence[pa.DataType]) -> pa.DataType:
    if len(set(kinds)) == 1:
        return kinds[0]
    numeric = all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)
    return pa.float64() if numeric else pa.string()


def _normal(field: pa.Field, kind: pa.DataType) -> Column:
    value = named(_shared(field))
    value = value + F.lit(0.0) if pa.types.is_floating(field.type) else value
    return value if field.type == kind else value.cast(from_arrow_type(kind))


def shuffled(
    part: EvaluatorPart, sources: Mapping[str, DataFrame], context: ExpressionContext, partitioning: Partitioning
) -> tuple[DataFrame, UnionLayout, Pieces]:
    """The rows of a part, partitioned; only the extent of slices of time is computed at once."""
    layout, frames = UnionLayout(part.carried), [sources[one.name] for one in part.carried]
    rows = layout.united(_prepared(one, sources[one.name], context, partitioning) for one in part.carried)
    match part.division:
        case ByKey(columns=columns, tasks_per_core=tasks):
            keys = layout.keys(columns)
            n_partitions = partitioning.fixed or tasks * partitioning.for_frames(frames)
            return rows.repartition(n_partitions, *keys) if keys else rows.repartition(1), layout, whole
        case ByTime() as division:
            start, end = (layout.held({one.name: name for one in part.carried}) for name in (START, END))
            wanted = max(partitioning.for_frames(frames), SLICES_PER_CORE * partitioning.cores)
            sliced = cut(rows, start, end, division, partitioning.fixed or wanted)
            return (rows.coalesce(1), layout, whole) if sliced is None else (sliced[0], layout, sliced[1])
        case ByPairs(columns=columns):
            n_partitions = _n_partitions_for_pairs(frames, partitioning, has_groups=any(columns.values()))
            return shared_out(rows, layout.keys(columns), n_partitions), layout, shares_of
        case ByWorlds(n_worlds=n_worlds, tasks_per_core=tasks):
            n_shares = min(n_worlds, partitioning.fixed or tasks * partitioning.cores)
            return shared_out(rows, (), n_shares), layout, shares_of


def whole(rows: pa.Table) -> Iterator[tuple[pa.Table, None]]:
    """All rows of a partition as one piece."""
    pieces = [(rows, None)]
    del rows
    yield pieces.pop()


def _n_partitions_for_pairs(frames: list[DataFrame], partitioning: Partitioning, *, has_groups: bool) -> int:
    tasks_per_core = 1 if sum(map(estimated_bytes, frames)) <= LITTLE else PAIRS_PER_CORE
    # without groups, every task has all rows, however many tasks there are
    parts = partitioning.for_frames(frames) if has_groups else partitioning.cores
    return partitioning.fixed or tasks_per_core * parts


def _prepared(one: Carried, rows: DataFrame, context: ExpressionContext, partitioning: Partitioning) -> DataFrame:
    """The rows and columns of a stream that the shuffle moves."""
    if one.is_distinct:
        rows = first_rows(one.stream.schema, rows)
    if one.is_derived:
        rows = with_derived_columns(one.stream, rows, context, partitioning)
    if one.widest is not None:
        rows = rows.where(named(END) - named(START) <= F.lit(one.widest))
    if one.useful is not None:
        rows = rows.where(reduce(or_, (_all(some, rows, context) for some in one.useful)))
    if one.summary is not None:
        rows = _with_summary(one.stream.schema, one.summary, rows, partitioning)
    return rows if one.packing is None else _packed(one.stream.schema, one.packing, rows, context)


def _all(conditions: Iterable[Expr], rows: DataFrame, context: ExpressionContext) -> Column:
    references = RowReferences(frozenset(rows.columns))
    truths = (to_column(one, references, context.unit).cast("boolean") for one in conditions)
    return reduce(and_, (F.coalesce(one, F.lit(False)) for one in truths), F.lit(True))


def by_key(schema: StreamSchema, rows: DataFrame, partitioning: Partitioning) -> DataFrame:
    """The rows of a stream, partitioned by its KEY."""
    keys = list(map(named, schema.key))
    return rows.repartition(partitioning.for_frames([rows]), *keys) if keys else rows.coalesce(1)


def _summarized(schema: StreamSchema, summary: Summary, rows: pa.Table) -> Iterator[pa.Table]:
    yield pa.Table.from_pylist([summary.of(acceptable(schema, rows)[0])], schema=pa.schema(summary.fields))


def _with_summary(schema: StreamSchema, summary: Summary, rows: DataFrame, partitioning: Partitioning) -> DataFrame:
    fields = pa.schema(summary.fields)
    found = mapped(by_key(schema, rows, partitioning), partial(_summarized, schema, summary), fields)
    return rows.crossJoin(F.broadcast(found.agg(*(F.min(named(name)).alias(name) for name in fields.names))))


def _packed_rows(packing: Packing, rows: pa.Table) -> Iterator[pa.Table]:
    for batch in rows.to_batches():
        yield pa.Table.from_batches([packing.packed(batch)])


def _packed(schema: StreamSchema, packing: Packing, rows: DataFrame, context: ExpressionContext) -> DataFrame:
    value, chance, word = _hashed(packing.hashed), named(packing.chance).cast("double"), _word(packing, rows, context)
    given = [_hashed(packing.given, is_nullable=True)] if packing.given else []
    chosen = rows.select(*map(named, schema.key), named(START), value, chance, word, *given, named(ID))
    return mapped(chosen, partial(_packed_rows, packing), packing.schema, by_batch=True)


def _hashed(names: Sequence[str], *, is_nullable: bool = False) -> Column:
    """A hash of some columns, never 0; null is a value. With `is_nullable`, 0 stands for a row of nulls only."""
    if not names:
        return F.lit(1).cast("bigint")
    missing = [named(name).isNull() for name in names]
    code = F.xxhash64(*map(named, names), *(missing if len(names) > 1 else []))
    code = F.when(code == 0, F.lit(1).cast("bigint")).otherwise(code)
    return F.when(~reduce(and_, missing), code).otherwise(F.lit(0).cast("bigint")) if is_nullable else code


def _word(packing: Packing, rows: DataFrame, context: ExpressionContext) -> Column:
    nothing = F.lit(0).cast("bigint")
    word = nothing
    for (conditions, value), *others in packing.predicates:
        bits = F.when(_all(conditions, rows, context), F.lit(value).cast("bigint"))
        for conditions, value in others:
            bits = bits.when(_all(conditions, rows, context), F.lit(value).cast("bigint"))
        word = word.bitwiseOR(bits.otherwise(nothing))
    return word


GROUP, SHARE, N_SHARES = "@group", "@share", "@n_shares"
_N_ROWS = "@n_rows"

ROWS_WORTH_SHARING = 1_000
"""Groups with fewer rows are never divided."""


def shared_out(rows: DataFrame, group: Sequence[Column], n_partitions: int) -> DataFrame:
    """Rows in `n_partitions` partitions, with each group in one; a large group is copied for each of its shares.

    Without a `group`, all rows are one group.
    """
    if group:
        rows = _with_shares(rows.withColumn(GROUP, F.xxhash64(*group)), n_partitions)
    else:
        rows = rows.select("*", F.lit(0).cast("bigint").alias(GROUP), F.lit(n_partitions).alias(N_SHARES))
    rows = rows.withColumn(SHARE, F.explode(F.sequence(F.lit(0), named(N_SHARES) - 1)))
    place = F.pmod(F.pmod(named(GROUP), F.lit(n_partitions)) + named(SHARE), F.lit(n_partitions))
    return rows.repartitionById(n_partitions, place.cast("int"))


def _with_shares(rows: DataFrame, n_partitions: int) -> DataFrame:
    """Rows with the number of shares of their group; the work of a group grows with the square of its rows."""
    if n_partitions == 1:
        return rows.withColumn(N_SHARES, F.lit(1))
    n_rows = F.count(F.lit(1)).cast("double")
    sizes = rows.groupBy(named(GROUP)).agg(n_rows.alias(_N_ROWS))
    work = F.pow(named(_N_ROWS), F.lit(2.0))
    n_shares = F.ceil(F.lit(n_partitions) * work / F.sum(work).over(Window.partitionBy())).cast("int")
    large = sizes.select(named(GROUP), n_shares.alias(N_SHARES), named(_N_ROWS))
    large = large.where((named(N_SHARES) > 1) & (named(_N_ROWS) >= ROWS_WORTH_SHARING)).drop(_N_ROWS)
    return rows.join(F.broadcast(large), GROUP, "left").fillna(1, N_SHARES)


def shares_of(rows: pa.Table) -> Iterator[tuple[pa.Table, Share]]:
    """The pieces of a partition: all small groups together, and each share of a large group."""
    group, number, count = (rows[name].to_numpy() for name in (GROUP, SHARE, N_SHARES))
    rows = rows.drop_columns([GROUP, SHARE, N_SHARES])
    small = count == 1
    if small.all():
        yield rows, Share()
        return
    if small.any():
        yield rows.filter(pa.array(small)), Share()
    large = np.flatnonzero(~small)
    large = large[np.lexsort((number[large], group[large]))]
    changes = (np.diff(group[large]) != 0) | (np.diff(number[large]) != 0)
    for places in np.split(large, np.flatnonzero(changes) + 1):
        chosen = rows if len(places) == len(rows) else rows.take(pa.array(places))
        yield chosen, Share(int(number[places[0]]), int(count[places[0]]))
