"""A table per event of the currently valid matches, in files; `read_current` reads it.

Withdrawn matches are removed from the table, and corrected ones replaced. `current_versions` describes the files.
"""

import math
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from inkling.errors import InputError, nearest
from inkling.spark.streaming.addresses import absolute
from inkling.spark.streaming.sinks.current_versions import (
    CurrentTable,
    TablePiece,
    TablesVersion,
    TablesVersions,
    require_same_columns,
)
from inkling.spark.streaming.sinks.outputs import SinkOutput
from inkling.spark.streaming.sinks.protocol import (
    BATCH,
    ROWS_IN_ONE_FILE,
    FileSink,
    SinkStart,
    lost_results,
    other_results,
)
from inkling.spark.streaming.sinks.result_id import RESULT_ID, net, newest, with_result_id

SECONDS_KEPT = 600.0
"""Seconds for which replaced files stay, for readers that began before."""


@dataclass(frozen=True, slots=True)
class CurrentSink:
    """Tables of current matches in a folder; late rows, rejects and the outputs of ON RETRACT are appended as batches.

    A micro-batch takes effect for all events at once, when its list of files is written; a repeated delivery changes
    nothing.
    """

    path: str
    seconds_kept: float = SECONDS_KEPT

    def begin(self, start: SinkStart) -> None:
        self._growing.begin(start)
        versions = TablesVersions(start.spark, absolute(self.path))
        version = versions.newest()
        if start.is_new and any(table.pieces for table in version.tables.values()):
            raise other_results(f"`{self.path.rstrip('/')}` holds tables of current matches", f"`{self.path}`")
        if not start.is_new and start.columns and not version.tables:
            raise lost_results(f"`{self.path}`")
        self.require_columns(start.spark, start.columns)
        versions.remove_all_but(version.folders)
        empty = {name: CurrentTable(columns.jsonValue()) for name, columns in start.columns.items()}
        if empty.keys() - version.tables.keys():
            versions.put(replace(version, tables={**empty, **version.tables}))

    def require_columns(self, spark: SparkSession, columns: Mapping[str, StructType]) -> None:
        tables = TablesVersions(spark, absolute(self.path)).newest().tables
        for name in tables.keys() & columns.keys():
            require_same_columns(name, f"`{self.path}`", tables[name].schema, columns[name])

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        versions: TablesVersions | None = None
        version, now = TablesVersion(), time.time()
        for output in outputs:
            if output.only_grows:
                self._growing.deliver((output,), batch)
                continue
            if versions is None:
                versions = TablesVersions(output.frame.sparkSession, absolute(self.path))
                version = versions.newest()
            if version.batch < batch:
                version = version.with_table(output.name, self._changed(versions, version, output, batch), now)
        if versions is not None and version.batch < batch:
            self._put(versions, replace(version, batch=batch), now)

    @property
    def _growing(self) -> FileSink:
        return FileSink(self.path)

    def _changed(
        self, versions: TablesVersions, version: TablesVersion, output: SinkOutput, batch: int
    ) -> CurrentTable:
        columns = output.frame.schema
        table = version.tables.get(output.name, CurrentTable(columns.jsonValue()))
        require_same_columns(output.name, f"`{self.path}`", table.schema, columns)
        stay, folded = table.folded(output.n_rows)
        n_rows = output.n_rows + sum(piece.rows for piece in folded)
        rows = net(_gathered(with_result_id(output.frame), output.n_rows)).withColumn(
            BATCH, F.lit(batch).cast("bigint")
        )
        if folded:
            both = reduce(DataFrame.unionByName, [rows, read_pieces(versions, table, folded)])
            rows = newest(_gathered(both, n_rows), BATCH)
        if not stay:
            rows = rows.where(F.col("op") == "+")  # no older piece has rows to withdraw
        folder = versions.new_folder(output.name, f"{batch:012d}-{uuid.uuid4().hex[:8]}")
        seen = Observation()
        counted = rows.observe(seen, F.count(F.lit(1)).alias("n"))
        counted.write.parquet(f"{versions.pieces.path}/{folder}")
        return replace(table, pieces=(*stay, TablePiece(folder, seen.get["n"])))

    def _put(self, versions: TablesVersions, version: TablesVersion, now: float) -> None:
        over = [folder for folder, since in version.dropped.items() if now - since >= self.seconds_kept]
        kept = {folder: since for folder, since in version.dropped.items() if folder not in over}
        versions.put(replace(version, dropped=kept))
        for folder in over:
            versions.pieces.remove_all(folder)


def read_pieces(versions: TablesVersions, table: CurrentTable, pieces: Iterable[TablePiece]) -> DataFrame:
    """The rows of some pieces, with the number of the micro-batch that wrote them."""
    columns = table.schema.add(RESULT_ID, "string").add(BATCH, "long")
    folders = [f"{versions.pieces.path}/{piece.folder}" for piece in pieces]
    reader = versions.spark.read.schema(columns)
    return reader.parquet(*folders) if folders else versions.spark.createDataFrame([], columns)


def _gathered(frame: DataFrame, n_rows: int) -> DataFrame:
    """The rows in as many partitions as there are files to write; those of one result are in one partition."""
    if n_rows <= ROWS_IN_ONE_FILE:
        return frame.coalesce(1)
    return frame.repartition(math.ceil(n_rows / ROWS_IN_ONE_FILE), RESULT_ID)


def read_current(spark: SparkSession, path: str | Path, event: str) -> DataFrame:
    """The currently valid matches of an event after the last micro-batch, with `result_id` as the last column.

    `path` is the folder that a stream writes to with `?keep=current`. The frame has the matches at the time of the
    call; call again to see later ones.
    """
    versions = TablesVersions(spark, absolute(path))
    version = versions.newest()
    table = version.tables.get(event)
    if table is None:
        close = nearest(event, version.tables, n=1)
        raise InputError.of(
            "INK0573",
            f"`{path}` has no table of current matches of `{event}`",
            notes=(f"it has {', '.join(f'`{name}`' for name in version.tables) or 'none at all'}",),
            helps=tuple(f"did you mean `{one}`?" for one in close),
        )
    rows = read_pieces(versions, table, table.pieces)
    if len(table.pieces) > 1:
        rows = newest(rows, BATCH).where(F.col("op") == "+")
    return rows.drop(BATCH)
