"""The join network over one batch: three steps that agree on a code within ten seconds, every event a candidate."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from benchmarks.kernels.prepared import prepared
from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.streams import Readings
from inkling.evaluators.network.event import NetworkEvent
from inkling.model.batch import FOREVER

NAME = "network"
LEAST_RATE = 5e6
EVENT = """
EVENT agree(a.code AS code) AS
  PATTERN SEQ NEXT(Reading a[kind = 0], Reading b[kind = 1 AND code = a.code], Reading c[kind = 2 AND code = a.code])
  WITHIN 10 SECONDS
  PARTITION BY device;
"""


def run(data: Readings, repeats: int) -> Iterator[Row]:
    table = data.table()
    # three kinds and fifty codes: no event can be dropped beforehand, and about one in five thousand ends a match
    few = {"kind": pa.array(table["kind"].to_numpy() % 3), "code": pa.array(table["code"].to_numpy() % 50)}
    for name, column in few.items():
        table = table.set_column(table.column_names.index(name), name, column)
    ready = prepared(EVENT, table)
    (step,) = ready.engine.stage.steps
    evaluator = NetworkEvent(step, ready.context)
    frame = pl.from_arrow(table)
    network, joins = best_of(
        repeats + 1, lambda: len(evaluator.evaluate(ready.batch, ready.n_keys, FOREVER)), lambda: _as_of_joins(frame)
    )
    if network.answer != joins.answer:
        raise AssertionError(f"{network.answer} matches, as-of joins found {joins.answer}")
    yield Row(
        "network, three steps, equality, 10 s",
        str(data),
        network.seconds,
        network.cpu_seconds,
        data.events,
        f"{quantity(network.answer)} matches",
        (Baseline.of("polars, two as-of joins", joins),),
        (Goal("events/s", len(ready.batch) / network.seconds, least=LEAST_RATE),),
    )


def _as_of_joins(frame: pl.DataFrame) -> int:
    """Rows come in the order of time, as as-of joins want them."""
    a, b, c = (frame.filter(pl.col("kind") == kind).select("device", "code", "t") for kind in range(3))
    for later, name in ((b, "b"), (c, "c")):
        last = "t" if name == "b" else "b"
        a = a.join_asof(
            later.rename({"t": name}),
            left_on=last,
            right_on=name,
            by=["device", "code"],
            strategy="forward",
            allow_exact_matches=False,
            check_sortedness=False,
        ).drop_nulls(name)
        a = a.with_columns(pl.col(name)).sort(name)
    return a.filter(pl.col("c") - pl.col("t") <= pl.duration(seconds=10)).height
