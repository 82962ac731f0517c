"""The next fitting reading, twice, within a minute; one reading in five fits any step."""

from pathlib import Path

import polars as pl
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from benchmarks.queries.query import ByHand, Found, Query

EVENT = """
EVENT found(device) AS
  PATTERN SEQ NEXT(Reading[kind = 0 AND level > 0.5], Reading[kind = 1 AND code >= 500], Reading[kind = 2])
  WITHIN 60 SECONDS
  PARTITION BY device;
"""
FITS = "kind = 0 AND level > 0.5 OR kind = 1 AND code >= 500 OR kind = 2"


def running_last(readings: DataFrame) -> DataFrame:
    """From the latest reading back, so that what comes next is what was seen last."""
    back = Window.partitionBy("device").orderBy(F.desc("t")).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    fitting = readings.where(FITS).select("device", "t", "kind")
    with_c = fitting.withColumn("c", F.last(F.when(F.col("kind") == 2, F.col("t")), True).over(back))
    with_b = with_c.withColumn("b", F.last(F.when(F.col("kind") == 1, F.struct("c")), True).over(back))
    matches = with_b.where("kind = 0").select(F.col("t").alias("start"), F.col("b.c").alias("end"))
    return matches.where("end <= start + INTERVAL 60 SECONDS")


def as_of_joins(path: Path) -> Found:
    """One process, all cores; readings lie in the file in the order of time."""
    rows = pl.scan_parquet(path)
    a = rows.filter((pl.col("kind") == 0) & (pl.col("level") > 0.5)).select("device", start="t")
    b = rows.filter((pl.col("kind") == 1) & (pl.col("code") >= 500)).select("device", b="t")
    c = rows.filter(pl.col("kind") == 2).select("device", end="t")
    after = {"by": "device", "strategy": "forward", "allow_exact_matches": False, "check_sortedness": False}
    b = b.join_asof(c, left_on="b", right_on="end", **after)
    matches = a.join_asof(b, left_on="start", right_on="b", **after)
    matches = matches.filter(pl.col("end") - pl.col("start") <= pl.duration(seconds=60))
    sums = matches.select(
        pl.len().alias("n"), *(pl.col(name).dt.epoch("us").cast(pl.Int128).sum() for name in ("start", "end"))
    )
    return Found(*sums.collect().row(0))


QUERY = Query(
    "next match, 80 % dropped",
    EVENT,
    4e6,
    (ByHand("window functions", running_last, least_ratio=1.0),),
    elsewhere={"polars, as-of joins": as_of_joins},
)
