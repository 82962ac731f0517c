"""Shares of the work with the same rows: every share has them all, of a group of keys or of everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from inkling.evaluators.division import Share
from inkling.spark.stage_frame import named

GROUP, SHARE, N_SHARES = "@group", "@share", "@n_shares"
_N_ROWS = "@n_rows"

ROWS_WORTH_SHARING = 1_000
"""Smaller groups are never divided."""


def shared_out(rows: DataFrame, group: Sequence[Column], n_partitions: int) -> DataFrame:
    """Rows in so many partitions, those of one group together; a group of several shares, whole for each of them.

    Without a `group`, all rows are one.
    """
    if group:
        rows = _with_shares(rows.withColumn(GROUP, F.xxhash64(*group)), n_partitions)
    else:
        rows = rows.select("*", F.lit(0).cast("bigint").alias(GROUP), F.lit(n_partitions).alias(N_SHARES))
    rows = rows.withColumn(SHARE, F.explode(F.sequence(F.lit(0), named(N_SHARES) - 1)))
    place = F.pmod(F.pmod(named(GROUP), F.lit(n_partitions)) + named(SHARE), F.lit(n_partitions))
    return rows.repartitionById(n_partitions, place.cast("int"))


def _with_shares(rows: DataFrame, n_partitions: int) -> DataFrame:
    """Rows with the number of shares of their group, whose work grows with the square of its rows."""
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
    """What a worker has to do: small groups all together, and shares of large ones."""
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
