"""Graphs of N-Quads as a stream, background knowledge in Turtle, and results as N-Triples, on Structured Streaming."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive

import inkling
from inkling.spark.streaming.sinks.outputs import SinkOutput
from inkling.spark.streaming.sinks.protocol import FileSink

EX, XSD = "http://ex.org/", "http://www.w3.org/2001/XMLSchema#"
PROGRAM = """
STREAM triple(s TERM, p TERM, o TERM, t TIMESTAMP) TIME t;
TABLE rooms(s TERM, p TERM, o TERM) FROM 'rooms.ttl';
EVENT warmer(a.s AS s, iri('http://ex.org/warmer') AS p, b.o AS o) AS
  PATTERN SEQ(triple a, triple b[p = a.p AND o > a.o])
  WHERE sameterm(a.s, b.s) AND rooms(a.s, iri('http://ex.org/in'), iri('http://ex.org/hall'))
  WITHIN 10 MINUTES;
"""


def graph(number: int, sensor: str, value: str, minute: int) -> str:
    name = f"<{EX}g{number}>"
    time = f'"2026-03-02T10:{minute:02}:00Z"^^<{XSD}dateTime>'
    return (
        f"<{EX}{sensor}> <{EX}celsius> {value} {name} .\n{name} <http://www.w3.org/ns/prov#generatedAtTime> {time} .\n"
    )


def number(text: str, kind: str) -> str:
    return f'"{text}"^^<{XSD}{kind}>'


@pytest.mark.long
def test_graphs_that_arrive_in_files(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "rooms.ttl").write_text(f"@prefix ex: <{EX}> . ex:t1 ex:in ex:hall . ex:t2 ex:in ex:cellar .")
    (tmp_path / "program.ink").write_text(PROGRAM)
    readings = tmp_path / "readings"
    first = graph(1, "t1", number("9", "integer"), 0) + graph(2, "t2", number("1", "integer"), 1)
    second = graph(3, "t1", number("10.5", "decimal"), 2) + graph(4, "t2", number("2", "integer"), 3)
    arrive(readings, "1.nq", first + "broken\n", 1)
    arrive(readings, "2.nq", second + graph(5, "t1", '"hot"', 4) + graph(6, "t1", number("1e1", "double"), 20), 2)
    query = inkling.load(tmp_path / "program.ink").stream(
        spark,
        {"triple": f"{readings}?format=nquads&maxFilesPerTrigger=1"},
        checkpoint=tmp_path / "checkpoint",
        to=f"{tmp_path}/found?format=ntriples",
        settings=inkling.StreamSettings(available_now=True, buckets=1),
    )
    query.await_end()
    query.finish()
    lines = [line for file in (tmp_path / "found" / "warmer").rglob("*.txt") for line in file.read_text().splitlines()]
    assert lines == [f"<{EX}t1> <{EX}warmer> {number('10.5', 'decimal')} ."]
    (rejects,) = (tmp_path / "found" / "rejects").rglob("*.json")
    assert "not a statement of N-Quads" in rejects.read_text()


@pytest.mark.slow
def test_triples_and_other_results_as_turtle(spark: SparkSession, tmp_path: Path) -> None:
    """Rows with a missing term are left out; results without triples are JSON."""
    ox = pytest.importorskip("pyoxigraph")
    text = '"a \\"quoted\\" word"@en'
    rows = [(f"<{EX}s>", f"<{EX}p>", text, "+"), (f"<{EX}s>", f"<{EX}p>", None, "+")]
    triples = spark.createDataFrame(rows, "s string, p string, o string, op string")
    others = spark.createDataFrame([(1, "+")], "x int, op string")
    outputs = [SinkOutput("made", triples, 2), SinkOutput("seen", others, 1)]
    FileSink(str(tmp_path), "turtle").deliver(outputs, 0)
    found = [
        one for file in (tmp_path / "made").rglob("*.txt") for one in ox.parse(path=file, format=ox.RdfFormat.TURTLE)
    ]
    assert [(one.subject.value, one.predicate.value, str(one.object)) for one in found] == [(f"{EX}s", f"{EX}p", text)]
    assert list((tmp_path / "seen").rglob("*.json"))
