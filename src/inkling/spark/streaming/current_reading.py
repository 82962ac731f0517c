"""The matches that hold now, as a frame."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from inkling.errors import InputError, nearest
from inkling.spark.streaming.addresses import absolute
from inkling.spark.streaming.current_sink import read_pieces
from inkling.spark.streaming.current_versions import Versions
from inkling.spark.streaming.result_id import newest
from inkling.spark.streaming.sinks import BATCH


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
