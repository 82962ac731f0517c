"""A program whose past changes, with tables of current matches in files and in PostgreSQL, through a crash."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType
from tests.postgres.server import Server
from tests.postgres.test_sink import rows_of
from tests.streaming.arriving import arrive

import inkling
from inkling.errors import InputError
from inkling.spark.streaming.failures import StreamError
from inkling.spark.streaming.sinks.current_files import read_current
from inkling.spark.streaming.sinks.outputs import SinkOutput
from inkling.spark.streaming.sinks.postgres import ResultTable
from inkling.spark.streaming.sinks.protocol import SinkStart, sink_of

TEXT = """
STREAM Trade(id STRING, account STRING, amount DOUBLE, at TIMESTAMP)
  ID id KEY account TIME at LATENESS 1 MINUTES SPECULATIVE OP op FOR 1 HOURS;
EVENT rise(account, a.amount AS amount) AS
  PATTERN SEQ(Trade a[amount > 100], NOT Trade[amount < 0], Trade b[amount > a.amount])
  PARTITION BY account WITHIN 10 MINUTES ON RETRACT undo;
EVENT alarm(account) AS PATTERN rise r[amount > 180] PARTITION BY account ON RETRACT all_clear;
"""
PROGRAM = inkling.parse(TEXT)
OTHER_COLUMNS = inkling.parse(TEXT.replace("a.amount AS amount", "1 AS amount"))
HEADER = "id,account,amount,at,op\n"
FILES = (
    "t1,x,150,2026-03-02T10:00:00Z,+\nt2,x,200,2026-03-02T10:01:00Z,+\nt3,x,300,2026-03-02T10:02:00Z,+\n",
    "t2,,,,-\nt4,x,-5,2026-03-02T10:02:30Z,+\nt5,x,400,2026-03-02T10:02:20Z,+\n",
)
"""By hand: t2 is withdrawn, t5 is new, and the fall of t4 comes after all of them."""
RISES = ({"t1 t2", "t1 t3", "t2 t3"}, {"t1 t3", "t1 t5", "t3 t5"})
ALARMS = ({"t2 t3"}, {"t3 t5"})
WITHDRAWN = {"undo": ["t1 t2", "t2 t3"], "all_clear": ["t2 t3"]}


class Both:
    """Notes what both places hold after every micro-batch."""

    def __init__(self, spark: SparkSession, server: Server, database: str, folder: Path) -> None:
        self._spark, self._server, self._database, self._folder = spark, server, database, folder
        self._sinks = [sink_of(f"{folder}?keep=current"), sink_of(server.address(database))]
        self.seen: dict[int, tuple[dict[str, set[str]], dict[str, set[str]]]] = {}

    def begin(self, beginning: SinkStart) -> None:
        for sink in self._sinks:
            sink.begin(beginning)  # type: ignore[attr-defined]

    def require_columns(self, spark: SparkSession, columns: Mapping[str, StructType]) -> None:
        for sink in self._sinks:
            with pytest.raises(InputError, match=r"`amount` is double.*and results have it as bigint"):
                sink.require_columns(spark, columns)  # type: ignore[attr-defined]
        raise InputError.of("INK0572", "neither fits")

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        outputs = list(outputs)
        for sink in self._sinks:
            sink.deliver(outputs, batch)
        self.seen[batch] = self.in_files(), self.in_database()

    def in_files(self) -> dict[str, set[str]]:
        frames = {event: read_current(self._spark, self._folder, event) for event in ("rise", "alarm")}
        return {event: set(lineages(frame.toArrow().to_pylist())) for event, frame in frames.items()}

    def in_database(self) -> dict[str, set[str]]:
        return {event: set(lineages(self.table(event))) for event in ("rise", "alarm")}

    def table(self, name: str) -> list[dict[str, Any]]:
        return rows_of(self._server, self._database, name)


def lineages(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [" ".join(row["lineage"]) for row in rows]


@pytest.mark.long
def test_both_hold_the_answer_on_the_corrected_stream(
    spark: SparkSession, server: Server, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, rows in enumerate(FILES):
        arrive(tmp_path / "trades", f"{number}.csv", HEADER + rows, number + 1)
    fail_once_in_a_correction(monkeypatch)
    both, failures = Both(spark, server, database, tmp_path / "found"), 0
    while True:
        query = PROGRAM.stream(
            spark,
            {"Trade": f"{tmp_path}/trades?maxFilesPerTrigger=1"},
            checkpoint=tmp_path / "checkpoint",
            to=both,
            settings=inkling.StreamSettings(available_now=True, buckets=1),
        )
        try:
            query.await_end()
            break
        except StreamError:
            failures += 1
    assert failures == 1
    with pytest.raises(InputError, match="neither fits"):
        query.replace(OTHER_COLUMNS)
    expected = [{"rise": rises, "alarm": alarms} for rises, alarms in zip(RISES, ALARMS, strict=True)]
    assert both.seen == {number: (one, one) for number, one in enumerate(expected)}
    for name, told in WITHDRAWN.items():
        undone = spark.read.parquet(f"{tmp_path}/found/{name}").toArrow().to_pylist()
        for rows in (undone, both.table(name)):
            assert sorted(lineages(rows)) == told
            assert {(row["event"], row["op"]) for row in rows} == {(name, "+")}


def fail_once_in_a_correction(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the files count already, and the database is between two tables."""
    apply, failed = ResultTable.apply, []

    def apply_or_fail(table: ResultTable, cursor: Any, *words: Any) -> None:
        apply(table, cursor, *words)
        if table.name == "undo" and not failed:
            failed.append(table.name)
            raise OSError("the network is gone")

    monkeypatch.setattr(ResultTable, "apply", apply_or_fail)
