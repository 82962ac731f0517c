"""One reading, one or more of another kind, then one of a third, each the next of its kind, within a minute."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from benchmarks.queries.query import Query
from benchmarks.queries.self_joins import Join, by_self_join

EVENT = """
EVENT found(device) AS
  PATTERN SEQ NEXT(Reading[kind = 0 AND level > 0.5], Reading[kind = 1 AND code >= 500]+, Reading[kind = 2])
  WITHIN 60 SECONDS
  PARTITION BY device;
"""


def matches(readings: DataFrame, join: Join) -> DataFrame:
    """The last of the repeated readings decides: it may be any after the first, and the third kind is next after it."""
    back = Window.partitionBy("device").orderBy(F.desc("t")).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ends = (
        readings.where("kind = 1 AND code >= 500 OR kind = 2")
        .select("device", "t", "kind", F.last(F.when(F.col("kind") == 2, F.col("t")), True).over(back).alias("end"))
        .where("kind = 1 AND end IS NOT NULL")
        .select("device", F.col("t").alias("at"), "end")
    )
    starts = readings.where("kind = 0 AND level > 0.5").select("device", F.col("t").alias("start"))
    in_time = F.col("end") <= F.col("start") + F.expr("INTERVAL 60 SECONDS")
    return join(starts, ends, in_time).select("start", "end")


QUERY = Query("repetition", EVENT, 1e6, by_self_join(matches))
