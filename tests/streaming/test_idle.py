"""A silent stream holds the others back only for a while, and its rows count again when they come."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive

import inkling
from inkling.spark.streaming.query import LiveQuery
from inkling.spark.streaming.sinks.protocol import MemorySink

PROGRAM = inkling.parse("""
STREAM Door(id STRING, t BIGINT) ID id TIME t;
STREAM Badge(id STRING, t BIGINT) ID id TIME t;
EVENT alone(d.id AS door) AS PATTERN SEQ(Door d, NOT Badge b, AFTER 5 TICKS);
""")


def rows(*rows: tuple[str, int]) -> str:
    return "id,t\n" + "".join(f"{name},{time}\n" for name, time in rows)


def start(spark: SparkSession, folder: Path, found: MemorySink, idle_after: float | None) -> LiveQuery:
    return PROGRAM.stream(
        spark,
        {"Door": f"{folder}/door?format=csv", "Badge": f"{folder}/badge?format=csv"},
        checkpoint=folder / "checkpoint",
        to=found,
        settings=inkling.StreamSettings(buckets=1, idle_after=idle_after),
    )


def wait_for(query: LiveQuery, what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not what():
        assert not query.await_end(1), "the query ended"
        assert time.monotonic() < deadline, query.tallies


def doors(found: MemorySink) -> list[object]:
    return [row["door"] for row in found.rows("alone")]


@pytest.mark.long
def test_a_silent_stream(spark: SparkSession, tmp_path: Path) -> None:
    found = MemorySink()
    door, badge = tmp_path / "door", tmp_path / "badge"
    badge.mkdir()
    arrive(door, "1.csv", rows(("d1", 1), ("d2", 20)), 1)
    query = start(spark, tmp_path, found, idle_after=2)
    try:
        # badges are not waited for any more
        wait_for(query, lambda: any(tally.matches["alone"] for tally in query.tallies))
        assert doors(found) == ["d1"]
        before = [tally for tally in query.tallies if sum(tally.read.values())]
        assert before[0].watermark is None, "nothing is decided before the silence was noticed"
        # a badge row brings its stream back: from now on doors wait for badges
        arrive(badge, "1.csv", rows(("b1", 22)), 2)
        wait_for(query, lambda: any(tally.good["Badge"] for tally in query.tallies))
        query.stop()
        query = start(spark, tmp_path, found, idle_after=600)
        arrive(door, "2.csv", rows(("d3", 50)), 3)
        wait_for(query, lambda: any(tally.good["Door"] for tally in query.tallies))
        assert query.tallies[-1].watermark == 21
    finally:
        query.stop()
    assert doors(found) == ["d1"]

    query = start(spark, tmp_path, found, idle_after=None)
    try:
        arrive(badge, "2.csv", rows(("b2", 60)), 4)
        wait_for(query, lambda: any(tally.watermark == 49 for tally in query.tallies))
        query.say_idle("Badge")
        arrive(door, "3.csv", rows(("d4", 70)), 5)
        wait_for(query, lambda: any(tally.watermark == 69 for tally in query.tallies))
    finally:
        query.stop()
    assert doors(found) == ["d1", "d3"]

    # who was silent before a restart is silent after it
    query = start(spark, tmp_path, found, idle_after=None)
    try:
        arrive(door, "4.csv", rows(("d5", 100)), 6)
        wait_for(query, lambda: any(tally.watermark == 99 for tally in query.tallies))
    finally:
        query.stop()
    assert doors(found) == ["d1", "d3", "d4"]
