"""What a streaming query was given: streams and tables, for the program that runs and for those that replace it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from inkling.analysis.inputs import require_inputs
from inkling.io import Data
from inkling.logical.plan import ProgramPlan
from inkling.physical.runnable import Runnable
from inkling.spark.read import read_facts
from inkling.spark.streaming.sources import Source, opened


@dataclass(frozen=True, slots=True)
class Given:
    """Streams and tables by name, as the user named them."""

    spark: SparkSession
    inputs: Mapping[str, Any]
    tables: Mapping[str, Data]

    def sources(self, program: ProgramPlan) -> dict[str, Source]:
        """The streams, always in the same order: a checkpoint knows its sources by their places."""
        require_inputs(program, self.inputs)
        streams = sorted(program.streams, key=lambda stream: stream.schema.name)
        return {
            stream.schema.name: opened(self.spark, stream, self.inputs[stream.schema.name])
            for stream in streams
            if stream.schema.name in self.inputs
        }

    def facts(self, program: Runnable, *, strict: bool = False) -> dict[str, pa.Table]:
        """The tables as they are now; `strict` refuses tables that the program does not have."""
        declared = {table.name for table in program.plan.tables}
        mine = {name: data for name, data in self.tables.items() if strict or name in declared}
        return read_facts(self.spark, program, mine)
