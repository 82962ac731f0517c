"""The results of many events at once: a job for each would take far longer than the rows do."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.result_rows import DETECTED, EVENT, LINEAGE
from inkling.evaluators.stage.rows import format as r
from inkling.physical.naming import physical_name
from inkling.query import Program
from inkling.spark.batch import SparkResults
from inkling.spark.streaming.sinks.outputs import SinkOutput

Rows = dict[str, list[dict[str, object]]]


def rows_by_stage(program: Program, results: SparkResults) -> Rows:
    """The results of all events as workers left them, one job per stage; of streams in ticks."""
    found: Rows = {}
    stages, frames = program.physical.stages, iter(results.cached)
    read_later = {given.source for stage in stages for given in stage.inputs}
    for stage in stages:
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
        together: Rows = {}
        for batch in self._batches.values():
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
