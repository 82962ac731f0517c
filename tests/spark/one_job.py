"""The results of many events at once: a job for each would take far longer than the rows do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.state import table_of
from inkling.spark.batch import SparkResults
from inkling.spark.packed import PackedEvent, public_tables
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import MessageKind
from inkling.spark.streaming.sinks.outputs import BatchTally, SinkOutput

Rows = dict[str, list[dict[str, object]]]


def rows_by_stage(results: SparkResults) -> Rows:
    """The results of all certain events, one job per stage."""
    by_frame: dict[int, list[PackedEvent]] = {}
    for one in results.packed.values():
        by_frame.setdefault(id(one.frame), []).append(one)
    tables = [public_tables(events, results.clock) for events in by_frame.values()]
    return {name: table.to_pylist() for some in tables for name, table in some.items()}


def rows_in_one_job(outputs: Iterable[SinkOutput]) -> Rows:
    """What one micro-batch delivers; of streams in ticks, whose values JSON holds as they are."""
    written = [
        one.frame.select(
            F.lit(one.name).alias("name"), F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("row")
        )
        for one in outputs
        if one.n_rows
    ]
    found: Rows = {}
    if written:
        for row in reduce(DataFrame.unionByName, written).coalesce(2).toArrow().to_pylist():
            found.setdefault(row["name"], []).append(json.loads(row["row"]))
    return found


class KeptRows:
    """A sink that keeps what every micro-batch delivered last."""

    def __init__(self) -> None:
        self._batches: dict[int, Rows] = {}

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        self._batches[batch] = rows_in_one_job(outputs)

    def rows(self) -> Rows:
        return _together(self._batches.values())


class KeptMessages:
    """A sink that keeps what workers wrote: a frame per event would take Spark longer than the rows do."""

    def __init__(self) -> None:
        self._batches: dict[int, Rows] = {}
        self._names: list[str] = []

    def outputs_of(self, job: Job, messages: DataFrame, tally: BatchTally) -> Iterator[SinkOutput]:
        """The results of all events as one output, in place of an output for each."""
        assert not tally.late, "rows were late"
        assert not tally.rejects, "rows were rejected"
        self._names = job.event_names
        results = messages.where(F.col("kind") == int(MessageKind.RESULTS)).select("about", "payload")
        yield SinkOutput("results", results, sum(tally.matches.values()))

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        found: Rows = {}
        for output in outputs:
            for message in output.frame.toArrow().to_pylist():
                rows = table_of(pa.py_buffer(message["payload"])).to_pylist()
                found.setdefault(self._names[message["about"]], []).extend(rows)
        self._batches[batch] = found

    def rows(self) -> Rows:
        return _together(self._batches.values())


def _together(batches: Iterable[Rows]) -> Rows:
    together: Rows = {}
    for batch in batches:
        for name, rows in batch.items():
            together.setdefault(name, []).extend(rows)
    return together


def results_in_one_job(results: SparkResults) -> Rows:
    """The public rows of all events of a run, which is closed; of streams in ticks."""
    written = [
        frame.select(F.lit(name).alias("name"), F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("row"))
        for name, frame in results.items()
    ]
    found: Rows = {name: [] for name in results}
    for row in reduce(DataFrame.unionByName, written).coalesce(2).toArrow().to_pylist():
        found[row["name"]].append(json.loads(row["row"]))
    results.close()
    return found
