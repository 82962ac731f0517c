"""A reading and the next of another kind with a higher code, within a minute."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.queries.query import Query
from benchmarks.queries.self_joins import Join, by_self_join

EVENT = """
EVENT found(device) AS
  PATTERN SEQ NEXT(Reading a[kind = 0 AND level > 0.5], Reading b[kind = 1 AND code > a.code])
  WITHIN 60 SECONDS
  PARTITION BY device;
"""


def matches(readings: DataFrame, join: Join) -> DataFrame:
    starts = readings.where("kind = 0 AND level > 0.5").select("device", F.col("t").alias("start"), "code")
    ends = readings.where("kind = 1").select("device", F.col("t").alias("at"), "code")
    higher = F.col("later.code") > F.col("first.code")
    pairs = join(starts, ends, higher).select("first.device", "start", "at")
    return pairs.groupBy("device", "start").agg(F.min("at").alias("end"))


QUERY = Query("next match that looks back", EVENT, 1e6, by_self_join(matches))
