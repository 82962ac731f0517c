"""Tables of current matches in files: what they hold is the net of all signed rows, whatever happens on the way."""

import hashlib
import json
import math
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.streaming.corrections import RESULTS, START, frame, random_batches, spelled

from inkling.errors import InputError
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.sinks.current_files import CurrentSink, read_current
from inkling.spark.streaming.sinks.current_versions import KEPT_VERSIONS, TablesVersion, TablesVersions
from inkling.spark.streaming.sinks.outputs import LATE, REJECTS, SinkOutput, retracted
from inkling.spark.streaming.sinks.protocol import FileSink, MemorySink, SinkStart, sink_of
from inkling.spark.streaming.sinks.result_id import CHANGEABLE, with_result_id


def held(spark: SparkSession, path: Path, event: str) -> Counter[str]:
    found = read_current(spark, path, event).toArrow().to_pylist()
    assert {row["op"] for row in found} <= {"+"}
    assert len({row["result_id"] for row in found}) == len(found)
    return Counter(map(spelled, found))


def beginning(spark: SparkSession, path: Path, *, is_new: bool) -> SinkStart:
    columns = frame(spark, [], RESULTS).schema
    outputs = ("fire", "Two words", LATE, REJECTS)
    checkpoint = CheckpointFolder(spark, str(path / "checkpoint"))
    return SinkStart(spark, outputs, checkpoint, is_new, {"fire": columns, "Two words": columns})


def row(**values: object) -> dict[str, object]:
    told = {"event": "fire", "start": START, "end": START, "detected_at": START, "probability": 1.0, "op": "+"}
    return {**dict.fromkeys(RESULTS.names), "method": "exact", "error": 0.0, "lineage": ["r1"], **told, **values}


def ids(spark: SparkSession, *rows: dict[str, object]) -> list[str]:
    """In the order of the rows."""
    table = spark.createDataFrame(pa.Table.from_pylist(list(rows), schema=RESULTS)).coalesce(1)
    return [one["result_id"] for one in with_result_id(table).collect()]


@pytest.mark.long
def test_what_is_one_result(spark: SparkSession) -> None:
    """Only what a correction may change makes no difference."""
    other = {"probability": 0.5, "method": "sampled", "error": 0.25, "op": "-"}
    assert set(other) == set(CHANGEABLE)
    same = [row(), row(**other)]
    different = [
        row(event="smoke"),
        row(room=""),
        row(Value=0.0),
        row(Value=math.nan),
        row(n=42),
        row(n=0),
        row(sure=False),
        row(start=None),
        row(end=None),
        row(detected_at=None),
        row(lineage=[]),
        row(lineage=None),
        row(lineage=["r", "1"]),
        row(lineage=["r1", None]),
        row(room="a", lineage=["b"]),
        row(room="b", lineage=["a"]),
    ]
    found = ids(spark, *same, *different)
    assert found[0] == found[1]
    assert len(set(found)) == 1 + len(different)


def test_result_ids_are_what_they_say(spark: SparkSession) -> None:
    """The first 128 bits of SHA-256 of the identity in JSON, in whatever time zone Spark works."""
    micros = 1_772_445_600_000_001
    identity = {**dict.fromkeys(RESULTS.names), "event": "fire", "room": "ü"}
    identity |= dict.fromkeys(("start", "end", "detected_at"), micros)
    identity = {name: value for name, value in identity.items() if name not in CHANGEABLE} | {"lineage": ["r1"]}
    text = json.dumps(identity, separators=(",", ":"), ensure_ascii=False)
    zone = spark.conf.get("spark.sql.session.timeZone")
    try:
        for other in ("UTC", "Asia/Tokyo"):
            spark.conf.set("spark.sql.session.timeZone", other)
            assert ids(spark, row(room="ü")) == [hashlib.sha256(text.encode()).hexdigest()[:32]]
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.long
def test_net_content_after_every_batch(spark: SparkSession, tmp_path: Path) -> None:
    """Every batch comes twice, and now and then the job starts again."""
    sink = sink_of(f"{tmp_path}/found?keep=current")
    assert isinstance(sink, CurrentSink)
    sink.begin(beginning(spark, tmp_path, is_new=True))
    assert held(spark, tmp_path / "found", "fire") == Counter()
    late = 0
    for batch in random_batches(4, 4):
        sink.deliver(batch.outputs(spark), batch.number)
        for event, expected in batch.holds.items():
            assert held(spark, tmp_path / "found", event) == expected, (batch.number, event)
        if batch.number == 2:
            sink.begin(beginning(spark, tmp_path, is_new=False))
        sink.deliver(batch.outputs(spark), batch.number)
        late += len(batch.late)
    assert batch.holds["fire"].total() > 20
    assert {event: held(spark, tmp_path / "found", event) for event in batch.holds} == batch.holds
    assert late > 1
    assert spark.read.parquet(f"{tmp_path}/found/late").count() == late


@pytest.mark.long
def test_what_is_found_in_two_ways_stays_until_both_are_gone(spark: SparkSession, tmp_path: Path) -> None:
    """The same events prove it at once, and by an absence that a late event disproves."""
    sink = CurrentSink(str(tmp_path))
    by_absence = row(detected_at=START + timedelta(minutes=5))
    for number, rows in enumerate(([row(), by_absence], [by_absence | {"op": "-"}], [row(op="-")])):
        sink.deliver([SinkOutput("fire", frame(spark, rows, RESULTS), len(rows))], number)
        assert held(spark, tmp_path, "fire").total() == 2 - number


def test_a_crash_before_the_list_of_files_changes_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink, path = CurrentSink(str(tmp_path)), tmp_path
    first, second = random_batches(2, 2)
    sink.deliver(first.outputs(spark), 0)
    files = {file.name for file in path.glob("_current/pieces/*/*")}

    def crash(versions: TablesVersions, version: TablesVersion) -> None:
        raise KeyboardInterrupt

    outputs = second.outputs(spark)
    monkeypatch.setattr(TablesVersions, "put", crash)
    with pytest.raises(KeyboardInterrupt):
        sink.deliver(outputs, 1)
    monkeypatch.undo()
    assert held(spark, path, "fire") == first.holds["fire"]
    assert {file.name for file in path.glob("_current/pieces/*/*")} > files
    sink.begin(beginning(spark, path, is_new=False))
    assert {file.name for file in path.glob("_current/pieces/*/*")} == files
    sink.deliver(second.outputs(spark), 1)
    assert {event: held(spark, path, event) for event in second.holds} == second.holds


@pytest.mark.long
def test_what_nobody_reads_any_more_is_removed(spark: SparkSession, tmp_path: Path) -> None:
    """One result per batch: pieces double, so few are left; replaced ones stay for readers, then go."""
    n_batches = KEPT_VERSIONS + 3
    sink, patient = CurrentSink(f"{tmp_path}/a", seconds_kept=0), CurrentSink(f"{tmp_path}/b")
    for number in range(n_batches):
        told = [SinkOutput("fire", frame(spark, [row(n=number)], RESULTS), 1)]
        sink.deliver(told, number)
        if number < 3:
            patient.deliver(told, number)
    assert read_current(spark, tmp_path / "a", "fire").count() == n_batches
    newest = TablesVersions(spark, f"{tmp_path}/a").newest()
    assert len(list((tmp_path / "a/_current/pieces/fire").iterdir())) == len(newest.folders) <= 4
    assert len(list((tmp_path / "a/_current/versions").glob("*.json"))) == KEPT_VERSIONS
    assert len(list((tmp_path / "b/_current/pieces/fire").iterdir())) == 3


def test_a_withdrawn_table_is_empty(spark: SparkSession, tmp_path: Path) -> None:
    sink = CurrentSink(str(tmp_path))
    rows = [row(n=number) for number in range(5)]
    sink.deliver([SinkOutput("fire", frame(spark, rows, RESULTS), 5)], 0)
    sink.deliver([SinkOutput("fire", frame(spark, [{**rows[0], "op": "-"}], RESULTS), 1)], 1)
    assert {one["n"] for one in read_current(spark, tmp_path, "fire").collect()} == {1, 2, 3, 4}
    sink.deliver([SinkOutput("fire", frame(spark, [{**one, "op": "-"} for one in rows[1:]], RESULTS), 4)], 2)
    assert read_current(spark, tmp_path, "fire").count() == 0
    assert [piece.rows for piece in TablesVersions(spark, str(tmp_path)).newest().tables["fire"].pieces] == [0]


def code_of(problem: pytest.ExceptionInfo[InputError]) -> str:
    return problem.value.diagnostics[0].code


def test_rejections(spark: SparkSession, tmp_path: Path) -> None:
    sink = CurrentSink(str(tmp_path))
    sink.begin(beginning(spark, tmp_path, is_new=True))
    sink.deliver([SinkOutput("fire", frame(spark, [row()], RESULTS), 1)], 0)
    with pytest.raises(InputError) as other_run:
        sink.begin(beginning(spark, tmp_path, is_new=True))
    assert code_of(other_run) == "INK0516"
    with pytest.raises(InputError, match="but the checkpoint has been used") as elsewhere:
        CurrentSink(str(tmp_path / "elsewhere")).begin(beginning(spark, tmp_path, is_new=False))
    assert code_of(elsewhere) == "INK0516"
    changed = RESULTS.set(4, pa.field("n", pa.string())).remove(2)
    for act in (
        lambda: sink.begin(
            SinkStart(spark, (), CheckpointFolder(spark, ""), False, {"fire": frame(spark, [], changed).schema})
        ),
        lambda: sink.deliver([SinkOutput("fire", frame(spark, [row(n="1")], changed), 1)], 1),
    ):
        with pytest.raises(InputError) as shape:
            act()
        assert code_of(shape) == "INK0572"
        assert "`n` is bigint, and results have it as string" in str(shape.value)
        assert "`Value` is double, and results do not have it" in str(shape.value)
    with pytest.raises(InputError) as unknown:
        read_current(spark, tmp_path, "Fire")
    assert code_of(unknown) == "INK0573"
    assert held(spark, tmp_path, "fire") == Counter([spelled(row())])


def test_other_sinks_add_signed_rows(spark: SparkSession, tmp_path: Path) -> None:
    """What holds is what was told more often than withdrawn."""
    memory, files = MemorySink(), FileSink(str(tmp_path))
    for batch in random_batches(3, 2):
        for sink in (memory, files):
            sink.deliver(batch.outputs(spark), batch.number)
            sink.deliver(batch.outputs(spark), batch.number)
    for event, expected in batch.holds.items():
        for rows in (memory.rows(event), spark.read.parquet(f"{tmp_path}/{event}").toArrow().to_pylist()):
            net = Counter(spelled(one) for one in rows if one["op"] == "+")
            net.subtract(spelled(one) for one in rows if one["op"] == "-")
            assert +net == expected


def test_what_on_retract_tells(spark: SparkSession) -> None:
    rows = [row(n=1), row(n=2, op="-"), row(n=3, op="-", probability=0.5)]
    found = retracted(frame(spark, rows, RESULTS), "undo").toArrow().sort_by("n").to_pylist()
    expected = [{**one, "event": "undo", "op": "+"} for one in rows[1:]]
    assert list(map(spelled, found)) == list(map(spelled, expected))
    assert {one["op"] for one in found} == {"+"}
    assert list(found[0]) == RESULTS.names
