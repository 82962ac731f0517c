"""Self-joins over a limited time, written well: only rows in the same or the next stretch of time meet."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

SECONDS = 60
STRETCH_US = SECONDS * 1_000_000


def join_later(first: DataFrame, later: DataFrame, condition: Column, how: str = "inner") -> DataFrame:
    """Rows of `first` (with `device` and `start`) beside rows of `later` (with `at`) up to a minute after them."""
    number = F.floor(F.unix_micros("start") / STRETCH_US)
    spread = first.withColumn("stretch", F.explode(F.array(number, number + 1)))
    placed = later.withColumn("stretch", F.floor(F.unix_micros("at") / STRETCH_US)).alias("later")
    near = (F.col("at") > F.col("start")) & (F.col("at") <= F.col("start") + F.expr(f"INTERVAL {SECONDS} SECONDS"))
    same = (F.col("first.device") == F.col("later.device")) & (F.col("first.stretch") == F.col("later.stretch"))
    return spread.alias("first").join(placed, same & near & condition, how)


def join_plainly(first: DataFrame, later: DataFrame, condition: Column) -> DataFrame:
    """The same rows, found among all pairs of one device."""
    near = (F.col("at") > F.col("start")) & (F.col("at") <= F.col("start") + F.expr(f"INTERVAL {SECONDS} SECONDS"))
    same = F.col("first.device") == F.col("later.device")
    return first.alias("first").join(later.alias("later"), same & near & condition)
