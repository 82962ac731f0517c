"""A reading and the next of another kind within a minute, with no reading of a third kind and a higher code between."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from benchmarks.queries.query import Query
from benchmarks.queries.self_joins import Join, by_self_join

EVENT = """
EVENT found(device) AS
  PATTERN SEQ NEXT(Reading a[kind = 0 AND level > 0.5], NOT Reading[kind = 1 AND code > a.code], Reading[kind = 2])
  WITHIN 60 SECONDS
  PARTITION BY device;
"""


def matches(readings: DataFrame, join: Join) -> DataFrame:
    back = Window.partitionBy("device").orderBy(F.desc("t")).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    next_of_third = F.last(F.when(F.col("kind") == 2, F.col("t")), True).over(back)
    pairs = (
        readings.where("kind = 0 AND level > 0.5 OR kind = 2")
        .select("device", "kind", "code", F.col("t").alias("start"), next_of_third.alias("end"))
        .where("kind = 0 AND end <= start + INTERVAL 60 SECONDS")
    )
    between = readings.where("kind = 1").select("device", F.col("t").alias("at"), "code")
    higher = (F.col("at") < F.col("end")) & (F.col("later.code") > F.col("first.code"))
    spoiled = join(pairs, between, higher).select("first.device", "start").distinct()
    return pairs.join(spoiled, ["device", "start"], "left_anti").select("start", "end")


QUERY = Query("negation that looks back", EVENT, 1e6, by_self_join(matches))
