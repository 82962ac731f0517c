"""Messages whose values are JSON, parsed in workers by the reader of JSON lines files."""

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from inkling.io.readers.json_text import parse_json_lines
from inkling.io.readers.records import MALFORMED, ORIGINAL, TEXT
from inkling.spark.kafka.connector import NO_VALUE
from inkling.spark.stage_frame import plainly_named


def json_rows(messages: DataFrame, of_values: Sequence[str], own: Sequence[str]) -> DataFrame:
    """Columns `of_values` as texts, and `own` columns as they are."""
    texts = [StructField(name, StringType()) for name in (*of_values, MALFORMED, ORIGINAL)]
    kinds = StructType([*texts, *messages.schema.fields[2:]])
    return plainly_named(messages).mapInArrow(partial(_parsed, tuple(of_values), tuple(own)), kinds)


def _parsed(
    of_values: Sequence[str], own: Sequence[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        values, places, *columns = batch.columns
        rows = rows_of_json(values, places, of_values)
        for name, column in zip(own, columns, strict=True):
            rows = rows.append_column(name, column)
        yield from rows.combine_chunks().to_batches()


def rows_of_json(values: pa.Array, places: pa.Array, names: Sequence[str]) -> pa.Table:
    """One row per value, with the named columns, `MALFORMED` and `ORIGINAL`, all of them texts."""
    if not values.null_count:
        try:
            return _located(_with_faults(parse_json_lines(values.cast(TEXT).to_pylist(), names)), places)
        except (ValueError, RecursionError):  # not UTF-8, or beyond what Python or Arrow can hold
            pass
    one_by_one = [_row(value, names) for value in values.to_pylist()]
    return _located(pa.concat_tables(one_by_one) if one_by_one else _unreadable(None, NO_VALUE, names)[:0], places)


def _row(value: bytes | None, names: Sequence[str]) -> pa.Table:
    if value is None:
        return _unreadable(None, NO_VALUE, names)
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return _unreadable(value.hex(), "not UTF-8", names)
    try:
        return _with_faults(parse_json_lines([text], names))
    except (ValueError, RecursionError) as problem:
        return _unreadable(text, f"JSON that cannot be stored: {problem}", names)


def _unreadable(original: str | None, fault: str, names: Sequence[str]) -> pa.Table:
    columns = {name: pa.nulls(1, TEXT) for name in names}
    return pa.table({**columns, MALFORMED: pa.array([fault], TEXT), ORIGINAL: pa.array([original], TEXT)})


def _with_faults(rows: pa.Table) -> pa.Table:
    """The columns in the order of `_unreadable`."""
    faults = rows[MALFORMED] if MALFORMED in rows.column_names else pa.nulls(len(rows), TEXT)
    others = [name for name in rows.column_names if name not in (MALFORMED, ORIGINAL)]
    return pa.table({**{name: rows[name] for name in others}, MALFORMED: faults, ORIGINAL: rows[ORIGINAL]})


def _located(rows: pa.Table, places: pa.Array) -> pa.Table:
    faults = rows[MALFORMED]
    if faults.null_count == len(faults):
        return rows
    fault_texts = pc.binary_join_element_wise(faults, pa.chunked_array([places]), "")
    return rows.set_column(rows.schema.get_field_index(MALFORMED), MALFORMED, fault_texts)
