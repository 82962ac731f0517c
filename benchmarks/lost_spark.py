"""Relations between all sectors of a motorway on Spark: from messages in Parquet, some of them lost, to results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from inkling.examples.generators.segments import pairs_of
from pyspark.sql import SparkSession
from tests.kit.lost_workloads import (
    BELOW_20,
    HORIZON_SECONDS,
    TICKS_PER_SECOND,
    lists_of,
    lost,
    n_events,
    sectors,
    table_of,
)

from benchmarks.meter import best_of
from benchmarks.results import Goal, Row, quantity
from benchmarks.sizes import Sizes
from inkling.query import Program, parse

NAME = "lost events on Spark"
SHARES = (0.1, 0.25, 0.4)
LEAST = 1e6
"""Events a second that each core should reach."""

PROGRAM = """
    STREAM Congestion(id BIGINT, day BIGINT, key STRING, role STRING, n BIGINT, t BIGINT)
      ID id KEY {key} TIME t NUMBERED BY n SEGMENTS ROLE role;
    EVENT sharing(x.key AS one, y.key AS other, {shown}k) AS
      PATTERN AT LEAST k FROM 1 TO 12 Congestion x INTERSECTS SOME Congestion y
      HAVING x.key < y.key {by} CONFIDENCE > 0.5;
"""
ONE_MORNING = parse(PROGRAM.format(key="key", shown="", by=""))
MORNING_BY_MORNING = parse(PROGRAM.format(key="day, key", shown="day, ", by="PARTITION BY day"))


def run(spark: SparkSession, sizes: Sizes) -> Iterator[Row]:
    many = max(2, sizes.world_events // 400)
    for n_mornings, program in ((1, ONE_MORNING), (many, MORNING_BY_MORNING)):
        for share in SHARES:
            rows, n_pairs, events = _messages(n_mornings, share, sizes.seed)
            file = _written(rows, sizes.folder / f"congestion-{n_mornings}-{share}.parquet")

            def found(file: Path = file, program: Program = program) -> int:
                results = program.run(spark, {"Congestion": file})
                try:
                    return results["sharing"].count()
                finally:
                    results.close()

            found()
            (cost,) = best_of(sizes.repeats, found)
            rate = Goal("events/s and core", events / cost.cpu_seconds, least=LEAST)
            yield Row(
                f"{NAME}: {share:.0%} lost",
                f"{quantity(n_pairs)} pairs of sectors, {_counted(n_mornings)}, seed {sizes.seed}",
                cost.seconds,
                cost.cpu_seconds,
                events,
                f"{quantity(cost.answer)} results",
                (),
                (rate,) if n_mornings > 1 else (),
            )


def _messages(n_mornings: int, share: float, seed: int) -> tuple[pa.Table, int, int]:
    """Messages of all mornings, how many pairs of sectors these have, and how many events the pairs."""
    ones, others = pairs_of(BELOW_20.n_sectors)
    tables, events = [], 0
    for day in range(n_mornings):
        points = sectors(BELOW_20, seed=seed + day)
        is_lost = lost(points, share, seed=seed + day)
        rows = table_of(points, is_lost, between=(-1, HORIZON_SECONDS * TICKS_PER_SECOND + 1), prefix="S")
        tables.append(rows.append_column("day", pa.array(np.full(len(rows), day))))
        lists = lists_of(points, is_lost)
        events += n_events(lists, lists, ones, others)
    rows = pa.concat_tables(tables)
    return rows.append_column("id", pa.array(np.arange(len(rows)))), n_mornings * len(ones), events


def _counted(n_mornings: int) -> str:
    return "1 morning" if n_mornings == 1 else f"{n_mornings} mornings"


def _written(rows: pa.Table, file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, file)
    return file
