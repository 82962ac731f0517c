"""Micro-batches of results that are told, withdrawn and corrected, and what holds after each of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from inkling.spark.streaming.sinks.outputs import LATE, SinkOutput

Row = dict[str, Any]

START = datetime(2026, 3, 2, 10, 0, 0, 1, tzinfo=UTC)
ROOMS = ("lab", "Halle ü", None, 'the "old" one')
TIME = pa.timestamp("us", tz="UTC")
RESULTS = pa.schema(
    {
        "event": pa.string(),
        "room": pa.string(),
        "Value": pa.float64(),
        "seen at": TIME,
        "n": pa.int64(),
        "sure": pa.bool_(),
        "start": TIME,
        "end": TIME,
        "detected_at": TIME,
        "probability": pa.float64(),
        "method": pa.string(),
        "error": pa.float64(),
        "op": pa.string(),
        "lineage": pa.list_(pa.string()),
    }
)
LATE_ROWS = pa.schema({"stream": pa.string(), "id": pa.string(), "time": TIME, "delay": pa.float64()})


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Signed rows per event, rows that came too late, and what the definition makes of all rows so far."""

    number: int
    signed: dict[str, list[Row]]
    late: list[Row]
    holds: dict[str, Counter[str]]
    rows: list[Row]  # that hold, of all events

    def outputs(self, spark: SparkSession) -> list[SinkOutput]:
        events = [
            SinkOutput(name, frame(spark, rows, RESULTS), len(rows)) for name, rows in self.signed.items() if rows
        ]
        late = SinkOutput(LATE, frame(spark, self.late, LATE_ROWS), len(self.late), only_grows=True)
        return [*events, late] if self.late else events


def frame(spark: SparkSession, rows: list[Row], schema: pa.Schema) -> DataFrame:
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=schema)).repartition(3)


def random_batches(seed: int, n_batches: int, most_rows: int = 30) -> Iterator[MicroBatch]:
    """Most results are told and stay; some are withdrawn, some come again, some get another probability."""
    rng = random.Random(seed)
    net: dict[str, Counter[str]] = {"fire": Counter(), "Two words": Counter()}
    told: dict[str, list[Row]] = {name: [] for name in net}
    gone: dict[str, list[Row]] = {name: [] for name in net}
    count = 0
    for number in range(n_batches):
        signed: dict[str, list[Row]] = {}
        for name, rows in signed_rows(rng, told, gone, most_rows):
            signed.setdefault(name, []).extend(rows)
        for name, rows in signed.items():
            for row in rows:
                net[name][spelled(row)] += 1 if row["op"] == "+" else -1
        late = [{"stream": "Reading", "id": f"l{(count := count + 1)}", "time": START, "delay": 1.5}] * rng.randrange(3)
        holding = [row for rows in told.values() for row in rows]
        yield MicroBatch(number, signed, late, {name: +rows for name, rows in net.items()}, holding)


def signed_rows(
    rng: random.Random, told: dict[str, list[Row]], gone: dict[str, list[Row]], most_rows: int
) -> Iterator[tuple[str, list[Row]]]:
    for name in told:
        rng.shuffle(told[name])
        chosen = [told[name].pop() for _ in range(min(rng.randrange(8), len(told[name])))]
        fresh = [result(rng, name) for _ in range(rng.randrange(most_rows))]
        back = [gone[name].pop() for _ in range(min(rng.randrange(2), len(gone[name])))]
        corrected = [{**row, "probability": rng.random(), "method": "sampled"} for row in chosen if rng.random() < 0.5]
        again = {tuple(row["lineage"]) for row in corrected}
        gone[name] += [row for row in chosen if tuple(row["lineage"]) not in again]
        told[name] += [*fresh, *back, *corrected]
        yield name, shuffled(rng, [*[{**row, "op": "-"} for row in chosen], *fresh, *back, *corrected])


def result(rng: random.Random, event: str) -> Row:
    start = START + timedelta(seconds=rng.randrange(10_000))
    end = start + timedelta(microseconds=rng.randrange(10**9))
    return {
        "event": event,
        "room": rng.choice(ROOMS),
        "Value": rng.choice([None, 0.0, 1e300, 0.1, rng.random(), float("inf")]),
        "seen at": rng.choice([None, start]),
        "n": rng.choice([None, rng.randrange(-5, 5)]),
        "sure": rng.choice([None, True, False]),
        "start": start,
        "end": end,
        "detected_at": end,
        "probability": 1.0,
        "method": "exact",
        "error": 0.0,
        "op": "+",
        "lineage": [f"r{rng.randrange(10**12)}", rng.choice([None, "x"])],
    }


def shuffled(rng: random.Random, rows: list[Row]) -> list[Row]:
    rng.shuffle(rows)
    return rows


def spelled(row: Row) -> str:
    """A row without its sign, as text."""
    return repr([(name, in_utc(row[name])) for name in RESULTS.names if name != "op"])


def in_utc(value: object) -> object:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
