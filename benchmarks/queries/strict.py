"""Three consecutive readings of a device: every event matters, for any may stand between two others."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from benchmarks.queries.query import ByHand, Query

EVENT = """
EVENT found(device) AS
  PATTERN SEQ STRICT(Reading[kind = 0], Reading[kind = 1], Reading[kind = 2])
  PARTITION BY device
  PER END;
"""


def lead(readings: DataFrame) -> DataFrame:
    later = Window.partitionBy("device").orderBy("t")
    ahead = readings.select(
        "kind",
        F.col("t").alias("start"),
        F.lead("kind", 1).over(later).alias("second"),
        F.lead("kind", 2).over(later).alias("third"),
        F.lead("t", 2).over(later).alias("end"),
    )
    return ahead.where("kind = 0 AND second = 1 AND third = 2").select("start", "end")


BY_HAND = (ByHand("window functions", lead, least_ratio=1.0),)
QUERY = Query("strict, where matches end", EVENT, 1e6, BY_HAND)
