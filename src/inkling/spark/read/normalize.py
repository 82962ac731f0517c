"""Types and checks the rows of a stream on Spark, and separates rows that violate its declaration.

Catalyst checks typed columns. Workers parse text with the code of a local run; the same code finds the reason for every
row that Catalyst rejects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from operator import and_

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_type

from inkling.io.casting import SAMPLE
from inkling.io.corrections import corrected_stream
from inkling.io.moments import largest_error
from inkling.io.normalize import (
    END,
    ID,
    PLACE,
    START,
    clock_in,
    declared_clock,
    normalize,
    require_columns,
    require_readable,
    stored_columns,
)
from inkling.io.readers.files import read_one, read_sample
from inkling.io.readers.formats import Format
from inkling.io.withdrawals import EVENT, WITHDRAWAL
from inkling.model.schema import StreamSchema
from inkling.model.time import EPOCHS, YEARS_US, Clock, Duration, limits
from inkling.model.types import Type
from inkling.model.uncertainty import ClockErrors, ErrorColumn, ImpreciseTime
from inkling.spark.functions import finite
from inkling.spark.read import lines, whole_files
from inkling.spark.read.checked_rows import RowCheck
from inkling.spark.read.duplicates import corrected_rows, rejected_corrections
from inkling.spark.read.inputs import LinesOfFiles, Raw, RowsInMemory, WholeFiles
from inkling.spark.read.whole_files import with_columns
from inkling.spark.stage_frame import named, plainly_named

ROW_NUMBER = "@row"
WITHIN, BLOCK = "@within", "@block"


@dataclass(frozen=True, slots=True)
class NormalizedFrame:
    """Rows with the declared columns and the `@` columns, rejected rows, and the clock of their times.

    `raw` has as many rows as there are records.
    """

    rows: DataFrame
    rejects: DataFrame
    raw: DataFrame
    clock: Clock


def normalize_frame(raw: Raw, schema: StreamSchema, derived: Iterable[str] = ()) -> NormalizedFrame:
    """Check and type the rows of a stream; `derived` columns are computed later and not expected."""
    computed = tuple(derived)
    match raw:
        case RowsInMemory(spark=spark, table=table):
            found = corrected_stream(schema, normalize(table, schema, computed))
            return NormalizedFrame(
                spark.createDataFrame(found.rows),
                spark.createDataFrame(found.rejects),
                spark.range(found.n_read),
                found.clock,
            )
        case WholeFiles():
            return _of_whole_files(raw, schema, computed)
        case LinesOfFiles():
            return _of_lines(raw, schema, computed)
        case _:
            return _of_frame(raw, schema, computed)


def _names(schema: StreamSchema, derived: Sequence[str]) -> list[str]:
    return [column.name for column in stored_columns(schema, derived)]


def _split(check: RowCheck, checked: DataFrame, raw: DataFrame) -> NormalizedFrame:
    rows, rejects = check.rows_of(checked), check.rejects_of(checked)
    if check.schema.op is not None:
        rows, rejects = _corrected(check.schema, rows, check.withdrawals_of(checked), rejects)
    return NormalizedFrame(rows, rejects, raw, check.clock)


def _corrected(
    schema: StreamSchema, rows: DataFrame, withdrawals: DataFrame, rejects: DataFrame
) -> tuple[DataFrame, DataFrame]:
    rejected = reduce(DataFrame.unionByName, rejected_corrections(schema, rows, withdrawals), rejects)
    return corrected_rows(schema, rows, withdrawals), rejected


def _check_for(
    raw: WholeFiles | LinesOfFiles, schema: StreamSchema, derived: tuple[str, ...], names: Sequence[str]
) -> RowCheck:
    """The check of files, which must have all columns; the first records show the clock."""
    files = raw.files if isinstance(raw, WholeFiles) else raw.addresses
    sample = read_sample(raw.kind, files, SAMPLE, what=raw.what, columns=names)
    if raw.kind is Format.JSON_LINES and not set(names) <= set(sample.column_names):
        sample = with_columns(sample, _later_names(raw))
    return RowCheck(schema, derived, normalize(sample, schema, derived).clock)


def _later_names(raw: WholeFiles | LinesOfFiles) -> list[str]:
    """All names in JSON lines, some of which do not occur in the first lines."""
    if isinstance(raw, LinesOfFiles):
        return lines.names_in(raw)
    tables = (read_one(raw.kind, file, what=raw.what) for file in raw.files)
    return list(dict.fromkeys(name for table in tables for name in table.column_names))


def _of_whole_files(raw: WholeFiles, schema: StreamSchema, derived: tuple[str, ...]) -> NormalizedFrame:
    names = _names(schema, derived)
    check = _check_for(raw, schema, derived, names)
    checked = whole_files.checked(raw, check, names)
    return _split(check, checked, checked)


def _of_lines(raw: LinesOfFiles, schema: StreamSchema, derived: tuple[str, ...]) -> NormalizedFrame:
    names = _names(schema, derived)
    check = _check_for(raw, schema, derived, names)
    is_csv = raw.kind is Format.CSV
    seen = lines.survey(raw)
    if is_csv and seen.is_cut:
        return _of_whole_files(WholeFiles(raw.spark, raw.kind, raw.addresses, raw.what), schema, derived)
    has_header = is_csv and raw.dialect.has_header
    headers = lines.headers_of(raw) if is_csv else {}
    checked = lines.checked(
        raw,
        check,
        names,
        {seen.files[path]: header for path, header in headers.items() if path in seen.files},
        seen.offsets([str(file) for file in raw.files], has_header=has_header),
    )
    return _split(check, checked, raw.spark.range(seen.n_records(has_header=has_header)))


def _of_frame(frame: DataFrame, schema: StreamSchema, derived: tuple[str, ...]) -> NormalizedFrame:
    wanted = stored_columns(schema, derived)
    names = [column.name for column in wanted]
    require_columns(schema, names, frame.columns)
    clock = _clock_of(frame, schema)
    for column in wanted:
        require_readable(schema, column, _arrow_type(frame, column.name), clock)
    check = RowCheck(schema, derived, clock)
    numbered = frame if schema.id else _with_row_numbers(frame, ROW_NUMBER)
    selected = numbered.select(*(named(name) for name in (*names, *([] if schema.id else [ROW_NUMBER]))))
    in_utc = frame.sparkSession.conf.get("spark.sql.session.timeZone") == "UTC"
    casts: dict[str, ColumnCast] = {}
    for column in wanted:
        have = frame.schema[column.name].dataType
        cast = plain_cast(named(column.name), have, column.type, clock, in_utc=in_utc, epoch=schema.epoch)
        if cast is None:
            return _split(check, _in_workers(selected, names, check), frame)
        casts[column.name] = cast
    says = None if schema.op is None else casts.pop(schema.op).value
    good = _is_valid(schema, casts, clock)
    if says is None:
        rows = selected.where(good).select(*_row_columns(schema, casts))
        return NormalizedFrame(rows, check.rejects_of(_in_workers(selected.where(~good), names, check)), frame, clock)
    happened, withdrawn = (F.coalesce(says == F.lit(word), F.lit(False)) for word in (EVENT, WITHDRAWAL))
    named_event = casts[schema.id or ID]
    withdraws = withdrawn & ~named_event.bad & named_event.value.isNotNull()
    rows = selected.where(happened & good).select(*_row_columns(schema, casts))
    withdrawals = selected.where(withdraws).select(named_event.value.alias(ID))
    others = selected.where(~(happened & good) & ~withdraws)
    rows, rejects = _corrected(schema, rows, withdrawals, check.rejects_of(_in_workers(others, names, check)))
    return NormalizedFrame(rows, rejects, frame, clock)


def _clock_of(frame: DataFrame, schema: StreamSchema) -> Clock:
    """The clock of the times of a stream; times of withdrawals do not matter."""
    declared = declared_clock(schema)
    if declared is Clock.TICKS or (declared and schema.epoch):
        return declared
    kind = _arrow_type(frame, schema.start)
    if schema.op is not None:
        frame = frame.where(F.coalesce(named(schema.op).cast("string") != F.lit(WITHDRAWAL), F.lit(True)))
    column = frame.select(named(schema.start)).limit(SAMPLE).toArrow().column(0) if pa.types.is_string(kind) else None
    return clock_in(schema, pa.chunked_array([], kind) if column is None else column)


def _arrow_type(frame: DataFrame, name: str) -> pa.DataType:
    return to_arrow_type(frame.schema[name].dataType, timezone="UTC")


def _is_valid(schema: StreamSchema, casts: dict[str, ColumnCast], clock: Clock) -> Column:
    """Whether a row satisfies the declaration; never null."""
    required = dict.fromkeys((schema.start, schema.end, *schema.key, schema.id, schema.order_by))
    conditions = [~cast.bad for cast in casts.values()]
    conditions += [casts[name].value.isNotNull() for name in required if name is not None]
    times = dict.fromkeys((schema.start, schema.end))
    conditions += [F.coalesce(casts[name].value.between(*limits(clock)), F.lit(False)) for name in times]
    if schema.is_interval:
        conditions.append(F.coalesce(casts[schema.start].value <= casts[schema.end].value, F.lit(False)))
    conditions += fits({name: cast.value for name, cast in casts.items()}, schema, clock)
    return reduce(and_, conditions)


def _row_columns(schema: StreamSchema, casts: dict[str, ColumnCast]) -> list[Column]:
    place = casts[schema.order_by].value if schema.order_by else F.lit(None).cast("bigint")
    identity = casts[schema.id].value if schema.id else named(ROW_NUMBER)
    values = {name: cast.value for name, cast in casts.items()}
    first, last = moments(values, schema)
    about = {START: first, END: last, PLACE: place, ID: identity}
    return [value.alias(name) for name, value in {**on_grid(values, schema), **about}.items()]


def _in_workers(selected: DataFrame, names: Sequence[str], check: RowCheck) -> DataFrame:
    task = partial(_checked, tuple(names), check)
    return plainly_named(selected).mapInArrow(task, from_arrow_schema(check.arrow_schema()))


def _checked(names: tuple[str, ...], check: RowCheck, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        table = pa.Table.from_batches([batch])
        numbers = table.column(len(names)).to_numpy() if table.num_columns > len(names) else None
        yield from check.checked(table.select(range(len(names))).rename_columns(list(names)), numbers)


def _with_row_numbers(frame: DataFrame, name: str) -> DataFrame:
    """The rows with their number, from 1 through all files in the order of names.

    This takes another pass, which counts rows, because Spark reads the blocks of files in any order.
    """
    marked = frame.withColumn(WITHIN, F.monotonically_increasing_id())
    try:
        marked = marked.withColumn(BLOCK, F.expr("struct(_metadata.file_path, _metadata.file_block_start)"))
        marked.schema  # noqa: B018  (asks for the analysis, which fails where there are no files)
    except AnalysisException:
        marked = frame.withColumn(WITHIN, F.monotonically_increasing_id())
        marked = marked.withColumn(BLOCK, F.struct(F.spark_partition_id().alias("partition")))
    blocks = marked.groupBy(BLOCK).agg(F.count("*").alias("@n"), F.min(WITHIN).alias("@first"))
    before = F.coalesce(F.sum("@n").over(Window.orderBy(BLOCK).rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
    offsets = blocks.select(BLOCK, "@first", before.alias("@before"))
    numbered = marked.join(F.broadcast(offsets), BLOCK)
    number = F.col("`@before`") + F.col(f"`{WITHIN}`") - F.col("`@first`") + 1
    return numbered.withColumn(name, number).drop(WITHIN, BLOCK, "@first", "@before")


_DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class ColumnCast:
    """A value of the wanted type, or null; `bad` marks values that cannot be converted."""

    value: Column
    bad: Column


def plain_cast(
    column: Column, have: T.DataType, kind: Type, clock: Clock, *, in_utc: bool, epoch: str | None = None
) -> ColumnCast | None:
    """The column as a type of the language, or None if Spark and `io.casting` may differ on it.

    `in_utc` says whether the time zone of the session is UTC; then times without a zone need no conversion.
    """
    if epoch is not None and kind is Type.TIME and isinstance(have, T.NumericType):
        return _since_1970(column, EPOCHS[epoch]) if isinstance(have, T.IntegralType) else None
    match have:
        case T.ByteType() | T.ShortType() | T.IntegerType() | T.LongType():
            return _from_whole(column, kind)
        case T.FloatType() | T.DoubleType():
            return _from_double(column.cast("double"), kind)
        case T.BooleanType() if kind in (Type.INTEGER, Type.DOUBLE):
            return _sure(column.cast("int").cast("bigint" if kind is Type.INTEGER else "double"))
        case T.BooleanType() if kind in (Type.BOOLEAN, Type.STRING):
            return _sure(column.cast(kind.value))
        case T.StringType() if kind is Type.STRING:
            return _sure(column.cast("string"))
        case T.TimestampType() if kind is Type.TIME and clock is Clock.TIMESTAMP:
            return _timestamp(column, F.unix_micros(column))
        case T.TimestampNTZType() if kind is Type.TIME and clock is Clock.TIMESTAMP:
            instant = column if in_utc else F.concat(column.cast("string"), F.lit("Z"))
            return _timestamp(column, F.unix_micros(instant.try_cast("timestamp")))
        case T.DateType() if kind is Type.TIME and clock is Clock.TIMESTAMP:
            return _timestamp(column, F.try_multiply(F.unix_date(column).cast("bigint"), F.lit(_DAY_US)))
        case T.ArrayType(elementType=T.DoubleType()) if kind is Type.WEIGHTS:
            return _sure(column)
    return None


def _since_1970(column: Column, unit_us: Fraction) -> ColumnCast:
    """A whole number of units since 1970 as microseconds; nanoseconds are truncated."""
    number = column.cast("bigint")
    if unit_us >= 1:
        return _timestamp(column, F.try_multiply(number, F.lit(int(unit_us)).cast("bigint")))
    whole = F.lit(unit_us.denominator).cast("bigint")
    return _timestamp(column, F.call_function("div", F.try_subtract(number, F.pmod(number, whole)), whole))


def _timestamp(column: Column, micros: Column) -> ColumnCast:
    """A time in microseconds, which is bad beyond the limits of timestamps."""
    within = F.coalesce(micros.between(*YEARS_US), F.lit(False))
    return ColumnCast(F.when(within, micros), column.isNotNull() & ~within)


def _sure(value: Column) -> ColumnCast:
    return ColumnCast(value, F.lit(False))


def _from_whole(column: Column, kind: Type) -> ColumnCast:
    match kind:
        case Type.BOOLEAN:
            truth = F.when(column == 1, F.lit(True)).when(column == 0, F.lit(False))
            return ColumnCast(truth, column.isNotNull() & truth.isNull())
        case Type.DOUBLE | Type.STRING:
            return _sure(column.cast(kind.value))
        case _:
            return _sure(column.cast("bigint"))


def _from_double(column: Column, kind: Type) -> ColumnCast | None:
    if kind is Type.DOUBLE:
        return _sure(finite(column))
    if kind in (Type.STRING, Type.BOOLEAN):
        return None
    is_whole = F.coalesce((column % F.lit(1.0) == 0.0) & (F.abs(column) < 2.0**63), F.lit(False))
    is_missing = column.isNull() | F.isnan(column)
    return ColumnCast(F.when(is_whole, column.cast("bigint")), ~is_missing & ~is_whole)


def moments(values: Mapping[str, Column], schema: StreamSchema) -> tuple[Column, Column]:
    """The start and the end of events; of imprecise times, the first and the last possible moment.

    An expression with a null operand, or one that exceeds 64 bits, is null.
    """
    starts, ends = values[schema.start], values[schema.end]
    if isinstance(schema.uncertainty, ImpreciseTime) and schema.uncertainty.error is not None:
        error = _error(values, schema, schema.uncertainty.error)
        starts, ends = F.try_subtract(starts, error), F.try_add(ends, error)
    return (starts, ends) if schema.grid is None else (_rounded(starts, schema.grid), _rounded(ends, schema.grid))


def on_grid(values: Mapping[str, Column], schema: StreamSchema) -> dict[str, Column]:
    """The columns of a stream with its times rounded down to ticks."""
    if schema.grid is None:
        return dict(values)
    return {**values, **{name: _rounded(values[name], schema.grid) for name in (schema.start, schema.end)}}


def fits(values: Mapping[str, Column], schema: StreamSchema, clock: Clock) -> list[Column]:
    """The conditions on the possible moments of a row, none of which is null."""
    if not isinstance(schema.uncertainty, ImpreciseTime) or schema.uncertainty.error is None:
        return []
    conditions = []
    if isinstance(schema.uncertainty.error, ErrorColumn):
        conditions.append(values[schema.uncertainty.error.name].between(0, largest_error(schema)))
    conditions += [moment.between(*limits(clock)) for moment in moments(values, schema)]
    return [F.coalesce(condition, F.lit(False)) for condition in conditions]


def _error(values: Mapping[str, Column], schema: StreamSchema, error: Duration | ErrorColumn | ClockErrors) -> Column:
    match error:
        case Duration():
            return F.lit(schema.units(error)).cast("bigint")
        case ErrorColumn(name=name):
            return F.try_multiply(values[name], F.lit(schema.grid or 1).cast("bigint"))
        case ClockErrors(column=column, usual=usual, others=others):
            clock = values[column]
            found = F.when(clock.isNull(), F.lit(None).cast("bigint"))
            for name, span in others:
                found = found.when(clock == F.lit(name), F.lit(schema.units(span)).cast("bigint"))
            return found.otherwise(F.lit(schema.units(usual)).cast("bigint"))


def _rounded(time: Column, grid: int) -> Column:
    """The time rounded down to a tick."""
    return F.try_subtract(time, F.pmod(time, F.lit(grid).cast("bigint")))
