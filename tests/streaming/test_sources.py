"""What a stream may be read from, on real Structured Streaming: the same rows and the same rejects as in batch."""

import gzip
import io
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.streaming.arriving import arrive

import inkling
from inkling.spark.streaming.sinks.protocol import MemorySink

PROGRAM = inkling.parse("""
STREAM Door(id STRING, person STRING, room STRING, t BIGINT) ID id KEY person TIME t;
STREAM Badge(id STRING, person STRING, t BIGINT) ID id KEY person TIME t;
STREAM Alarm(id STRING, level DOUBLE, t BIGINT) ID id TIME t;

EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
EVENT entered(person) AS PATTERN SEQ(Badge b, Door d) PARTITION BY person WITHIN 10 TICKS;
EVENT loud(a.level AS level) AS PATTERN Alarm a[level > 2.5];
""")

DOORS = "id,person,room,t\nd1,ada,lab,1\nd2,bob,hall,2\nd3,ada\nd4,bob,lab,soon\n"
MORE_DOORS = "t,room,id,person\n7,lab,d5,bob\n"
BADGES = """{"id": "b1", "person": "ada", "t": 0}
nonsense

{"id": "b2", "person": "bob", "t": 1.0}
["b3", "bob", 2]
{"id": "b4", "t": 3}
{"id": "b5", "person": "bob", "t": 123456789012345678901234567890}
"""


def parquet(**columns: object) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.mark.long
def test_files_of_every_format(spark: SparkSession, tmp_path: Path) -> None:
    doors, badges, alarms = tmp_path / "doors", tmp_path / "badges", tmp_path / "alarms"
    arrive(doors, "a.csv", DOORS, 1)
    arrive(doors, "b.csv.gz", gzip.compress(MORE_DOORS.encode()), 2)
    arrive(badges, "a.jsonl", BADGES, 1)
    arrive(doors, "b2.csv", b"id,room,person,t\nd8,hall,ad\xe9le,9\n", 2)
    arrive(badges, "b.jsonl", b'{"id": "b9", "person": "ad\xe9le", "t": 9}\n', 1)
    arrive(alarms, "a.parquet", parquet(id=["a1", "a2"], level=[3.0, 2.0], t=[4, 5], unread=[1, 2]), 1)
    arrive(alarms, "b.parquet", parquet(id=["a3"], level=pa.array([9], pa.int8()), t=pa.array([6], pa.int32())), 2)
    batch = PROGRAM.run_local({"Door": doors, "Badge": badges, "Alarm": alarms})
    # what batch rejects as a whole, a stream must live with
    arrive(doors, "c.csv", "id,person,t\nd6,ada,9\nd7,ada,10\n", 3)
    arrive(doors, "d.csv", "\n", 4)
    arrive(alarms, "c.parquet", b"PAR1 and then nothing", 3)
    arrive(alarms, "d.parquet", parquet(id=["a4"], level=[[1.0]], t=[6]), 4)

    found = MemorySink()
    query = PROGRAM.stream(
        spark,
        {"Door": f"{doors}?maxFilesPerTrigger=2", "Badge": badges, "Alarm": alarms},
        checkpoint=tmp_path / "checkpoint",
        to=found,
        settings=inkling.StreamSettings(available_now=True, buckets=2),
    )
    query.await_end()
    query.finish()
    for name, table in batch.tables.items():
        assert table.num_rows, name
        assert rows_of(found.rows(name)) == rows_of(table.to_pylist())
    assert found.rows("late") == []
    same = Counter((row["stream"], row["reason"], row["detail"], row["row"]) for row in batch.rejects.to_pylist())
    assert len(same) == 8
    assert sum(detail == "not UTF-8: byte 0xe9 in `person`" for _, _, detail, _ in same) == 2
    rejects = Counter((row["stream"], row["reason"], row["detail"], row["row"]) for row in found.rows("rejects"))
    others = Counter(
        (stream, detail.split(" (file")[0].split(": Parquet")[0])
        for stream, _, detail, _ in (rejects - same).elements()
    )
    assert rejects >= same
    assert others == {
        ("Door", "there is no column `room`"): 2,
        ("Door", "a file without a header"): 1,
        ("Alarm", "a file that cannot be read as Parquet"): 1,
        ("Alarm", "`level` has the type list<element: double>, expected DOUBLE"): 1,
    }
    assert sum(sum(tally.read.values()) for tally in query.tallies) == 4 + 1 + 1 + 6 + 1 + 3 + 2 + 1 + 1 + 1


@pytest.mark.long
def test_a_rate_and_a_table(spark: SparkSession, tmp_path: Path) -> None:
    program = inkling.parse("""
    STREAM Tick(value BIGINT, timestamp TIMESTAMP) ID value TIME timestamp;
    STREAM Note(id STRING, t TIMESTAMP) ID id TIME t;
    EVENT tenth(n.value AS value) AS PATTERN Tick n[value % 10 = 0];
    EVENT note(n.id AS id) AS PATTERN Note n;
    """)
    rows = "VALUES ('n1', TIMESTAMP '2026-03-02 10:00:00'), ('n2', TIMESTAMP '2026-03-02 11:00:00')"
    spark.sql(f"CREATE TABLE notes USING parquet LOCATION '{tmp_path}/notes' AS SELECT * FROM {rows} AS v(id, t)")
    found = MemorySink()
    query = program.stream(
        spark,
        {"Tick": "rate://50", "Note": "notes"},
        checkpoint=tmp_path / "checkpoint",
        to=found,
        settings=inkling.StreamSettings(idle_after=1, buckets=1),  # nobody adds to the table
    )
    try:
        deadline = time.monotonic() + 300
        while sum(tally.matches["tenth"] for tally in query.tallies) < 3 and time.monotonic() < deadline:
            assert not query.await_end(1)
    finally:
        query.stop()
        spark.sql("DROP TABLE notes")
    values = sorted(row["value"] for row in found.rows("tenth"))
    assert values == list(range(0, 10 * len(values), 10))
    assert len(values) >= 3
    assert [row["id"] for row in found.rows("note")] == ["n1", "n2"]


def rows_of(rows: list[dict[str, object]]) -> list[str]:
    return sorted(str(sorted(row.items(), key=str)) for row in rows)
