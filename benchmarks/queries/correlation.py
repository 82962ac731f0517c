"""A reading and the next of another kind with a higher code, within a minute."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.queries.query import Query
from benchmarks.queries.stretches import join_later

EVENT = """
EVENT found(device) AS
  PATTERN SEQ NEXT(Reading a[kind = 0 AND level > 0.5], Reading b[kind = 1 AND code > a.code])
  WITHIN 60 SECONDS
  PARTITION BY device;
"""


def self_join(readings: DataFrame) -> DataFrame:
    starts = readings.where("kind = 0 AND level > 0.5").select("device", F.col("t").alias("start"), "code")
    ends = readings.where("kind = 1").select("device", F.col("t").alias("at"), "code")
    higher = F.col("later.code") > F.col("first.code")
    pairs = join_later(starts, ends, higher).select("first.device", "start", "at")
    return pairs.groupBy("device", "start").agg(F.min("at").alias("end"))


QUERY = Query("next match that looks back", EVENT, {"self-join": self_join}, least_rate=1e6, least_ratio=3.0)
