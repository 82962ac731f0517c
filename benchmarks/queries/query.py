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

Matches: TypeAlias = Callable[[DataFrame], DataFrame]
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
class ByHand:
    """A query that somebody could write instead, and how many times as fast ours should at least be."""

    name: str
    matches: Matches
    least_ratio: float

    def run(self, spark: SparkSession, path: Path) -> Found:
        """Run under the settings that suit hand-written queries."""
        before = {setting: spark.conf.get(setting) for setting in OWN_SETTINGS}
        for setting, value in OWN_SETTINGS.items():
            spark.conf.set(setting, value)
        try:
            return _sums(self.matches(spark.read.parquet(str(path))))
        finally:
            for setting, value in before.items():
                spark.conf.set(setting, value)


@dataclass(frozen=True, slots=True)
class Query:
    """One pattern, in one way and in others."""

    name: str
    event: str
    least_rate: float
    by_hand: tuple[ByHand, ...]
    elsewhere: Mapping[str, Callable[[Path], Found]] = field(default_factory=dict)  # for information

    def run(self, spark: SparkSession, path: Path) -> Found:
        """Run the program as a user would."""
        results = parse(STREAM + self.event).run(spark, {"Reading": path})
        try:
            (matches,) = results.values()
            return _sums(matches)
        finally:
            results.close()


def _sums(matches: DataFrame) -> Found:
    sums = matches.agg(
        F.count("*"),
        F.sum(F.unix_micros("start").cast("decimal(38,0)")),
        F.sum(F.unix_micros("end").cast("decimal(38,0)")),
    )
    return Found(*(int(value or 0) for value in sums.first()))
