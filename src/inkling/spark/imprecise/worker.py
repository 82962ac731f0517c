"""What a Python worker does with rows of whole keys, or of slices of time: it finds chains and their probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage.derive import with_derived_columns
from inkling.imprecise.program import ImpreciseProgram
from inkling.imprecise.results import probable_enough
from inkling.imprecise.run import events_of
from inkling.io.checks.acceptable import acceptable
from inkling.physical.plan import Stage
from inkling.spark.imprecise.rows import Carried
from inkling.spark.imprecise.slices import SLICE, Slices
from inkling.spark.results import result_rows
from inkling.spark.worlds.rows import Layout, row_schema


@dataclass(frozen=True, slots=True)
class ChainTask:
    """Everything a worker needs to find the chains of a stage."""

    program: ImpreciseProgram
    stage: Stage
    numbers: Mapping[str, int]  # by which results name events
    carried: tuple[Carried, ...]
    layout: Layout
    columns: tuple[str, ...]  # names of the columns that arrive; Spark only carries plain ones
    tables: Mapping[str, pa.Table]
    slices: Slices | None
    schema: pa.Schema  # of the results

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        gathered = [batch for batch in batches if batch.num_rows]
        if not gathered:
            return
        rows = pa.Table.from_batches(gathered).rename_columns(list(self.columns))
        gathered.clear()
        if self.slices is None:
            yield from self._results(rows, None)
            return
        number = rows[SLICE].to_numpy()
        for one in np.unique(number):
            yield from self._results(rows.filter(pa.array(number == one)), int(one))

    def _results(self, rows: pa.Table, number: int | None) -> Iterator[pa.RecordBatch]:
        events = events_of(self.program, self.stage, self._ready(rows), self.tables)
        first = None if self.slices is None or number is None else self.slices.owned(number, events)
        for name, evaluator in self.program.evaluators(self.stage).items():
            event = evaluator.step.event
            some = evaluator.evaluate(events.batch, events.moments, events.n_keys, first=first)
            found = (probable_enough(event, one) for one in some)
            yield from result_rows(self.numbers[name], event, found, self.schema)

    def _ready(self, rows: pa.Table) -> dict[str, pa.Table]:
        """Rows of all streams that pass all checks; what does not pass is told elsewhere."""
        arrived = self.layout.tables(rows)
        ready = {one.schema.name: row_schema(one).empty_table() for one in self.program.part.streams}
        for one in self.carried:
            name = one.stream.schema.name
            good, _ = acceptable(one.stream.schema, one.restored(arrived[name]))
            ready[name] = good if one.is_derived else with_derived_columns(one.stream, good, self.program.around)
        return ready
