"""Messages of a topic that are small RDF documents, each with the time of its graph."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.kafka.broker import Broker

import inkling
from inkling.spark.streaming.sinks.protocol import MemorySink

pytestmark = pytest.mark.kafka

EX, XSD = "http://ex.org/", "http://www.w3.org/2001/XMLSchema#"
PROGRAM = inkling.parse("""
STREAM triple(s TERM, p TERM, o TERM, t BIGINT) TIME t;
EVENT measured(m.s AS node, number(v.o) AS celsius) AS
  PATTERN triple m AND triple v
  WHERE m.p = iri('http://ex.org/by') AND v.p = iri('http://ex.org/celsius') AND sameterm(m.s, v.s)
  WITHIN 5 TICKS;
""")


def document(tick: int, value: int) -> bytes:
    graph = f"<{EX}g>"
    return f"""_:m <{EX}by> <{EX}t1> {graph} .
_:m <{EX}celsius> "{value}"^^<{XSD}integer> {graph} .
{graph} <http://www.w3.org/ns/prov#generatedAtTime> "{tick}"^^<{XSD}integer> .
""".encode()


def test_blank_nodes_of_two_messages_do_not_join(
    spark: SparkSession, broker: Broker, topic: str, tmp_path: Path
) -> None:
    broker.produce(topic, [document(1, 20), b"nonsense", document(2, 25)])
    found = MemorySink()
    query = PROGRAM.stream(
        spark,
        {"triple": f"kafka://{broker.address}/{topic}?format=nquads"},
        checkpoint=tmp_path / "checkpoint",
        to=found,
        settings=inkling.StreamSettings(available_now=True, buckets=1),
    )
    query.await_end()
    query.finish()
    rows = sorted(found.rows("measured"), key=lambda row: row["end"])
    assert [(row["celsius"], row["end"]) for row in rows] == [(20.0, 1), (25.0, 2)]
    assert rows[0]["node"] != rows[1]["node"]
    (reject,) = found.rows("rejects")
    assert str(reject["detail"]).endswith(f"(topic {topic}, partition 0, offset 1)")
