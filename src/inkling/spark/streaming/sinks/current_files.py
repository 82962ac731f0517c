"""A table per event of the matches that hold now, in files: withdrawn ones are gone, corrected ones are replaced.

The matches that hold now, as a frame.
"""

from __future__ import annotations

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
from inkling.spark.streaming.sinks.current_versions import Piece, Table, Version, Versions, require_same_columns
from inkling.spark.streaming.sinks.outputs import Output
from inkling.spark.streaming.sinks.protocol import (
    BATCH,
    ROWS_IN_ONE_FILE,
    Beginning,
    FileSink,
    lost_results,
    other_results,
)
from inkling.spark.streaming.sinks.result_id import RESULT_ID, net, newest, with_result_id

SECONDS_KEPT = 600.0
"""How long a reader may take that began before its files were replaced."""


@dataclass(frozen=True, slots=True)
class CurrentSink:
    """Tables of current matches below a folder; late rows, rejects and the outputs of ON RETRACT are added as batches.

    A micro-batch counts once its list of files is there, for all events at once; delivered again, it changes nothing.
    """

    path: str
    seconds_kept: float = SECONDS_KEPT

    def begin(self, beginning: Beginning) -> None:
        self._growing.begin(beginning)
        versions = Versions(beginning.spark, absolute(self.path))
        version = versions.newest()
        if beginning.is_new and any(table.pieces for table in version.tables.values()):
            raise other_results(f"`{self.path.rstrip('/')}` holds tables of current matches", f"`{self.path}`")
        if not beginning.is_new and beginning.columns and not version.tables:
            raise lost_results(f"`{self.path}`")
        self.require_columns(beginning.spark, beginning.columns)
        versions.remove_all_but(version.folders)
        empty = {name: Table(columns.jsonValue()) for name, columns in beginning.columns.items()}
        if empty.keys() - version.tables.keys():
            versions.put(replace(version, tables={**empty, **version.tables}))

    def require_columns(self, spark: SparkSession, columns: Mapping[str, StructType]) -> None:
        tables = Versions(spark, absolute(self.path)).newest().tables
        for name in tables.keys() & columns.keys():
            require_same_columns(name, f"`{self.path}`", tables[name].schema, columns[name])

    def deliver(self, outputs: Iterable[Output], batch: int) -> None:
        versions: Versions | None = None
        version, now = Version(), time.time()
        for output in outputs:
            if output.only_grows:
                self._growing.deliver((output,), batch)
                continue
            if versions is None:
                versions = Versions(output.frame.sparkSession, absolute(self.path))
                version = versions.newest()
            if version.batch < batch:
                version = version.with_table(output.name, self._changed(versions, version, output, batch), now)
        if versions is not None and version.batch < batch:
            self._put(versions, replace(version, batch=batch), now)

    @property
    def _growing(self) -> FileSink:
        return FileSink(self.path)

    def _changed(self, versions: Versions, version: Version, output: Output, batch: int) -> Table:
        columns = output.frame.schema
        table = version.tables.get(output.name, Table(columns.jsonValue()))
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
            rows = rows.where(F.col("op") == "+")  # there is nothing below that would have to be withdrawn
        folder = versions.new_folder(output.name, f"{batch:012d}-{uuid.uuid4().hex[:8]}")
        seen = Observation()
        counted = rows.observe(seen, F.count(F.lit(1)).alias("n"))
        counted.write.parquet(f"{versions.pieces.path}/{folder}")
        return replace(table, pieces=(*stay, Piece(folder, seen.get["n"])))

    def _put(self, versions: Versions, version: Version, now: float) -> None:
        over = [folder for folder, since in version.dropped.items() if now - since >= self.seconds_kept]
        kept = {folder: since for folder, since in version.dropped.items() if folder not in over}
        versions.put(replace(version, dropped=kept))
        for folder in over:
            versions.pieces.remove_all(folder)


def read_pieces(versions: Versions, table: Table, pieces: Iterable[Piece]) -> DataFrame:
    """Everything these pieces say, with the number of the micro-batch that wrote it."""
    columns = table.schema.add(RESULT_ID, "string").add(BATCH, "long")
    folders = [f"{versions.pieces.path}/{piece.folder}" for piece in pieces]
    reader = versions.spark.read.schema(columns)
    return reader.parquet(*folders) if folders else versions.spark.createDataFrame([], columns)


def _gathered(frame: DataFrame, n_rows: int) -> DataFrame:
    """Rows of one result side by side, in as many parts as there are files to write."""
    if n_rows <= ROWS_IN_ONE_FILE:
        return frame.coalesce(1)
    return frame.repartition(math.ceil(n_rows / ROWS_IN_ONE_FILE), RESULT_ID)


def read_current(spark: SparkSession, path: str | Path, event: str) -> DataFrame:
    """The matches of an event that hold after the last micro-batch, with `result_id` behind the usual columns.

    `path` is the folder that a stream writes to with `?keep=current`. The frame shows what holds at the moment of the
    call; call again to see what came since.
    """
    versions = Versions(spark, absolute(path))
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
