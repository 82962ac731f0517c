"""Rows and rejects in one table, which is what a Python worker hands back to Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from inkling.io.normalize import ID, normalize, row_schema
from inkling.io.rejects import REJECTS_SCHEMA
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.spark.stage_frame import named

ROWS_PER_BATCH = 100_000
_ABOUT_REJECT = "@reject_"
_WITHDRAWN = "@withdrawn"


@dataclass(frozen=True, slots=True)
class RowCheck:
    """What a stream declares, and what its times count."""

    schema: StreamSchema
    derived: tuple[str, ...]
    clock: Clock

    def checked(self, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Iterator[pa.RecordBatch]:
        """Good rows, with nothing in the columns about rejects, then rejects, with nothing else.

        Withdrawals have an id only, and say that they are.
        """
        found = normalize(raw, self.schema, self.derived, clock=self.clock, numbers=numbers)
        rejects = found.rejects.rename_columns([f"{_ABOUT_REJECT}{name}" for name in REJECTS_SCHEMA.names])
        taken_back = found.withdrawals.select([ID])
        taken_back = taken_back.append_column(_WITHDRAWN, pa.repeat(pa.scalar(True), len(taken_back)))
        for part in (found.rows, rejects, taken_back):
            if len(part):
                yield from _widened(part, self.arrow_schema()).to_batches(max_chunksize=ROWS_PER_BATCH)

    def row_schema(self) -> pa.Schema:
        """Columns of good rows, as `io.normalize` gives them."""
        return row_schema(self.schema, self.derived)

    def arrow_schema(self) -> pa.Schema:
        about = [pa.field(f"{_ABOUT_REJECT}{field.name}", field.type) for field in REJECTS_SCHEMA]
        withdrawn = [] if self.schema.op is None else [pa.field(_WITHDRAWN, pa.bool_())]
        return pa.schema([*self.row_schema(), *about, *withdrawn])

    def rows_of(self, checked: DataFrame) -> DataFrame:
        """The good rows of what workers handed back."""
        good = checked.where(named(f"{_ABOUT_REJECT}reason").isNull())
        if self.schema.op is not None:
            good = good.where(named(_WITHDRAWN).isNull())
        return good.select(*(named(name) for name in self.row_schema().names))

    def withdrawals_of(self, checked: DataFrame) -> DataFrame:
        """The ids that rows withdraw, each as often as that happens."""
        return checked.where(named(_WITHDRAWN).isNotNull()).select(named(ID))

    def rejects_of(self, checked: DataFrame) -> DataFrame:
        bad = checked.where(named(f"{_ABOUT_REJECT}reason").isNotNull())
        return bad.select(*(F.col(f"`{_ABOUT_REJECT}{name}`").alias(name) for name in REJECTS_SCHEMA.names))


def _widened(part: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        part[field.name] if field.name in part.column_names else pa.nulls(len(part), field.type) for field in schema
    ]
    return pa.table(columns, schema=schema)
