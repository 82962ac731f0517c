"""Results as packed tables: a row of a DataFrame holds many results of one event as bytes.

Spark moves and keeps bytes at no cost per result, whereas a result as a row of its own, with a list of ids, costs more
than finding it. `PackedEvent.rows` unpacks the results of one event for queries; `public_tables` fetches those of many
events in one job and unpacks them in this process.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from inkling.evaluators.result_rows import DETECTED, EVENT, LINEAGE, ROWS_PER_BATCH, event_column
from inkling.evaluators.stage.rows import format as r
from inkling.logical.plan import EventPlan
from inkling.logical.settings import is_forecast
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.physical.naming import physical_name
from inkling.results import CHANCE, EXACT, FORECAST, MARGIN, Matches, public_table
from inkling.spark.stage_frame import named

MOST_BYTES = 16 << 20
"""A packed table is about as large at most."""

MOST_BYTES_OF_COLUMN = 1 << 30
"""Spark moves a column of a partition as one array, which must stay below 2 GB; then the next column is used."""

TABLES = tuple(f"@table{number}" for number in range(16))
PACKED = pa.schema([pa.field(EVENT, pa.int32()), *(pa.field(name, pa.binary()) for name in TABLES)])


@dataclass(slots=True)
class Packer:
    """Packs the tables of one partition."""

    n_bytes: int = 0

    def packed(self, number: int, table: pa.Table) -> pa.Table:
        """The results of the event with this number, as rows of bytes; no rows if there are none."""
        rows = [_bytes_of(batch) for batch in _batches(table)]
        columns: list[list[bytes | None]] = [[None] * len(rows) for _ in TABLES]
        for place, row in enumerate(rows):
            columns[min(self.n_bytes // MOST_BYTES_OF_COLUMN, len(TABLES) - 1)][place] = row
            self.n_bytes += len(row)
        arrays = [pa.array(column, pa.binary()) for column in columns]
        return pa.table([event_column(number, len(rows)), *arrays], schema=PACKED)


def _batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    n_rows = min(ROWS_PER_BATCH, max(1, len(table) * MOST_BYTES // max(1, table.nbytes)))
    yield from (batch for batch in table.to_batches(max_chunksize=n_rows) if batch.num_rows)


def _bytes_of(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def unpack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The results in rows of bytes; the code of a Python worker."""
    for batch in batches:
        for row in zip(*batch.columns, strict=True):
            (table,) = (one for one in row if one.is_valid)
            with pa.ipc.open_stream(table.as_buffer()) as reader:
                yield from reader


@dataclass(frozen=True, slots=True)
class PackedEvent:
    """The results of one event in a frame of packed tables, in which its number is `number`."""

    frame: DataFrame
    number: int
    event: EventPlan
    schema: pa.Schema

    def rows(self) -> DataFrame:
        """A row per result, under internal names."""
        packed = self.frame.where(named(EVENT) == self.number).select(*map(named, TABLES))
        return packed.mapInArrow(unpack, from_arrow_schema(self.schema))

    def public_table(self, packed: pa.Table, clock: Clock) -> pa.Table:
        """The results in these rows of bytes, in the public columns."""
        found = pa.Table.from_batches(unpack(packed.to_batches()), self.schema)
        event, n = self.event, len(found)
        values = {
            one.name: found[physical_name(one.name, one.type)].combine_chunks() for one in (*event.head, *event.returns)
        }
        probability, error, method = pa.repeat(1.0, n), pa.repeat(0.0, n), EXACT
        if is_forecast(event):
            chance, margin = (found[physical_name(name, Type.DOUBLE)].combine_chunks() for name in (CHANCE, MARGIN))
            probability, error, method = chance, margin, FORECAST
        start, end, detected = (found[name].to_numpy() for name in (r.START, r.END, DETECTED))
        lineage = found[LINEAGE].combine_chunks()
        return public_table(event, Matches(start, end, detected, values, lineage, probability, error, method), clock)


def public_tables(events: Sequence[PackedEvent], clock: Clock) -> dict[str, pa.Table]:
    """The results of events of one frame, in the public columns; this runs one job."""
    found = events[0].frame.where(named(EVENT).isin([one.number for one in events])).toArrow()
    numbers, tables = found[EVENT].to_numpy(), found.select(TABLES)
    return {one.event.name: one.public_table(tables.filter(pa.array(numbers == one.number)), clock) for one in events}
