"""Row numbers in the order of the input, for streams without an id column."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

WITHIN, BLOCK = "@within", "@block"


def with_row_numbers(frame: DataFrame, name: str) -> DataFrame:
    """The rows with their number, counted from 1 through all files in name order.

    Costs one more pass that counts rows: Spark reads the blocks of its files in an order of its own.
    """
    marked = frame.withColumn(WITHIN, F.monotonically_increasing_id())
    try:
        marked = marked.withColumn(BLOCK, F.expr("struct(_metadata.file_path, _metadata.file_block_start)"))
        marked.schema  # noqa: B018  (asks for the analysis, which fails where there are no files)
    except AnalysisException:
        marked = frame.withColumn(WITHIN, F.monotonically_increasing_id())
        marked = marked.withColumn(BLOCK, F.struct(F.spark_partition_id().alias("partition")))
    blocks = marked.groupBy(BLOCK).agg(F.count("*").alias("@n"), F.min(WITHIN).alias("@first"))
    before = F.coalesce(F.sum("@n").over(Window.orderBy(BLOCK).rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
    offsets = blocks.select(BLOCK, "@first", before.alias("@before"))
    numbered = marked.join(F.broadcast(offsets), BLOCK)
    number = F.col("`@before`") + F.col(f"`{WITHIN}`") - F.col("`@first`") + 1
    return numbered.withColumn(name, number).drop(WITHIN, BLOCK, "@first", "@before")
