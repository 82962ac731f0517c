"""Data at the edge gives on Spark what it gives locally: results, and rows that are set aside."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from inkling import parse
from inkling.model.time import FARTHEST
from inkling.results import Results

ODD = """
STREAM "Größe"(id BIGINT, k STRING, t BIGINT, x BIGINT, up BOOLEAN, y DOUBLE) ID id KEY k TIME t ORDER BY id;
STREAM "WHERE"(id STRING, k STRING, t BIGINT, "値" STRING) ID id KEY k TIME t;
STREAM Nothing(id STRING, t BIGINT) ID id TIME t;

EVENT up(k) AS PATTERN SEQ STRICT("Größe"[up]) PARTITION BY k PER END;
EVENT down(k) AS PATTERN SEQ STRICT("Größe"[NOT up]) PARTITION BY k PER END;
EVENT "événement"(a."値" AS "結果") AS PATTERN SEQ("WHERE" a["値" = '東京 🗼'], "WHERE" b[k = a.k]);
EVENT next AS PATTERN SEQ NEXT("Größe" a, "Größe" b[x <> a.x]) PARTITION BY k;
EVENT step AS PATTERN SEQ("Größe" a, "Größe" b) WHERE b.x - a.x = 1;
EVENT same_time(a.k AS first, b.k AS second) AS PATTERN "Größe" a AND "Größe" b WITHIN 0 TICKS HAVING a.k <> b.k;
EVENT in_order(b.k AS k) AS PATTERN SEQ STRICT("Größe" a, "Größe" b) WITHIN 0 TICKS;
EVENT missing AS PATTERN "Größe" a[y IS NULL];
EVENT each(w.k AS k) AS PATTERN "WHERE" w;
EVENT alarm(w.k AS k) AS PATTERN SEQ("WHERE" w, NOT Nothing n, AFTER 5 TICKS);
EVENT never AS PATTERN SEQ(Nothing n, "WHERE" w);
"""

BIG = 2**62 + 7


def odd_rows() -> dict[str, list[dict[str, object]]]:
    numbers = [
        {"id": BIG, "k": "p", "t": -4, "x": 2**60, "up": True, "y": 1.0},
        {"id": -BIG, "k": "p", "t": -4, "x": 2**60 + 1, "up": None, "y": math.nan},
        {"id": BIG, "k": "q", "t": -4, "x": 2**60 + 2, "up": False, "y": None},
        {"id": 3, "k": "p", "t": FARTHEST, "x": 2**60 + 1, "up": True, "y": 2.0},
        {"id": 4, "k": "p", "t": FARTHEST + 1, "x": 0, "up": True, "y": 2.0},
        {"id": 5, "k": None, "t": 1, "x": 0, "up": True, "y": 2.0},
        {"id": 6, "k": "p", "t": None, "x": 0, "up": True, "y": 2.0},
        {"id": 7, "k": "p", "t": 7, "x": -1, "up": False, "y": 2.0},
        {"id": 7, "k": "p", "t": 7, "x": -1, "up": False, "y": 2.0},
    ]
    words = [
        {"id": "1", "k": "ß", "t": 1, "値": "東京 🗼"},
        {"id": "1", "k": "ss", "t": 1, "値": "東京 🗼"},
        {"id": "2", "k": "ß", "t": 9, "値": "x" * 100_000},
    ]
    shuffled = random.Random(5)
    shuffled.shuffle(numbers)
    shuffled.shuffle(words)
    return {"Größe": numbers, "WHERE": words, "Nothing": []}


def shown(results: Results) -> dict[str, list[str]]:
    """Every result as a line of text, in order."""
    return {name: sorted(repr(row) for row in table.to_pylist()) for name, table in results.tables.items()}


def set_aside(results: Results) -> list[tuple[str, str, str]]:
    return sorted((row["stream"], row["reason"], row["id"]) for row in results.rejects.to_pylist())


def test_odd_rows(spark: SparkSession) -> None:
    """Catalyst checks the rows of a data frame; those of a list go through the code that a local run uses."""
    program, rows = parse(ODD), odd_rows()
    locally = program.run_local(rows)
    schema = "id bigint, k string, t bigint, x bigint, up boolean, y double"
    found = program.run(spark, {**rows, "Größe": spark.createDataFrame(rows["Größe"], schema)}, partitions=3)
    collected = found.collect()
    found.close()
    assert shown(collected) == shown(locally)
    assert set_aside(collected) == set_aside(locally)
    assert [len(lines) for lines in shown(locally).values()] == [2, 3, 1, 3, 2, 4, 2, 2, 3, 3, 0]


def test_zones_and_years(spark: SparkSession) -> None:
    program = parse("""
        STREAM A(id STRING, t TIMESTAMP) ID id TIME t;
        EVENT soon AS PATTERN SEQ(A a, A b) WITHIN 10 MINUTES;
        EVENT long AS PATTERN SEQ(A a, A b) WITHIN 9 WEEKS;
        EVENT alarm AS PATTERN SEQ(A a, NOT A b, AFTER 3 MICROSECONDS);
    """)
    times = [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        datetime(2024, 1, 1, 12, tzinfo=timezone(timedelta(hours=5.5))),
        datetime(2024, 1, 1, 6, 35, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, tzinfo=UTC),
    ]
    rows = [{"id": str(number), "t": t} for number, t in enumerate(times)]
    locally = program.run_local({"A": rows})
    found = program.run(spark, {"A": spark.createDataFrame(pa.Table.from_pylist(rows))}, partitions=2)
    collected = found.collect()
    found.close()
    assert shown(collected) == shown(locally)
    assert [len(lines) for lines in shown(locally).values()] == [2, 2, 5]


@pytest.mark.long
def test_many_events_on_one_key_and_many_keys(spark: SparkSession) -> None:
    program = parse("""
        STREAM V(id BIGINT, k STRING, one STRING, t BIGINT, x BIGINT) ID id KEY k TIME t ORDER BY id;
        EVENT ends AS PATTERN SEQ STRICT(V[x = 1], V[x = 2]) PARTITION BY one PER END;
        EVENT alone AS PATTERN SEQ(V a, V b) PARTITION BY k;
        EVENT anywhere AS PATTERN SEQ(V a[x = 1], V b[x = 2]) WITHIN 5 TICKS;
    """)
    n = 100_000
    number = np.arange(n)
    columns = {
        "id": number,
        "k": pa.array(number).cast(pa.string()),
        "one": pa.repeat("k", n),
        "t": number,
        "x": number % 10,
    }
    found = program.run(spark, {"V": spark.createDataFrame(pa.table(columns))}, partitions=4)
    counts = {name: frame.count() for name, frame in found.items()}
    found.close()
    assert counts == {"ends": n // 10, "alone": 0, "anywhere": n // 10}


TIMED = """
STREAM S(a BIGINT, due TIMESTAMP, t TIMESTAMP) TIME t;
EVENT one(s.a AS a) AS PATTERN S s;
EVENT quiet(s.a AS a) AS PATTERN SEQ(S s, NOT S u) WITHIN 3 DAYS;
"""


@pytest.mark.parametrize("unit", ["s", "ms", "us", "day"])
def test_times_beyond_the_calendar_are_rejects(spark: SparkSession, unit: str, tmp_path: Path) -> None:
    """Years after 9999 and before 1 fit into columns of files, and into 64 bits, but not into a calendar."""
    per_second, good = {"s": 1, "ms": 1000, "us": 1_000_000}, [0, 1]
    if unit == "day":
        times = pa.array([0, 2_932_896, 2_932_897, 2**31 - 1, -(2**31), -719_163], pa.int32()).cast(pa.date32())
    else:
        seconds = [0, 253_402_300_799, 253_402_300_800, 2**41, -62_135_596_801, -(2**41)]
        times = pa.array([one * per_second[unit] for one in seconds], pa.int64()).cast(pa.timestamp(unit))
    fine = pa.array([0] * len(times), pa.timestamp("us"))
    a = list(range(len(times)))
    rows = {
        "as_time": pa.table({"a": a, "due": fine, "t": times}),
        "as_value": pa.table({"a": a, "due": times, "t": pa.array(a, pa.int64()).cast(pa.timestamp("us"))}),
    }
    for name, table in rows.items():
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table, path)
        local, remote = parse(TIMED).run_local({"S": path}), parse(TIMED).run(spark, {"S": path})
        assert sorted(local["one"]["a"].to_pylist()) == good
        assert sorted(row["a"] for row in remote["one"].collect()) == good
        for event in ("one", "quiet"):  # some deadlines are after the year 9999
            there = remote[event].toArrow().select(["start", "detected_at"]).to_pylist()
            assert len(there) == len(local[event].select(["start", "detected_at"]).to_pylist())
        reasons = local.rejects["reason"].to_pylist()
        assert sorted(row["reason"] for row in remote.rejects.collect()) == sorted(reasons)
        assert reasons == [{"as_time": "bad time", "as_value": "bad value"}[name]] * 4


def test_slices_of_times_that_doubles_do_not_hold(spark: SparkSession) -> None:
    """Nanoseconds since 1970: no match is lost where slices of time meet."""
    program = parse(
        "STREAM S(a BIGINT, t BIGINT) TIME t; EVENT pair(s.a AS a) AS PATTERN SEQ(S s, S u) WITHIN 40 TICKS;"
    )
    first = 1_763_560_000_000_000_001
    rows = [{"a": n, "t": first + 17 * n} for n in range(3000)]
    there = program.run(spark, {"S": spark.createDataFrame(rows).repartition(3)})["pair"]
    assert sorted(row["a"] for row in there.collect()) == sorted(
        program.run_local({"S": rows})["pair"]["a"].to_pylist()
    )
