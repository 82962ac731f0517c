"""Self-joins of readings with later ones up to a minute away, as one writes them first and as one writes them well."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from benchmarks.queries.query import ByHand

SECONDS = 60
STRETCH_US = SECONDS * 1_000_000

Join: TypeAlias = Callable[[DataFrame, DataFrame, Column], DataFrame]
"""Rows of `first`, with `device` and `start`, beside those of `later`, with `at`, that fulfill a condition."""


def join_plainly(first: DataFrame, later: DataFrame, condition: Column) -> DataFrame:
    """All pairs of one device meet."""
    same = F.col("first.device") == F.col("later.device")
    return first.alias("first").join(later.alias("later"), same & _near() & condition)


def join_in_stretches(first: DataFrame, later: DataFrame, condition: Column) -> DataFrame:
    """Only rows in the same or the next minute meet."""
    number = F.floor(F.unix_micros("start") / STRETCH_US)
    spread = first.withColumn("stretch", F.explode(F.array(number, number + 1)))
    placed = later.withColumn("stretch", F.floor(F.unix_micros("at") / STRETCH_US))
    same = (F.col("first.device") == F.col("later.device")) & (F.col("first.stretch") == F.col("later.stretch"))
    return spread.alias("first").join(placed.alias("later"), same & _near() & condition)


def by_self_join(matches: Callable[[DataFrame, Join], DataFrame]) -> tuple[ByHand, ...]:
    """A query with either join."""
    return (
        ByHand("self-join", partial(matches, join=join_plainly), least_ratio=3.0),
        ByHand("self-join within minutes", partial(matches, join=join_in_stretches), least_ratio=1.0),
    )


def _near() -> Column:
    return (F.col("at") > F.col("start")) & (F.col("at") <= F.col("start") + F.expr(f"INTERVAL {SECONDS} SECONDS"))
