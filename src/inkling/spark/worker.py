"""The code of every Python worker: gather the rows of a partition, work on them, return tables."""

import gc
import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from inkling.evaluators.memory import within_budget
from inkling.evaluators.result_rows import in_batches
from inkling.spark.stage_frame import plainly_named

Work = Callable[[pa.Table], Iterable[pa.Table]]
"""A function from the rows of a partition to tables; Spark pickles it into the job."""


def mapped(rows: DataFrame, work: Work, schema: pa.Schema | StructType, *, by_batch: bool = False) -> DataFrame:
    """The tables that workers make of each partition of a frame, or of each batch of a partition."""
    kind = schema if isinstance(schema, StructType) else from_arrow_schema(schema)
    return plainly_named(rows).mapInArrow(WorkerTask(work, tuple(rows.columns), by_batch), kind)


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """Applies work to the rows of a partition, unless it is empty."""

    work: Work
    columns: tuple[str, ...]  # names of the columns, which arrive numbered
    by_batch: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = (batch for batch in batches if batch.num_rows)
        for gathered in ([batch] for batch in some) if self.by_batch else [list(some)]:
            if gathered:
                work, is_new = _compiled_before(self.work)
                # the work holds the only reference to the rows, so it can free them
                with within_budget():
                    for table in work(self._rows(gathered)):
                        yield from in_batches(table)
                if is_new:
                    # Spark collects garbage after every task; everything loaded by now need not be scanned again
                    gc.freeze()

    def _rows(self, gathered: list[pa.RecordBatch]) -> pa.Table:
        rows = pa.Table.from_batches(gathered).rename_columns(list(self.columns))
        gathered.clear()
        return rows


_compiled: dict[bytes, Work] = {}


def _compiled_before(work: Work) -> tuple[Work, bool]:
    """The equal work of an earlier task, with everything it has compiled, or this work; and whether it is new."""
    digest = hashlib.sha256(pickle.dumps(work)).digest()
    is_new = digest not in _compiled
    if is_new:
        _compiled.clear()
        _compiled[digest] = work
    return _compiled[digest], is_new
