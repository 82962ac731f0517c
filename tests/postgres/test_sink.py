"""Tables of current matches in a real PostgreSQL: their content is the net of all signed rows, whatever happens."""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.kit.seeds import first_of
from tests.postgres.server import Server
from tests.streaming.corrections import RESULTS, frame, random_batches, spelled
from tests.streaming.test_current_files import code_of, row

from inkling.errors import InputError
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.failures import FailedRun, SinkError, by_sink, sink_name, stream_failed
from inkling.spark.streaming.sinks.outputs import LATE, REJECTS, SinkOutput
from inkling.spark.streaming.sinks.postgres import PostgresSink, ResultTable
from inkling.spark.streaming.sinks.protocol import SinkStart, sink_of
from inkling.spark.streaming.sinks.result_id import with_result_id

EVENTS = ("fire", "Two words")


def checkpoint(spark: SparkSession, path: Path, run: str) -> CheckpointFolder:
    """As Spark begins one."""
    folder = CheckpointFolder(spark, str(path / run))
    folder.inside("spark").write("metadata", f'{{"id":"{run}"}}'.encode())
    return folder


def begun(spark: SparkSession, path: Path, to: str, run: str = "first", *, is_new: bool = False) -> PostgresSink:
    sink = sink_of(to)
    assert isinstance(sink, PostgresSink)
    columns = frame(spark, [], RESULTS).schema
    outputs = (*EVENTS, LATE, REJECTS)
    sink.begin(SinkStart(spark, outputs, checkpoint(spark, path, run), is_new, dict.fromkeys(EVENTS, columns)))
    return sink


def rows_of(server: Server, database: str, table: str) -> list[dict[str, Any]]:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(server.address(database)) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")
        return cursor.fetch_arrow_table().to_pylist()


def held(server: Server, database: str, table: str) -> Counter[str]:
    found = rows_of(server, database, table)
    assert {one["op"] for one in found} <= {"+"}
    return Counter(map(spelled, found))


def staged(server: Server, database: str) -> list[str]:
    found = server.run("SELECT tablename::text FROM pg_tables WHERE tablename LIKE 'inkling_staged%'", database)
    return [name for (name,) in found]


def told(spark: SparkSession, *rows: dict[str, object], event: str = "fire") -> list[SinkOutput]:
    return [SinkOutput(event, frame(spark, list(rows), RESULTS), len(rows))]


@pytest.mark.long
def test_net_content_after_every_batch(spark: SparkSession, server: Server, database: str, tmp_path: Path) -> None:
    """Every batch comes twice, and the job starts again in between."""
    to = server.address(database, options="?schema=found&prefix=now_")
    sink = begun(spark, tmp_path, to, is_new=True)
    assert held(server, database, "found.now_fire") == Counter()
    late = 0
    for batch in random_batches(4, 4):
        sink.deliver(batch.outputs(spark), batch.number)
        content = {event: held(server, database, f'found."now_{event}"') for event in EVENTS}
        assert content == batch.holds, batch.number
        if batch.number == 2:
            sink = begun(spark, tmp_path, to)
        sink.deliver(batch.outputs(spark), batch.number)
        late += len(batch.late)
    assert {event: held(server, database, f'found."now_{event}"') for event in EVENTS} == batch.holds
    assert batch.holds["fire"].total() > 20
    assert late == len(rows_of(server, database, "found.now_late")) > 1
    assert server.run("SELECT * FROM found.now_inkling_batches", database) == [("first", 3)]
    assert staged(server, database) == []


def test_result_ids_are_those_of_files(spark: SparkSession, server: Server, database: str, tmp_path: Path) -> None:
    rows = [row(n=number, Value=number / 3) for number in range(3)]
    begun(spark, tmp_path, server.address(database), is_new=True).deliver(told(spark, *rows), 0)
    expected = {one["n"]: one["result_id"] for one in with_result_id(frame(spark, rows, RESULTS)).collect()}
    assert {one["n"]: one["result_id"] for one in rows_of(server, database, "fire")} == expected


@pytest.mark.parametrize("moment", first_of(["in between", "at the end"], 1))
def test_a_crash_in_the_transaction(
    moment: str, spark: SparkSession, server: Server, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the tables of two events, nothing of the batch is there; done again, all of it."""
    to = server.address(database)
    sink = begun(spark, tmp_path, to, is_new=True)
    first, second = random_batches(6, 2)
    sink.deliver(first.outputs(spark), 0)
    apply = ResultTable.apply

    def crash(table: ResultTable, cursor: Any, *words: Any) -> None:
        if table.name == EVENTS[1] and moment == "in between":
            raise KeyboardInterrupt
        apply(table, cursor, *words)
        if table.name == LATE:
            raise KeyboardInterrupt

    outputs = second.outputs(spark)
    monkeypatch.setattr(ResultTable, "apply", crash)
    with pytest.raises(KeyboardInterrupt):
        sink.deliver(outputs, 1)
    monkeypatch.setattr(ResultTable, "apply", apply)
    assert {event: held(server, database, f'"{event}"') for event in EVENTS} == first.holds
    assert staged(server, database) != []
    sink = begun(spark, tmp_path, to)
    assert staged(server, database) == []
    sink.deliver(second.outputs(spark), 1)
    assert {event: held(server, database, f'"{event}"') for event in EVENTS} == second.holds


def test_rows_of_attempts_that_failed_do_not_count(
    spark: SparkSession, server: Server, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker may write everything and die before it can say so; another one does its work again."""
    sink = begun(spark, tmp_path, server.address(database), is_new=True)
    stage = ResultTable.stage

    def with_leftovers(table: ResultTable, cursor: Any, name: str) -> None:
        stage(table, cursor, name)
        column = "id" if table.name == LATE else "result_id"
        cursor.execute(f"INSERT INTO \"{name}\" (inkling_attempt, {column}) VALUES (-1, 'of a dead worker')")

    monkeypatch.setattr(ResultTable, "stage", with_leftovers)
    late = pa.schema({"stream": pa.string(), "id": pa.string()})
    growing = SinkOutput(LATE, frame(spark, [{"stream": "s", "id": "a"}] * 2, late), 2, only_grows=True)
    sink.deliver([*told(spark, row(n=7)), growing], 0)
    assert [one["n"] for one in rows_of(server, database, "fire")] == [7]
    assert [one["id"] for one in rows_of(server, database, "late")] == ["a", "a"]


def test_what_is_told_wins_over_what_is_withdrawn(
    spark: SparkSession, server: Server, database: str, tmp_path: Path
) -> None:
    sink = begun(spark, tmp_path, server.address(database), is_new=True)
    sink.deliver(told(spark, row(n=1), row(n=2)), 0)
    sink.deliver(told(spark, row(n=1, probability=0.5), row(n=1, op="-"), row(n=2, op="-"), row(n=3, op="-")), 1)
    assert [(one["n"], one["probability"]) for one in rows_of(server, database, "fire")] == [(1, 0.5)]


def test_columns_of_one_s_own_stay(spark: SparkSession, server: Server, database: str, tmp_path: Path) -> None:
    """A correction changes what inkling wrote and leaves what others noted beside it."""
    sink = begun(spark, tmp_path, server.address(database), is_new=True)
    sink.deliver(told(spark, row(n=1)), 0)
    server.run("ALTER TABLE fire ADD COLUMN seen_by text", database)
    server.run("UPDATE fire SET seen_by = 'ada'", database)
    sink.deliver(told(spark, row(n=1, probability=0.25), row(n=1, op="-")), 1)
    assert [(one["probability"], one["seen_by"]) for one in rows_of(server, database, "fire")] == [(0.25, "ada")]


def test_text_that_postgresql_cannot_hold(spark: SparkSession, server: Server, database: str, tmp_path: Path) -> None:
    sink = begun(spark, tmp_path, server.address(database), is_new=True)
    sink.deliver(told(spark, row(room="a\0b", lineage=["\0", None])), 0)
    assert [(one["room"], one["lineage"]) for one in rows_of(server, database, "fire")] == [("a�b", ["�", None])]


def test_two_runs_beside_each_other(spark: SparkSession, server: Server, database: str, tmp_path: Path) -> None:
    """Each counts its own batches."""
    for run in ("first", "second"):
        to = server.address(database, options=f"?prefix={run}_")
        begun(spark, tmp_path, to, run, is_new=True).deliver(told(spark, row()), 0)
        assert len(rows_of(server, database, f"{run}_fire")) == 1


def test_rejections(spark: SparkSession, server: Server, database: str, tmp_path: Path) -> None:
    to = server.address(database)
    begun(spark, tmp_path, to, is_new=True).deliver(told(spark, row()), 0)
    with pytest.raises(InputError) as other_run:
        begun(spark, tmp_path, to, "second", is_new=True)
    assert code_of(other_run) == "INK0516"
    with pytest.raises(InputError, match="but the checkpoint has been used") as elsewhere:
        begun(spark, tmp_path, server.address(database, options="?prefix=other_"))
    assert code_of(elsewhere) == "INK0516"
    server.run("ALTER TABLE fire ALTER COLUMN n TYPE integer", database)
    with pytest.raises(InputError) as shape:
        begun(spark, tmp_path, to)
    assert code_of(shape) == "INK0572"
    assert "`n` is integer, and results have it as bigint" in str(shape.value)


@pytest.mark.parametrize(
    "changed", [{"password": "a/wrong@one"}, {"database": "elsewhere"}, {"options": "?connect_timeout=soon"}]
)
def test_passwords_are_not_shown(
    changed: dict[str, str], spark: SparkSession, server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    address = server.address(**changed)
    with pytest.raises(InputError) as caught:
        begun(spark, tmp_path, address)
    assert code_of(caught) == "INK0571"
    said = f"{caught.value} {caught.value.__cause__} {sink_of(address)!r} {caplog.text}"
    for secret in ("sesame", "wrong@one", "%2Fsesame", "wrong%40one"):
        assert secret not in said
    assert f"postgresql://ink:…@127.0.0.1:{server.port}/" in said


def test_failures_while_rows_are_written(
    spark: SparkSession, server: Server, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a worker meets is told with its cause and without the password."""
    sink = begun(spark, tmp_path, server.address(database), is_new=True)
    stage = ResultTable.stage

    def unfit(table: ResultTable, cursor: Any, name: str) -> None:
        stage(table, cursor, name)
        cursor.execute(f'ALTER TABLE "{name}" ADD CHECK (n < 5)')

    monkeypatch.setattr(ResultTable, "stage", unfit)
    outputs = told(spark, row(n=4), row(n=5))
    with pytest.raises(SinkError) as caught, by_sink():
        sink.deliver(outputs, 3)
    said = str(stream_failed(caught.value, FailedRun("checkpoint", sink_name(sink), 3)))
    assert "INK0610" in said
    assert f"could not be delivered to `postgresql://ink:…@127.0.0.1:{server.port}/{database}`" in said
    assert "violates check constraint" in said
    assert "sesame" not in said
    assert rows_of(server, database, "fire") == []
