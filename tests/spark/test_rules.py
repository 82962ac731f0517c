"""Rules on Spark: the same facts and the same answers as in this process."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.kit.arrow import arrow_streams, arrow_tables

import inkling

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT = """STREAM Te(road STRING, speed DOUBLE, x DOUBLE, y DOUBLE) TIME t;
TABLE threshold(road STRING, top DOUBLE) FROM 'threshold.csv';
TABLE linked(a STRING, b STRING) FROM 'linked.csv';
TABLE outline(area STRING, shape STRING) FROM 'outline.csv';
RULE slow(road, speed) IF threshold(road, top) AND speed < top;
RULE reach(a, b) IF linked(a, b);
RULE reach(a, c) IF reach(a, b) AND linked(b, c);
RULE class(speed, 'slow') IF speed < 30;
RULE class(speed, 'fast') IF speed >= 30;
RULE in_area(area, x, y) IF outline(area, shape) AND contains(shape, x, y);
RULE twice(v, w) IF w = v * 2;
EVENT jam(a.road) AS PATTERN SEQ(Te a, Te b)
  WHERE slow(a.road, a.speed) AND slow(b.road, b.speed) AND reach(a.road, b.road) WITHIN 5 TICKS;
EVENT kind(c, w) AS PATTERN Te a WHERE class(a.speed, c) AND twice(a.speed, w);
EVENT place(area) AS PATTERN Te a WHERE in_area(area, a.x, a.y);
EVENT calm AS PATTERN Te a WHERE NOT slow(a.road, a.speed) AND NOT reach(a.road, 'r2');
"""


@pytest.mark.long
def test_rules_answer_on_spark_as_in_this_process(spark: SparkSession) -> None:
    program = inkling.parse(TEXT)
    rng = random.Random(4)
    rows = [
        {"road": rng.choice(["r1", "r2", "r3", None]), "speed": float(rng.randrange(0, 60, 5)),
         "x": rng.random() * 4, "y": rng.random() * 4, "t": time}
        for time in range(60)
    ]  # fmt: skip
    tables = {
        "threshold": [{"road": "r1", "top": 30.0}, {"road": "r1", "top": 40.0}, {"road": "r2", "top": 20.0}],
        "linked": [{"a": "r1", "b": "r2"}, {"a": "r2", "b": "r3"}, {"a": "r3", "b": "r3"}],
        "outline": [
            {"area": "left", "shape": "POLYGON((0 0, 0 4, 2 4, 2 0, 0 0))"},
            {"area": "low", "shape": "POLYGON((0 0, 4 0, 4 2, 0 2, 0 0))"},
        ],
    }
    streams, facts = arrow_streams(program.plan, {"Te": rows}), arrow_tables(program.plan, tables)
    here = program.run_local(streams, facts).tables
    there = program.run(spark, streams, facts).collect().tables
    for name, table in here.items():
        assert len(table) > 2, name
        assert _comparable(there[name]) == _comparable(table), name


def test_facts_come_from_frames_and_from_the_catalog(spark: SparkSession) -> None:
    text = """STREAM Te(id STRING, road STRING, t BIGINT) ID id TIME t;
    TABLE linked(a STRING, b STRING) FROM 'inkling_links';
    RULE reach(a, b) IF linked(a, b);
    RULE reach(a, c) IF reach(a, b) AND linked(b, c);
    EVENT far AS PATTERN Te a[reach(road, 'r3')];
    """
    program = inkling.parse(text)
    rows = {"Te": [{"id": "x", "road": "r1", "t": 1}, {"id": "y", "road": "r3", "t": 2}]}
    links = spark.createDataFrame([("r1", "r2"), ("r2", "r3")], "a string, b string")
    links.createOrReplaceTempView("inkling_links")
    for tables in (None, {"linked": links}, {"linked": "inkling_links"}):
        found = program.run(spark, rows, tables).collect().tables["far"]
        assert found["lineage"].to_pylist() == [["x"]]


def _comparable(table: object) -> list[str]:
    return sorted(repr(row) for row in table.to_pylist())  # type: ignore[attr-defined]
