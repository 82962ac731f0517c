"""Fleet and port patterns on Spark: six of them, many of them, and keys, patterns or both shared out among tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import pyarrow.csv
from pyspark.sql import SparkSession

from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row
from benchmarks.sizes import Sizes
from inkling.query import Program, parse
from inkling.scenarios import write

LEAST_RATE, LEAST_PORT_RATE, LEAST_RATE_OF_MANY, MOST_FOR_THREE_TIMES = 1_500_000, 300_000, 500_000, 3.0
FEW, MANY = 16, 48

VEHICLES = """
STREAM Vehicle(id BIGINT, vehicle STRING, t TIMESTAMP, engine STRING, speed DOUBLE, fuel DOUBLE, satellites INT,
               lat DOUBLE, lon DOUBLE)
  ID id KEY vehicle TIME t ORDER BY id
  DERIVE distance = haversine(PREV(lat), PREV(lon), lat, lon), speedup = speed - PREV(speed),
         duration = SINCE_CHANGE(engine);
"""
POSITIONS = """
STREAM Position(id BIGINT, mmsi BIGINT, t TIMESTAMP, lon DOUBLE, lat DOUBLE) ID id KEY mmsi TIME t ORDER BY id;
"""
PER_PORT = """
TABLE ports(port STRING, lat DOUBLE, lon DOUBLE) FROM 'ports.csv';
EVENT approaching_port(mmsi, port) AS
  PATTERN SEQ STRICT(
    Position a[ports(port, y, x) AND haversine(lat, lon, y, x) >= 7000 AND haversine(lat, lon, y, x) < 10000],
    Position b[haversine(lat, lon, y, x) >= 5000 AND haversine(lat, lon, y, x) < 7000]+,
    Position c[haversine(lat, lon, y, x) < 5000])
  PARTITION BY mmsi PER END;
"""

Layout = tuple[str, str, int]  # as it is called, by which name it is asked for, number of partitions
LAYOUTS: tuple[Layout, ...] = (
    ("pattern-2", "pattern", 2),
    ("key-2", "key", 2),
    ("both-2", "both", 2),
    ("pattern-4", "pattern", 4),
    ("key-4", "key", 4),
)
ALONE: Layout = ("one task", "key", 1)


def patterns(n: int, *, distinct: bool) -> str:
    """The six patterns of a fleet again and again; if they are to be distinct, each with limits of its own."""
    written = []
    for number in range(n):
        copy = number // 6 if distinct else 0
        off = f"engine = 'off' AND duration > {1800 + copy} SECONDS"
        more, seen = f"{30 + copy / 100}", f"satellites > {-1 - copy}"
        pattern = (
            f"Vehicle[{off}], Vehicle[engine = 'moving']+, Vehicle[{off}]",
            f"Vehicle[engine = 'parked' AND {seen}], Vehicle[engine = 'moving'],"
            " Vehicle[engine = 'parked'], Vehicle[engine = 'moving']",
            f"Vehicle[engine = 'idle' AND {seen}], Vehicle[engine = 'parked'],"
            " Vehicle[engine = 'idle'], Vehicle[engine = 'parked']",
            ", ".join((f"Vehicle[speed > {50 + copy / 100}]", "Vehicle[speed = 0]") * 2),
            f"Vehicle[engine = 'moving' AND speed = 0 AND distance > {more}]{{3,}}",
            f"Vehicle[speedup > 0 AND satellites = 0 AND distance > {more}]{{3,}}",
        )[number % 6]
        written.append(f"EVENT e{number}(vehicle) AS PATTERN SEQ STRICT({pattern}) PARTITION BY vehicle PER END;")
    return VEHICLES + "\n".join(written)


def ports_one_by_one(ports: Path) -> str:
    """A pattern for every port, with its position written out."""
    written = []
    for port in pyarrow.csv.read_csv(ports).to_pylist():
        away = f"haversine(lat, lon, {port['lat']}, {port['lon']})"
        written.append(
            f"EVENT {port['port']}(mmsi) AS PATTERN SEQ STRICT(Position[{away} >= 7000 AND {away} < 10000],"
            f" Position[{away} >= 5000 AND {away} < 7000]+, Position[{away} < 5000]) PARTITION BY mmsi PER END;"
        )
    return POSITIONS + "\n".join(written)


def six(spark: SparkSession, sizes: Sizes) -> Iterator[Row]:
    path, events = _fleet(sizes)
    program = parse(patterns(6, distinct=True))
    (cost,) = best_of(sizes.repeats, lambda: _count(spark, program, {"Vehicle": path}))
    goal = Goal("events/s", events / cost.seconds, least=LEAST_RATE)
    yield Row(
        "6 patterns", f"{events:,} events", cost.seconds, cost.cpu_seconds, events, f"{cost.answer}", goals=(goal,)
    )


def many(distinct: bool, spark: SparkSession, sizes: Sizes) -> Iterator[Row]:
    """A table of layouts; each is compared with one task that does everything."""
    path, events = _fleet(sizes)
    kind = "" if distinct else " of 6 kinds"
    few_by_key = 0.0
    for n in (FEW, MANY):
        program = parse(patterns(n, distinct=distinct))
        calls = [
            lambda program=program, one=one: _count(spark, program, {"Vehicle": path}, one) for one in (ALONE, *LAYOUTS)
        ]
        alone, *others = best_of(sizes.repeats, *calls)
        assert len({cost.answer for cost in (alone, *others)}) == 1, "every layout finds the same"
        for (name, _, _), cost in zip(LAYOUTS, others, strict=True):
            goals: tuple[Goal, ...] = ()
            if name == "key-2" and n == FEW:
                few_by_key = cost.seconds
            if name == "key-2" and n == MANY:
                goals = (Goal(f"× the time of {FEW}", cost.seconds / few_by_key, most=MOST_FOR_THREE_TIMES),)
            yield Row(
                f"{n} patterns{kind}, {name}",
                f"{events:,} events",
                cost.seconds,
                cost.cpu_seconds,
                events,
                f"{cost.answer}",
                (Baseline.of(ALONE[0], alone),),
                goals,
            )


def ports(spark: SparkSession, sizes: Sizes) -> Iterator[Row]:
    """One event over a table of ports, and one event per port."""
    folder, events = _port(sizes)
    path, table = folder / "Position.parquet", folder / "ports.csv"
    (cost,) = best_of(
        sizes.repeats, lambda: _count(spark, parse(POSITIONS + PER_PORT), {"Position": path}, tables={"ports": table})
    )
    one_by_one = parse(ports_one_by_one(table))
    (each,) = best_of(1, lambda: _count(spark, one_by_one, {"Position": path}))
    assert cost.answer == each.answer, "one event finds what all of them find"
    n = len(one_by_one.plan.events)
    goal = Goal("events/s", events / cost.seconds, least=LEAST_PORT_RATE)
    yield Row(
        f"one event over {n} ports",
        f"{events:,} events",
        cost.seconds,
        cost.cpu_seconds,
        events,
        f"{cost.answer}",
        (Baseline.of(f"{n} events", each),),
        (goal,),
    )
    goal = Goal("events/s", events / each.seconds, least=LEAST_RATE_OF_MANY)
    yield Row(
        f"{n} events, one for each port",
        f"{events:,} events",
        each.seconds,
        each.cpu_seconds,
        events,
        f"{each.answer}",
        goals=(goal,),
    )


def _count(
    spark: SparkSession,
    program: Program,
    inputs: dict[str, Path],
    layout: Layout | None = None,
    tables: dict[str, Path] | None = None,
) -> int:
    """The number of results of all events, fetched in one job."""
    options = {} if layout is None else {"layout": layout[1], "partitions": layout[2]}
    results = program.run(spark, inputs, tables, **options)
    try:
        return sum(map(len, results.to_arrow().values()))
    finally:
        results.close()


@cache
def _fleet(sizes: Sizes) -> tuple[Path, int]:
    events = sizes.events // 5
    folder = sizes.folder / f"fleet-{events}"
    if not (folder / "truth.json").exists():
        write("fleet", folder, events=events, keys=min(1_000, events // 500), seed=sizes.seed)
    return folder / "Vehicle.parquet", events


@cache
def _port(sizes: Sizes) -> tuple[Path, int]:
    events = sizes.events // 10
    folder = sizes.folder / f"port-{events}"
    if not (folder / "truth.json").exists():
        write("port", folder, events=events, keys=2_200, seed=sizes.seed)
    return folder, events


BENCHMARKS: dict[str, Callable[[SparkSession, Sizes], Iterator[Row]]] = {
    "fleet, 6 patterns": six,
    "fleet, many patterns": partial(many, True),
    "fleet, many alike": partial(many, False),
    "ports": ports,
}
