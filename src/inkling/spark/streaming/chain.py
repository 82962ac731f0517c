"""The query as a DataFrame: intake of all streams, then a stateful operator per stage, and one for uncertain events."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame

from inkling.spark.stage_frame import named, plainly_named
from inkling.spark.streaming.intake import ControlTask, IntakeTask
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.messages import SCHEMA
from inkling.spark.streaming.processor import BucketProcessor
from inkling.spark.streaming.sources.inputs import Source


def message_chain(job: Job, inputs: Mapping[str, Source], control: DataFrame) -> DataFrame:
    """All that a program says about its inputs, as messages."""
    frames = [_intake(job, name, source) for name, source in inputs.items()]
    frames.append(control.mapInArrow(ControlTask(job), SCHEMA))
    messages = reduce(DataFrame.union, frames)
    for number in range(job.n_operators):
        processor = BucketProcessor(job, number)
        messages = messages.groupBy("bucket").transformWithState(processor, SCHEMA, "Append", "None")
    return messages


def _intake(job: Job, name: str, source: Source) -> DataFrame:
    selected = source.frame.select(*(named(column) for column in source.columns))
    return plainly_named(selected).mapInArrow(IntakeTask(job, name, source.columns, source.reader), SCHEMA)
