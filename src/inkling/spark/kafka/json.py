"""Messages whose values are JSON, parsed in workers by the reader of JSON lines files."""

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from inkling.io.readers.json_text import parse_json_lines
from inkling.io.readers.records import MALFORMED, ORIGINAL, TEXT
from inkling.io.readers.utf8 import shown, texts
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
        rows = rows_of_json(_decoded(values), places, of_values)
        for name, column in zip(own, columns, strict=True):
            rows = rows.append_column(name, column)
        yield from rows.combine_chunks().to_batches()


def _decoded(values: pa.Array) -> list[str | None]:
    return [None if value is None else texts([value])[0] for value in values.to_pylist()]


def rows_of_json(values: Sequence[str | None], places: pa.Array, names: Sequence[str]) -> pa.Table:
    """One row per value, as `utf8.texts` decodes it, with the named columns, `MALFORMED` and `ORIGINAL`, all texts."""
    present = [value for value in values if value is not None]
    if len(present) == len(values):
        try:
            return _located(_with_faults(parse_json_lines(present, names)), places)
        except (ValueError, RecursionError):  # beyond what Python or Arrow can hold
            pass
    one_by_one = [_row(value, names) for value in values]
    return _located(pa.concat_tables(one_by_one) if one_by_one else _unreadable(None, NO_VALUE, names)[:0], places)


def _row(text: str | None, names: Sequence[str]) -> pa.Table:
    if text is None:
        return _unreadable(None, NO_VALUE, names)
    try:
        return _with_faults(parse_json_lines([text], names))
    except (ValueError, RecursionError) as problem:
        return _unreadable(shown(text), f"JSON that cannot be stored: {problem}", names)


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
