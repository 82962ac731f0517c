"""What a Python worker does with one partition: gather its rows, run the stage, hand the results back."""

from __future__ import annotations

import gc
import hashlib
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.late import with_late_columns
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import EventPlan, StreamPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import MatchBatch
from inkling.physical.plan import Stage
from inkling.spark.copies import with_copies
from inkling.spark.results import DETECTED, filled, in_batches, result_columns, results_schema

SLICE = "@slice"

_engines: dict[bytes, StageEngine] = {}


@dataclass(frozen=True, slots=True)
class Slices:
    """Slice n decides what becomes known in [n * length, (n + 1) * length)."""

    length: int


@dataclass(frozen=True, slots=True)
class StageTask:
    """Everything a worker needs to run a stage; small enough to travel with the job."""

    stage: Stage
    tables: Mapping[str, pa.Table]
    around: Surroundings
    streams: Mapping[int, StreamPlan]
    slices: Slices | None
    columns: tuple[str, ...]  # names of the columns that arrive; Spark only carries plain ones
    copies: Mapping[str, str]  # columns that do not arrive, because others hold the same
    schema: pa.Schema  # of the results
    numbers: tuple[int, ...]  # by which results name the events of this task's steps

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        gathered = list(batches)
        if not gathered:
            return
        rows = with_copies(pa.Table.from_batches(gathered).rename_columns(list(self.columns)), self.copies)
        gathered.clear()
        if self.slices is None:
            yield from self._results(rows, None)
            return
        number = rows[SLICE].to_numpy()
        for one in np.unique(number):
            chosen = rows.filter(pa.array(number == one)).drop_columns([SLICE])
            yield from self._results(chosen, int(one) * self.slices.length)

    def _results(self, rows: pa.Table, begins: int | None) -> Iterator[pa.RecordBatch]:
        rows = with_late_columns(self.stage, rows, self.streams, self.around)
        found = self._engine().run(rows)
        for number, step in zip(self.numbers, self.stage.steps, strict=True):
            table = _result_rows(number, step.event, found.matches[step.event.name], self.schema)
            if begins is not None and self.slices is not None:
                known = table[DETECTED].to_numpy()
                table = table.filter(pa.array((known >= begins) & (known < begins + self.slices.length)))
            yield from in_batches(table)

    def _engine(self) -> StageEngine:
        """Compiled once per worker and stage."""
        digest = hashlib.sha256(pickle.dumps((self.stage, self.around))).digest()
        if digest not in _engines:
            _engines.clear()
            _engines[digest] = StageEngine(self.stage, self.tables, self.around)
            # Spark looks for garbage after every task, and need not look through what is loaded by now
            gc.freeze()
        return _engines[digest]


def stage_schema(stage: Stage) -> pa.Schema:
    """Results of all events of a stage, which later stages read as well."""
    places = [pa.field(name, r.place_type(stage)) for name in (r.PLACE, r.END_PLACE)]
    return results_schema((step.event for step in stage.steps), ARROW_TYPES[stage.id_type], places)


def _result_rows(number: int, event: EventPlan, matches: MatchBatch, schema: pa.Schema) -> pa.Table:
    columns = result_columns(number, event, matches)
    columns[r.PLACE] = matches.places(matches.start_place)
    columns[r.END_PLACE] = matches.places(matches.end_place)
    return filled(columns, schema)
