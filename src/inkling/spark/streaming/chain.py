"""The query as a DataFrame: intake of all streams, then one stateful operator per stage, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame

from inkling.io.normalize import stored_columns
from inkling.io.records import MALFORMED, ORIGINAL
from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.streaming.intake import ControlTask, IntakeTask
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import SCHEMA
from inkling.spark.streaming.operator import BucketProcessor


def message_chain(job: Job, inputs: Mapping[str, DataFrame], control: DataFrame) -> DataFrame:
    """All that a program says about its inputs, as messages."""
    frames = [_intake(job, name, frame) for name, frame in inputs.items()]
    frames.append(control.mapInArrow(ControlTask(job), SCHEMA))
    messages = reduce(DataFrame.union, frames)
    for stage in job.plan.stages:
        processor = BucketProcessor(job, stage.number)
        messages = messages.groupBy("bucket").transformWithState(processor, SCHEMA, "Append", "None")
    return messages


def _intake(job: Job, name: str, frame: DataFrame) -> DataFrame:
    stream = job.plan.program.stream(name)
    assert stream is not None
    wanted = [column.name for column in stored_columns(stream.schema, [one.name for one in stream.derived])]
    columns = [*wanted, *(about for about in (MALFORMED, ORIGINAL) if about in frame.columns)]
    selected = frame.select(*(named(column) for column in columns))
    return plainly_named(selected).mapInArrow(IntakeTask(job, name, tuple(columns)), SCHEMA)
