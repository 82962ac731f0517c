"""Messages whose values are RDF: every message is a small document, with one row per statement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from inkling.io.readers.formats import Format
from inkling.io.readers.rdf import read_documents
from inkling.io.readers.rdf_lines import DOCUMENT
from inkling.io.readers.records import MALFORMED, ORIGINAL, TEXT
from inkling.io.readers.utf8 import shown, texts
from inkling.spark.kafka.connector import NO_VALUE
from inkling.spark.stage_frame import plainly_named


@dataclass(frozen=True, slots=True)
class Rdf:
    """Each value is a document in an RDF format, to which its blank nodes belong."""

    kind: Format


def rdf_rows(messages: DataFrame, of_values: Sequence[str], own: Sequence[str], rdf: Rdf) -> DataFrame:
    """Columns `of_values` as texts, and `own` columns as they are, repeated for each statement of a message."""
    texts = [StructField(name, StringType()) for name in (*of_values, MALFORMED, ORIGINAL)]
    kinds = StructType([*texts, *messages.schema.fields[2:]])
    return plainly_named(messages).mapInArrow(partial(_parsed, rdf.kind, tuple(of_values), tuple(own)), kinds)


def _parsed(
    kind: Format, of_values: Sequence[str], own: Sequence[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        values, places, *columns = batch.columns
        if not len(values):
            continue
        rows = _rows(kind, values, places.to_pylist(), of_values)
        message = rows[DOCUMENT].combine_chunks()
        rows = rows.drop_columns([DOCUMENT])
        for name, column in zip(own, columns, strict=True):
            rows = rows.append_column(name, column.take(message))
        yield from rows.combine_chunks().to_batches()


def _rows(kind: Format, values: pa.Array, places: Sequence[str], names: Sequence[str]) -> pa.Table:
    """The statements of all messages, with nulls in the columns that their format lacks."""
    documents = [value.as_buffer() or pa.py_buffer(b"") for value in values]
    found, faults = read_documents(kind, documents, places)
    missing = pa.nulls(len(found), TEXT)
    given = {name: found[name] if name in found.column_names else missing for name in (*names, MALFORMED, ORIGINAL)}
    where = pa.array(places, TEXT).take(found[DOCUMENT].combine_chunks())
    given[MALFORMED] = pc.binary_join_element_wise(given[MALFORMED], where, "")
    rows = pa.table({**given, DOCUMENT: found[DOCUMENT]})
    bad = {number: _fault(kind, values[number], fault) for number, fault in faults.items()}
    bad |= {number: (NO_VALUE, None) for number, value in enumerate(values) if not value.is_valid}
    if not bad:
        return rows
    reasons = [reason + places[number] for number, (reason, _) in bad.items()]
    others = {name: pa.nulls(len(bad), TEXT) for name in names}
    others[MALFORMED] = pa.array(reasons, TEXT)
    others[ORIGINAL] = pa.array([original for _, original in bad.values()], TEXT)
    return pa.concat_tables([rows, pa.table({**others, DOCUMENT: pa.array(bad, pa.int64())})])


def _fault(kind: Format, value: pa.Scalar, reason: str) -> tuple[str, str | None]:
    """Why a message cannot be read, and its text."""
    (text,) = texts([value.as_py()])
    return f"not {kind.value}: {reason}", shown(text)
