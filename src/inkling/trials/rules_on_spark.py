"""Simple rules on Spark: the next detection comes as long after the latest one as the mean, or as that one came."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

SAYS = "says"


def ruled(beside: DataFrame, keys: tuple[str, ...]) -> Iterator[tuple[str, DataFrame]]:
    """By name: the same events with whether a rule says that the next detection comes where the forecast looks."""
    run = Window.partitionBy(*(f"`{key}`" for key in keys), "life").orderBy("event_number")
    so_far = run.rowsBetween(Window.unboundedPreceding, 0)
    before = run.rowsBetween(Window.unboundedPreceding, -1)
    detection = F.when(F.col("detected"), F.col("event_number"))
    gap = detection - F.max(detection).over(before)
    told = beside.select("*", gap.alias("gap"), F.max(detection).over(so_far).alias("latest"))
    usual = _usual_gap(told)
    yield "mean waiting time", _saying(told, F.lit(usual))
    yield "last interval", _saying(told, F.coalesce(F.last("gap", ignorenulls=True).over(so_far), F.lit(usual)))


def _usual_gap(told: DataFrame) -> float:
    """Events from one detection to the next, on average over the past; over everything if it has none."""
    found = told.agg(
        F.avg(F.when(~F.col("judged"), F.col("gap"))), F.avg("gap"), F.max("event_number").cast("double")
    ).first()
    return next((float(value) for value in found or () if value is not None), 1.0)


def _saying(told: DataFrame, gap: Column) -> DataFrame:
    ahead = F.greatest(F.lit(1), F.rint(F.coalesce("latest", F.lit(0)) + gap) - F.col("event_number"))
    says = F.coalesce(ahead.between(F.col("first"), F.col("last")), F.lit(False))
    return told.select("*", says.alias(SAYS))
