"""How comparing keys is divided: whole groups of keys to one worker, and large groups to several, a share to each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.hashes import Hashes
from inkling.model.batch import Ints
from inkling.spark.stage_frame import named

GROUP, SHARE, N_SHARES = "@group", "@share", "@n_shares"

ROWS_PER_SHARE = 1_000
"""Groups of more rows are divided: what it takes to compare all keys with each other grows with the square of that."""


def shared_out(rows: DataFrame, group: Sequence[Column], n_partitions: int) -> DataFrame:
    """Rows in so many partitions, those of one group together; a group of several shares, whole for each of them.

    Keys of one group, which have the same values of `group`, are compared with each other only.
    """
    if not group:
        every = F.explode(F.sequence(F.lit(0), F.lit(n_partitions - 1)))
        marked = rows.select("*", F.lit(0).cast("bigint").alias(GROUP), F.lit(n_partitions).alias(N_SHARES))
        return marked.withColumn(SHARE, every).repartitionById(n_partitions, named(SHARE))
    rows = rows.withColumn(GROUP, F.xxhash64(*group))
    n_shares = F.least(F.lit(n_partitions), F.ceil(F.count(F.lit(1)) / ROWS_PER_SHARE)).cast("int")
    large = rows.groupBy(named(GROUP)).agg(n_shares.alias(N_SHARES)).where(named(N_SHARES) > 1)
    rows = rows.join(F.broadcast(large), GROUP, "left").fillna(1, N_SHARES)
    every = F.explode(F.sequence(F.lit(0), named(N_SHARES) - 1))
    place = F.pmod(named(GROUP) + named(SHARE), F.lit(n_partitions)).cast("int")
    return rows.withColumn(SHARE, every).repartitionById(n_partitions, place)


@dataclass(frozen=True, slots=True)
class Share:
    """Rows of whole groups, and which part of the work with them is to be done."""

    rows: pa.Table
    number: int
    count: int

    def keys(self, n_points: Ints, names: Hashes) -> Ints:
        """The left keys that are compared here, by how many points each has: about the same work in every share.

        Which keys these are depends on what they are called, not on the order in which rows arrive.
        """
        order = np.lexsort((names, -n_points))
        if self.count == 1:
            return np.arange(len(names))
        turn, place = np.divmod(np.arange(len(order)), self.count)
        share = np.where(turn % 2 == 0, place, self.count - 1 - place)
        return np.sort(order[share == self.number])


def shares_of(rows: pa.Table) -> Iterator[Share]:
    """What a worker has to do: small groups all together, and shares of large ones."""
    group, number, count = (rows[name].to_numpy() for name in (GROUP, SHARE, N_SHARES))
    rows = rows.drop_columns([GROUP, SHARE, N_SHARES])
    small = count == 1
    if small.all():
        yield Share(rows, 0, 1)
        return
    if small.any():
        yield Share(rows.filter(pa.array(small)), 0, 1)
    large = np.flatnonzero(~small)
    large = large[np.lexsort((number[large], group[large]))]
    changes = (np.diff(group[large]) != 0) | (np.diff(number[large]) != 0)
    for places in np.split(large, np.flatnonzero(changes) + 1):
        yield Share(rows.take(pa.array(places)), int(number[places[0]]), int(count[places[0]]))
