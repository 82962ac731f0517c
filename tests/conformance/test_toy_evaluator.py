"""A capability is one entry of analysis and one evaluator: then every runner answers it."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.conformance import toy
from tests.kit.seeds import first_of

import inkling
from inkling.analysis import choice
from inkling.local_stream import LocalStream
from inkling.model.uncertainty import ProbableValue
from inkling.runtime import registry

TEXT = """
STREAM Seen(id STRING, who STRING, room STRING, t BIGINT, p DOUBLE) ID id KEY who TIME t PROBABILITY p;
EVENT toy_seen(who) AS PATTERN Seen a PARTITION BY who;
EVENT hall(who) AS PATTERN Seen a[room = 'hall'] PARTITION BY who PER END;
"""
ROWS = [
    {"id": "s1", "who": "ada", "room": "hall", "t": 1, "p": 0.25},
    {"id": "s2", "who": "bob", "room": "lab", "t": 2, "p": 0.5},
    {"id": "s3", "who": "ada", "room": "lab", "t": 3, "p": 1.0},
]
EXPECTED = {
    "toy_seen": [("ada", 1, 0.25, ["s1"]), ("ada", 3, 1.0, ["s3"]), ("bob", 2, 0.5, ["s2"])],
    "hall": [("ada", 1, 0.25, ["s1"])],
}


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> inkling.Program:
    families = {toy.NAME: choice.Family(ProbableValue, toy.recognize), **choice.FAMILIES}
    monkeypatch.setattr(choice, "FAMILIES", families)
    monkeypatch.setitem(registry.MAKERS, toy.NAME, toy.ToyEvaluator.of)
    return inkling.parse(TEXT)


def shown(rows: list[dict[str, object]]) -> dict[str, list[tuple[object, ...]]]:
    return {
        name: sorted(
            (row["who"], row["end"], row["probability"], row["lineage"]) for row in rows if row["event"] == name
        )
        for name in EXPECTED
    }


def test_the_plan_names_it(program: inkling.Program) -> None:
    assert program.physical.answered_by(toy.NAME).keys() == {"toy_seen"}
    assert "Toy toy_seen" in program.explain("physical")
    assert "toy: each row is a match by itself" in program.explain("verdicts")


def test_local_batch(program: inkling.Program) -> None:
    tables = program.run_local({"Seen": ROWS}).tables
    assert shown([row for table in tables.values() for row in table.to_pylist()]) == EXPECTED


def test_pushed_with_a_snapshot(program: inkling.Program) -> None:
    stream, found = program.open(), []
    for row in ROWS:
        found.append(stream.push({"Seen": [row]}))
        stream = LocalStream.restore(program, stream.snapshot())
    found.append(stream.finish())
    assert shown([row for one in found for table in one.tables.values() for row in table.to_pylist()]) == EXPECTED


@pytest.mark.parametrize("partitions", first_of([2, 1, 7], 1))
def test_spark_batch(program: inkling.Program, spark: SparkSession, partitions: int) -> None:
    results = program.run(spark, {"Seen": ROWS}, partitions=partitions)
    tables = results.collect().tables
    results.close()
    assert shown([row for table in tables.values() for row in table.to_pylist()]) == EXPECTED


def test_structured_streaming(program: inkling.Program, spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "Seen"
    folder.mkdir()
    for number, row in enumerate(ROWS):
        lines = [",".join(row), ",".join(map(str, row.values()))]
        (folder / f"{number}.csv").write_text("\n".join(lines) + "\n")
    found: list[dict[str, object]] = []
    query = program.stream(
        spark,
        {"Seen": f"{folder}?format=csv"},
        checkpoint=tmp_path / "checkpoint",
        to=tmp_path / "found",
        settings=inkling.StreamSettings(buckets=2),
    )
    query.finish()
    for name in EXPECTED:
        found += [row.asDict() for row in spark.read.parquet(str(tmp_path / "found" / name)).collect()]
    assert shown(found) == EXPECTED
