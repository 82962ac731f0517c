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
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import MatchBatch
from inkling.physical.naming import physical_name
from inkling.physical.plan import EventStep, Stage
from inkling.spark.copies import with_copies

EVENT, LINEAGE, DETECTED = "@event", "@lineage", "@detected"
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
            table = _result_rows(number, step, found.matches[step.event.name], self.schema)
            if begins is not None and self.slices is not None:
                known = table[DETECTED].to_numpy()
                table = table.filter(pa.array((known >= begins) & (known < begins + self.slices.length)))
            yield from table.to_batches(max_chunksize=100_000)

    def _engine(self) -> StageEngine:
        """Compiled once per worker and stage."""
        digest = hashlib.sha256(pickle.dumps((self.stage, self.around))).digest()
        if digest not in _engines:
            _engines.clear()
            _engines[digest] = StageEngine(self.stage, self.tables, self.around)
            # Spark looks for garbage after every task, and need not look through what is loaded by now
            gc.freeze()
        return _engines[digest]


def result_schema(stage: Stage) -> pa.Schema:
    """Results of all events of a stage in one schema; values are told apart by name and type."""
    fields = [pa.field(EVENT, pa.int32())]
    fields += [pa.field(name, pa.int64()) for name in (r.START, r.END, DETECTED)]
    fields += [pa.field(name, r.place_type(stage)) for name in (r.PLACE, r.END_PLACE)]
    fields.append(pa.field(LINEAGE, pa.list_(ARROW_TYPES[stage.id_type])))
    values = {
        physical_name(output.name, output.type): ARROW_TYPES[output.type]
        for step in stage.steps
        for output in (*step.event.head, *step.event.returns)
    }
    return pa.schema(fields + [pa.field(name, kind) for name, kind in sorted(values.items())])


def _result_rows(number: int, step: EventStep, matches: MatchBatch, schema: pa.Schema) -> pa.Table:
    n = len(matches)
    columns: dict[str, pa.Array] = {
        EVENT: pa.array(np.full(n, number, np.int32)),
        r.START: pa.array(matches.start),
        r.PLACE: matches.places(matches.start_place),
        r.END: pa.array(matches.end),
        r.END_PLACE: matches.places(matches.end_place),
        DETECTED: pa.array(matches.detected_at),
        LINEAGE: matches.lineage,
    }
    for output in (*step.event.head, *step.event.returns):
        name = physical_name(output.name, output.type)
        columns[name] = matches.values[output.name].cast(ARROW_TYPES[output.type], safe=False)
    return pa.table([columns.get(f.name, pa.nulls(n, f.type)) for f in schema], schema=schema)
