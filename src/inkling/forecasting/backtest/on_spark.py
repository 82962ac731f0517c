"""Backtests on Spark: a window per key joins each forecast with the next detection; the driver collects only sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from inkling.forecasting.backtest.program import ScoredForecast, WatchingProgram
from inkling.forecasting.backtest.settings import ScoreSettings
from inkling.forecasting.backtest.trial import span_of
from inkling.forecasting.learning.learn import LearnedModels
from inkling.forecasting.learning.on_spark import rejected_among
from inkling.forecasting.learning.rejected_rows import RejectedRows
from inkling.forecasting.scoring.intervals import CERTAIN, IntervalScores
from inkling.forecasting.scoring.scorecard import Scorecard
from inkling.forecasting.scoring.tally import Tally
from inkling.io import Data
from inkling.logical.plan import ForecastKind
from inkling.model.time import Clock
from inkling.spark import batch


@dataclass(frozen=True, slots=True)
class SparkWatch:
    """Forecasts joined with detections, as DataFrames; implements the protocol `Watched`."""

    watching: WatchingProgram
    results: batch.SparkResults
    learned: LearnedModels
    settings: ScoreSettings

    @classmethod
    def of(
        cls,
        watching: WatchingProgram,
        spark: SparkSession,
        inputs: Mapping[str, Data],
        tables: Mapping[str, Data],
        learned: LearnedModels,
        settings: ScoreSettings,
    ) -> SparkWatch:
        results = batch.run(watching, spark, inputs, tables)
        return cls(watching, results, replace(learned, clock=results.clock), settings)

    def rejected(self) -> RejectedRows:
        return rejected_among(self.results.rejects)

    def cards(self, subject: ScoredForecast) -> Iterator[Scorecard]:
        """A scorecard per order, then those of the baselines for forecasts about a given interval."""
        span = span_of(subject, self.watching, self.learned.clock)
        counted, compared = pa.table({}), None
        for order in self.settings.orders:
            compared = _with_outcomes(self.results[subject.watched(order)], subject, self.learned, span)
            counted = _counted(compared, subject, censored=self.settings.censored)
            yield Scorecard(
                f"order {order}",
                _tally(counted, "judged"),
                _tally(counted, "judged", apart=True),
                order,
                None if subject.is_given or span is not None else _interval_scores(compared),
            )
        if subject.is_given and compared is not None:
            yield _at_shares("share of positives", counted.set_column(0, "chance", pa.repeat(1.0, len(counted))))
            for name, frame in ruled(compared, subject.keys) if span is None else ():
                made = frame.withColumn("chance", F.when(F.col("chance").isNotNull(), F.col(SAYS).cast("double")))
                yield _at_shares(name, _counted(made, subject, censored=self.settings.censored))

    def close(self) -> None:
        self.results.close()


def _with_outcomes(watched: DataFrame, subject: ScoredForecast, learned: LearnedModels, span: int | None) -> DataFrame:
    """Each event with its forecast, the next detection, and whether the forecast is scored."""
    time = F.unix_micros("end") if learned.clock is Clock.TIMESTAMP else F.col("end")
    run = Window.partitionBy(*(f"`{key}`" for key in subject.keys), "life").orderBy("event_number")
    later = run.rowsBetween(1, Window.unboundedFollowing)
    whole = run.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    observed = watched.select(
        *(f"`{key}`" for key in subject.keys),
        "life",
        "event_number",
        "first",
        "last",
        "chance",
        "detected",
        time.alias("time"),
    )
    placed = observed.select(
        "*",
        F.min(F.when(F.col("detected"), F.col("event_number"))).over(later).alias("next_number"),
        F.min(F.when(F.col("detected"), F.col("time"))).over(later).alias("next_time"),
        F.max("event_number").over(whole).alias("end_number"),
        F.max("time").over(whole).alias("end_time"),
    )
    wait = F.col("next_number") - F.col("event_number")
    if span is None:
        came_true: Column = wait.between(F.col("first"), F.col("last"))
        passes_end = F.col("event_number") + F.col("last") > F.col("end_number")
    else:
        came_true = F.col("next_time") - F.col("time") <= span
        passes_end = F.col("time") + span > F.col("end_time")
    judged = F.lit(True) if learned.until is None else F.col("time") > learned.until
    first_judged = F.min(F.when(judged, F.col("event_number"))).over(whole)
    reaches = F.col("event_number") + F.coalesce("last", F.lit(0))
    is_past = (reaches < F.coalesce(first_judged, F.col("end_number") + 1)) & (reaches <= F.col("end_number"))
    return placed.select(
        "*",
        wait.alias("wait"),
        F.coalesce(came_true, F.lit(False)).alias("came_true"),
        passes_end.alias("passes_end"),
        judged.alias("judged"),
        (~judged & is_past).alias("past"),
    )


def _counted(compared: DataFrame, subject: ScoredForecast, *, censored: bool) -> pa.Table:
    """The number of forecasts by chance, and how many came true; `apart` marks forecasts that do not overlap."""
    made = compared.where(F.col("chance").isNotNull())
    stride = subject.forecast.count if subject.forecast.kind is ForecastKind.WITHIN else None
    if stride is None:
        longest = made.where("judged").agg(F.max("last")).first()
        stride = max(1, longest[0] or 1) if longest is not None else 1
    if censored:
        made = made.where(~F.col("passes_end"))
    is_apart = F.col("event_number") % stride == 0
    return (
        made.groupBy("chance", "judged", "past", (is_apart & ~F.col("passes_end")).alias("apart"))
        .agg(F.count("*").alias("n"), F.sum(F.col("came_true").cast("long")).alias("n_true"))
        .toArrow()
    )


def _tally(counted: pa.Table, part: str, *, apart: bool = False) -> Tally:
    rows = counted[part].to_numpy().copy()
    if apart:
        rows &= counted["apart"].to_numpy()
    return Tally.summed(*(counted[name].to_numpy()[rows] for name in ("chance", "n", "n_true")))


def _at_shares(name: str, counted: pa.Table) -> Scorecard:
    """The scorecard of a baseline: the chance of each of its predictions is the share that came true in the past.

    Without a past, all forecasts are used.
    """
    past = _tally(counted, "past" if any(counted["past"].to_pylist()) else "judged")
    known = {value: (yes + 0.5) / (n + 1) for value, n, yes in zip(past.chance, past.n, past.n_true, strict=True)}
    tallies = (_tally(counted, "judged", apart=apart) for apart in (False, True))
    made, apart = (
        Tally.summed(np.array([known.get(value, 0.5) for value in one.chance]), one.n, one.n_true) for one in tallies
    )
    return Scorecard(name, made, apart)


def _interval_scores(compared: DataFrame) -> IntervalScores:
    wait, first, last, off = F.col("wait"), F.col("first"), F.col("last"), F.col("off")
    deviation = F.greatest(F.lit(0), first - wait, wait - last)
    is_scored = F.col("chance").isNotNull() & wait.isNotNull()
    judged = compared.where("judged").select("*", F.when(is_scored, deviation).alias("off"))
    open_chance = 1 - F.when(F.col("chance") >= 1, CERTAIN).otherwise(F.col("chance"))
    found = judged.agg(
        F.count(off).alias("n"),
        F.count_if(off == 0).alias("n_correct"),
        F.sum(F.when(is_scored, last - first)).alias("total_spread"),
        F.sum((last - first) + 2 / open_chance * off).alias("total_score"),
        F.sum(F.when(off == 0, wait - first)).alias("total_distance"),
        F.sum(off).alias("total_deviation"),
        F.sum(off * off).alias("total_squared_deviation"),
        F.sum(off / F.col("next_number")).alias("total_relative_deviation"),
        F.count_if("detected").alias("n_detections"),
        F.avg(F.when(is_scored, F.col("chance"))).alias("mean_chance"),
    ).first()
    keys = compared.columns[: compared.columns.index("event_number")]
    targets = judged.where(is_scored).groupBy(*(f"`{key}`" for key in keys), "next_number")
    seen = (
        targets.agg(F.min(off).alias("nearest"))
        .agg(F.count("*").alias("n_expected"), F.count_if(F.col("nearest") == 0).alias("n_met"))
        .first()
    )
    assert found is not None
    assert seen is not None
    sums = {name: value or 0 for name, value in found.asDict().items() if name != "mean_chance"}
    return IntervalScores(**sums, **seen.asDict(), mean_chance=found["mean_chance"])


SAYS = "says"


def ruled(compared: DataFrame, keys: tuple[str, ...]) -> Iterator[tuple[str, DataFrame]]:
    """Baselines by name: the same events, with the prediction of a rule whether a detection follows in the interval."""
    run = Window.partitionBy(*(f"`{key}`" for key in keys), "life").orderBy("event_number")
    so_far = run.rowsBetween(Window.unboundedPreceding, 0)
    before = run.rowsBetween(Window.unboundedPreceding, -1)
    detection = F.when(F.col("detected"), F.col("event_number"))
    gap = detection - F.max(detection).over(before)
    observed = compared.select("*", gap.alias("gap"), F.max(detection).over(so_far).alias("latest"))
    usual = _usual_gap(observed)
    yield "mean waiting time", _predicted(observed, F.lit(usual))
    yield "last interval", _predicted(observed, F.coalesce(F.last("gap", ignorenulls=True).over(so_far), F.lit(usual)))


def _usual_gap(observed: DataFrame) -> float:
    """The mean number of events between detections in the past; in all rows if there is no past."""
    found = observed.agg(
        F.avg(F.when(~F.col("judged"), F.col("gap"))), F.avg("gap"), F.max("event_number").cast("double")
    ).first()
    return next((float(value) for value in found or () if value is not None), 1.0)


def _predicted(observed: DataFrame, gap: Column) -> DataFrame:
    ahead = F.greatest(F.lit(1), F.rint(F.coalesce("latest", F.lit(0)) + gap) - F.col("event_number"))
    says = F.coalesce(ahead.between(F.col("first"), F.col("last")), F.lit(False))
    return observed.select("*", says.alias(SAYS))
