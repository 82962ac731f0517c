"""What every Python worker does: gather the rows of a partition, work with them, hand back tables."""

from __future__ import annotations

import gc
import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from inkling.evaluators.result_rows import in_batches
from inkling.spark.stage_frame import plainly_named

Work = Callable[[pa.Table], Iterable[pa.Table]]
"""From the rows of a partition to tables; small enough to travel with the job."""


def mapped(rows: DataFrame, work: Work, schema: pa.Schema | StructType, *, by_batch: bool = False) -> DataFrame:
    """What workers make of the partitions of a frame, or of the batches in which these arrive."""
    kind = schema if isinstance(schema, StructType) else from_arrow_schema(schema)
    return plainly_named(rows).mapInArrow(Task(work, tuple(rows.columns), by_batch), kind)


@dataclass(frozen=True, slots=True)
class Task:
    """Work with the rows of a partition, if it has some."""

    work: Work
    columns: tuple[str, ...]  # names of the columns that arrive; Spark only carries plain ones
    by_batch: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = (batch for batch in batches if batch.num_rows)
        for gathered in ([batch] for batch in some) if self.by_batch else [list(some)]:
            if gathered:
                work, is_new = _compiled_before(self.work)
                # nobody but the work holds the rows, so it can let go of them
                for table in work(self._rows(gathered)):
                    yield from in_batches(table)
                if is_new:
                    # Spark looks for garbage after every task, and need not look through what is loaded by now
                    gc.freeze()

    def _rows(self, gathered: list[pa.RecordBatch]) -> pa.Table:
        rows = pa.Table.from_batches(gathered).rename_columns(list(self.columns))
        gathered.clear()
        return rows


_compiled: dict[bytes, Work] = {}


def _compiled_before(work: Work) -> tuple[Work, bool]:
    """The same work from the task before, with what it compiled, if there was one; and whether there was none."""
    digest = hashlib.sha256(pickle.dumps(work)).digest()
    is_new = digest not in _compiled
    if is_new:
        _compiled.clear()
        _compiled[digest] = work
    return _compiled[digest], is_new
