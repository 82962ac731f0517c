"""The results of many events at once: a job for each would take far longer than the rows do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.result_rows import DETECTED, EVENT, LINEAGE
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.state import table_of
from inkling.physical.naming import physical_name
from inkling.query import Program
from inkling.spark.batch import SparkResults
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import MessageKind
from inkling.spark.streaming.sinks.outputs import BatchTally, SinkOutput

Rows = dict[str, list[dict[str, object]]]


def rows_by_stage(program: Program, results: SparkResults) -> Rows:
    """The results of all events as workers left them, one job per stage; of streams in ticks."""
    found: Rows = {}
    stages, frames = program.physical.stages, iter(results.cached)
    for place, stage in enumerate(stages):
        read_later = {given.source for later in stages[place + 1 :] for given in later.inputs}
        steps = [step.event for step in stage.steps]
        found |= {event.name: [] for event in steps}
        if len(steps) == 1 and steps[0].name not in read_later:
            found[steps[0].name] = (
                results.tables[steps[0].name].toArrow().to_pylist()
            )  # shared with nothing, so not cached
            continue
        for row in next(frames).toArrow().to_pylist():
            event = steps[row[EVENT]]
            outputs = (*event.head, *event.returns)
            values = {output.name: row[physical_name(output.name, output.type)] for output in outputs}
            times = {"start": row[r.START], "end": row[r.END], "detected_at": row[DETECTED]}
            found[event.name].append({**values, **times, "lineage": row[LINEAGE]})
    return found


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
