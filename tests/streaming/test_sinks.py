"""Where results may go, on real Structured Streaming, with every delivery made twice as after a crash."""

import io
import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.streaming.arriving import arrive

import inkling
from inkling.spark.streaming.sinks.outputs import SinkOutput
from inkling.spark.streaming.sinks.protocol import (
    CallbackSink,
    ConsoleSink,
    FileSink,
    MemorySink,
    PreparedSink,
    Sink,
    SinkStart,
    TableSink,
    sink_of,
)

PROGRAM = inkling.parse("""
STREAM Reading(id STRING, room STRING, value DOUBLE, t TIMESTAMP)
  ID id KEY room TIME t LATENESS 10 SECONDS;
EVENT hot(a.room AS room, a.value AS value) AS PATTERN Reading a[value > 30];
EVENT rise(room) AS
  PATTERN SEQ(Reading a, Reading b[value > a.value]) PARTITION BY room WITHIN 1 MINUTES;
EVENT spread AS PATTERN SEQ(Reading a, Reading b[room <> a.room AND value = a.value]) WITHIN 1 MINUTES;
""")
FIRST = """id,room,value,t
r1,a,20,2026-03-02T10:00:00.000001Z
r2,b,31.5,2026-03-02T10:00:30Z
r3,a,33,2026-03-02T10:00:40Z
r4,b,20,2026-03-02T10:00:41Z
r5,b,warm,2026-03-02T10:00:42Z
"""
SECOND = """id,room,value,t
r6,a,40,2026-03-02T10:00:29.5Z
r7,a,20,2026-03-02T10:00:35Z
r8,b,32,2026-03-02T10:02:00Z
"""
RESULTS = {"hot": {"r2", "r3", "r8"}, "rise": {"r1 r3", "r7 r3"}, "spread": {"r1 r4", "r7 r4"}}
"""Lineages by hand: r6 comes after 10:00:41 - 10 s was decided, r7 in time."""


class Everywhere:
    """Delivers to several sinks, and does so twice."""

    def __init__(self, sinks: Iterable[Sink]) -> None:
        self._sinks = list(sinks)

    def begin(self, beginning: SinkStart) -> None:
        for sink in self._sinks:
            if isinstance(sink, PreparedSink):
                sink.begin(beginning)

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        outputs = list(outputs)
        for sink in self._sinks:
            sink.deliver(outputs, batch)
            sink.deliver(outputs, batch)


def write_to_database(path: Path) -> CallbackSink:
    """Rows and the number of their batch in one transaction."""

    def write(name: str, frame: DataFrame, batch: int) -> None:
        rows = [(batch, name, json.dumps(row, default=str)) for row in frame.toArrow().to_pylist()]
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE IF NOT EXISTS results (batch INTEGER, output TEXT, row TEXT)")
            database.execute("DELETE FROM results WHERE batch = ? AND output = ?", (batch, name))
            database.executemany("INSERT INTO results VALUES (?, ?, ?)", rows)
        database.close()

    return CallbackSink(write)


def lineage(row: dict[str, object]) -> str:
    ids = row["lineage"]
    return " ".join(json.loads(ids) if isinstance(ids, str) else ids)  # type: ignore[arg-type]


@pytest.mark.long
def test_a_repeated_delivery_shows_nowhere(spark: SparkSession, tmp_path: Path) -> None:
    assert len(PROGRAM.physical.stages) > 1, "late rows are to be reported once although two stages miss them"
    readings = tmp_path / "readings"
    arrive(readings, "1.csv", FIRST, 1)
    arrive(readings, "2.csv", SECOND, 2)
    spark.sql(f"CREATE DATABASE sinks LOCATION '{tmp_path}/warehouse'")
    memory, printed, aside = MemorySink(), io.StringIO(), io.StringIO()
    files = {kind: sink_of(f"{tmp_path}/{kind}?format={kind}") for kind in ("parquet", "json", "csv")}
    assert files["csv"] == FileSink(f"{tmp_path}/csv", "csv")
    tables = sink_of("table://sinks.found")
    assert isinstance(tables, TableSink)
    sinks = [memory, *files.values(), tables, write_to_database(tmp_path / "results.db"), ConsoleSink(printed, aside)]
    query = PROGRAM.stream(
        spark,
        {"Reading": f"{readings}?maxFilesPerTrigger=1"},
        checkpoint=tmp_path / "checkpoint",
        to=Everywhere(sinks),
        settings=inkling.StreamSettings(available_now=True, buckets=2),
    )
    query.await_end()
    query.finish()

    for event, expected in RESULTS.items():
        rows = {
            "memory": memory.rows(event),
            "parquet": spark.read.parquet(f"{tmp_path}/parquet/{event}").toArrow().to_pylist(),
            "json": spark.read.json(f"{tmp_path}/json/{event}").toArrow().to_pylist(),
            "csv": spark.read.csv(f"{tmp_path}/csv/{event}", header=True, escape='"').toArrow().to_pylist(),
            "table": spark.table(f"sinks.found_{event}").toArrow().to_pylist(),
        }
        for kind, found in rows.items():
            assert sorted(map(lineage, found)) == sorted(expected), (event, kind)
    with sqlite3.connect(tmp_path / "results.db") as database:
        stored = database.execute("SELECT output, row FROM results").fetchall()
    database.close()
    assert {event: {lineage(json.loads(row)) for name, row in stored if name == event} for event in RESULTS} == RESULTS
    assert len(stored) == sum(map(len, RESULTS.values())) + 2

    late = memory.rows("late")
    assert [(row["stream"], row["id"], row["delay"]) for row in late] == [("Reading", "r6", 11.5)]
    assert late[0]["time"] == datetime(2026, 3, 2, 10, 0, 29, 500_000, tzinfo=UTC)
    assert json.loads(str(late[0]["row"]))["value"] == 40
    assert [(row["reason"], row["id"]) for row in memory.rows("rejects")] == [("bad value", "r5")]
    assert spark.read.parquet(f"{tmp_path}/parquet/late").count() == 1

    starts = {row["start"] for row in spark.read.json(f"{tmp_path}/json/rise").collect()}
    assert starts == {"2026-03-02T10:00:00.000001Z", "2026-03-02T10:00:35.000000Z"}
    # only the terminal says everything twice
    told = [json.loads(line) for line in printed.getvalue().splitlines()]
    assert len(told) == 2 * sum(map(len, RESULTS.values()))
    assert {row["start"] for row in told if row["event"] == "rise"} == {
        "2026-03-02T10:00:00.000001Z",
        "2026-03-02T10:00:35Z",
    }
    assert [line.partition(":")[0] for line in aside.getvalue().splitlines()].count("late") == 2
    spark.sql("DROP DATABASE sinks CASCADE")
