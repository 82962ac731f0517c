"""The query as a DataFrame: the intake of all streams, then one stateful operator after the other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame

from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.streaming.intake import ControlTask, IntakeTask
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import SCHEMA
from inkling.spark.streaming.processor import BucketProcessor
from inkling.spark.streaming.sources.inputs import StreamSource


def message_chain(job: Job, inputs: Mapping[str, StreamSource], control: DataFrame) -> DataFrame:
    """The messages that leave the last operator: results, late rows, rejects and statistics."""
    frames = [_intake(job, name, source) for name, source in inputs.items()]
    frames.append(control.mapInArrow(ControlTask(job), SCHEMA))
    messages = reduce(DataFrame.union, frames)
    for number in range(job.n_operators):
        processor = BucketProcessor(job, number)
        messages = messages.groupBy("bucket").transformWithState(processor, SCHEMA, "Append", "None")
    return messages


def _intake(job: Job, name: str, source: StreamSource) -> DataFrame:
    selected = source.frame.select(*(named(column) for column in source.columns))
    return plainly_named(selected).mapInArrow(IntakeTask(job, name, source.columns, source.reader), SCHEMA)
