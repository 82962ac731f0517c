"""A pattern as a program and as queries written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.streams import STREAM
from inkling.query import parse

ByHand: TypeAlias = Callable[[DataFrame], DataFrame]
"""From readings to matches with the columns `start` and `end`, both timestamps."""

OWN_SETTINGS = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "8"}
"""What hand-written queries run under: Spark's default planner, with as many partitions as suits them best here."""


@dataclass(frozen=True, slots=True)
class Found:
    """How many matches there are, and the sums of their first and last times in microseconds."""

    matches: int
    starts_us: int
    ends_us: int


@dataclass(frozen=True, slots=True)
class Query:
    """One pattern; ratios are taken to the quickest of the queries in `by_hand`."""

    name: str
    event: str
    by_hand: Mapping[str, ByHand]
    least_rate: float
    least_ratio: float
    elsewhere: Mapping[str, Callable[[Path], Found]] = field(default_factory=dict)  # for information

    def run(self, spark: SparkSession, path: Path) -> Found:
        """Run the program as a user would."""
        results = parse(STREAM + self.event).run(spark, {"Reading": path})
        try:
            (matches,) = results.frames.values()
            return _sums(matches)
        finally:
            results.close()

    def run_by_hand(self, name: str, spark: SparkSession, path: Path) -> Found:
        """Run a hand-written query under the settings that suit it."""
        before = {setting: spark.conf.get(setting) for setting in OWN_SETTINGS}
        for setting, value in OWN_SETTINGS.items():
            spark.conf.set(setting, value)
        try:
            return _sums(self.by_hand[name](spark.read.parquet(str(path))))
        finally:
            for setting, value in before.items():
                spark.conf.set(setting, value)


def _sums(matches: DataFrame) -> Found:
    sums = matches.agg(
        F.count("*"),
        F.sum(F.unix_micros("start").cast("decimal(38,0)")),
        F.sum(F.unix_micros("end").cast("decimal(38,0)")),
    )
    return Found(*(int(value or 0) for value in sums.first()))
