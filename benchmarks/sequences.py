"""Whole runs in this process: from a Parquet file to every match of three steps, beside as-of joins of polars.

Steps take neighboring ranges of codes, so that a share of all readings fits one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

import inkling
from benchmarks.meter import Measured, best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from benchmarks.sizes import Sizes
from benchmarks.streams import N_CODES, STREAM, Readings

SHARES = (0.01, 0.5)
MOST_RATIO = 1.0
MOST_GROWTH = 10.5
JOINS = "polars, two as-of joins"


def run(share: float, sizes: Sizes) -> Iterator[Row]:
    """A row for each size; the larger one says how much more it costs than the smaller."""
    smaller: Measured[int] | None = None
    for events in (sizes.kernel_events // 10, sizes.kernel_events):
        data = Readings(events, sizes.few_devices, sizes.seed)
        path = data.parquet(sizes.folder)
        program = inkling.parse(STREAM + _event(share))
        found, joined = best_of(
            sizes.repeats + 1,
            lambda program=program, path=path: len(program.run_local({"Reading": path}).tables["found"]),
            lambda path=path: _as_of_joins(path, share).height,
        )
        if found.answer != joined.answer:
            raise AssertionError(f"{found.answer} matches, as-of joins found {joined.answer}")
        goals = [Goal("× CPU of polars", found.cpu_seconds / joined.cpu_seconds, most=MOST_RATIO)]
        baselines = [Baseline.of(JOINS, joined)]
        if smaller is not None:
            goals.append(Goal("× cost", found.cpu_seconds / smaller.cpu_seconds, most=MOST_GROWTH))
            baselines.append(Baseline.of("a tenth of the events", smaller))
        smaller = found
        yield Row(
            f"three steps, {share:.0%} of {quantity(events)} events fit one",
            str(data),
            found.seconds,
            found.cpu_seconds,
            events,
            f"{quantity(found.answer)} matches",
            tuple(baselines),
            tuple(goals),
        )


def _borders(share: float) -> tuple[int, ...]:
    width = round(share * N_CODES / 3)
    return 0, width, 2 * width, 3 * width


def _event(share: float) -> str:
    low, first, second, third = _borders(share)
    steps = ", ".join(
        f"Reading[code >= {start} AND code < {end}]" for start, end in ((low, first), (first, second), (second, third))
    )
    return f"EVENT found(device) AS PATTERN SEQ NEXT({steps}) WITHIN 60 SECONDS PARTITION BY device;"


def _as_of_joins(path: Path, share: float) -> pl.DataFrame:
    """Rows lie in the file in the order of time, as as-of joins want them; ids are those of the lineage."""
    rows, borders = pl.scan_parquet(path), _borders(share)
    a, b, c = (
        rows.filter(pl.col("code").is_between(borders[place], borders[place + 1], closed="left")).select(
            "device", pl.col("t").alias(name), pl.col("id").alias(f"{name}_id")
        )
        for place, name in enumerate("abc")
    )
    after = {"by": "device", "strategy": "forward", "allow_exact_matches": False, "check_sortedness": False}
    b = b.join_asof(c, left_on="b", right_on="c", **after)
    matches = a.join_asof(b, left_on="a", right_on="b", **after)
    return matches.filter(pl.col("c") - pl.col("a") <= pl.duration(seconds=60)).collect()
