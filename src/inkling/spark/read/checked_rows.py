"""Good rows, rejects and withdrawals in one table, because a Python worker returns one table to Spark."""

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
_OF_REJECT = "@reject_"
_WITHDRAWN = "@withdrawn"


@dataclass(frozen=True, slots=True)
class RowCheck:
    """Checks the rows of a stream against its declaration, on a known clock."""

    schema: StreamSchema
    derived: tuple[str, ...]
    clock: Clock

    def checked(self, raw: pa.Table, numbers: NDArray[np.int64] | None = None) -> Iterator[pa.RecordBatch]:
        """Good rows, then rejects, then withdrawals; each kind has nulls in the columns of the others.

        Of a withdrawal there is only the id, and a mark.
        """
        found = normalize(raw, self.schema, self.derived, clock=self.clock, numbers=numbers)
        rejects = found.rejects.rename_columns([f"{_OF_REJECT}{name}" for name in REJECTS_SCHEMA.names])
        withdrawals = found.withdrawals.select([ID])
        withdrawals = withdrawals.append_column(_WITHDRAWN, pa.repeat(pa.scalar(True), len(withdrawals)))
        for part in (found.rows, rejects, withdrawals):
            if len(part):
                yield from _widened(part, self.arrow_schema()).to_batches(max_chunksize=ROWS_PER_BATCH)

    def row_schema(self) -> pa.Schema:
        """The columns of good rows, as `io.normalize` returns them."""
        return row_schema(self.schema, self.derived)

    def arrow_schema(self) -> pa.Schema:
        about = [pa.field(f"{_OF_REJECT}{field.name}", field.type) for field in REJECTS_SCHEMA]
        withdrawn = [] if self.schema.op is None else [pa.field(_WITHDRAWN, pa.bool_())]
        return pa.schema([*self.row_schema(), *about, *withdrawn])

    def rows_of(self, checked: DataFrame) -> DataFrame:
        """The good rows among those that workers returned."""
        good = checked.where(named(f"{_OF_REJECT}reason").isNull())
        if self.schema.op is not None:
            good = good.where(named(_WITHDRAWN).isNull())
        return good.select(*(named(name) for name in self.row_schema().names))

    def withdrawals_of(self, checked: DataFrame) -> DataFrame:
        """The withdrawn ids, once per withdrawal."""
        return checked.where(named(_WITHDRAWN).isNotNull()).select(named(ID))

    def rejects_of(self, checked: DataFrame) -> DataFrame:
        bad = checked.where(named(f"{_OF_REJECT}reason").isNotNull())
        return bad.select(*(F.col(f"`{_OF_REJECT}{name}`").alias(name) for name in REJECTS_SCHEMA.names))


def _widened(part: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        part[field.name] if field.name in part.column_names else pa.nulls(len(part), field.type) for field in schema
    ]
    return pa.table(columns, schema=schema)
