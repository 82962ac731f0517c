"""Runs the chains of a program over complete streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.chain.event import results_of
from inkling.evaluators.chain.moments import Moments
from inkling.evaluators.chain.program import ChainProgram
from inkling.evaluators.stage.batches import event_batch_and_order, key_codes
from inkling.evaluators.stage.derive import all_derived
from inkling.evaluators.stage.prepare import stage_rows
from inkling.evaluators.stage.rows import stage_schema
from inkling.model.batch import EventBatch, Ints
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.plan import Stage

WEIGHTS = "@weights"
_LINE = "@line"
_LISTS = pa.list_(pa.float64())


@dataclass(frozen=True, slots=True)
class StageEvents:
    """The events of a stage in the order of its batch: when each may have happened, and which row it was."""

    batch: EventBatch
    moments: Moments
    rows: Ints
    n_keys: int

    @classmethod
    def of(cls, program: ChainProgram, stage: Stage, rows: pa.Table, *, exact: bool = False) -> StageEvents:
        """Events of prepared rows; `exact` weighs ticks in fractions."""
        rows = rows.combine_chunks()
        codes, _ = key_codes(rows, len(stage.key_types))
        batch, order = event_batch_and_order(stage, rows.drop_columns([WEIGHTS]), codes)
        weights = _weights(rows[WEIGHTS], order)
        lower, upper = batch.start // program.grid, batch.end // program.grid
        n_keys = int(codes.max()) + 1 if len(codes) else 0
        return cls(batch, Moments.of(lower, upper, *weights, exact=exact), order, n_keys)


def answered(
    program: ChainProgram, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """Results of every chain over the checked rows of all streams, in the public columns."""
    ready, found = all_derived(program.physical.program.streams, rows, program.around), {}
    for stage in program.physical.stages:
        events = events_of(program, stage, ready, tables)
        for name, evaluator in program.evaluators(stage).items():
            some = evaluator.evaluate(events.batch, events.moments, events.n_keys)
            found[name] = results_of(evaluator.step.event, some, program.id_types[name], program.measure.clock)
    return found


def events_of(
    program: ChainProgram,
    stage: Stage,
    rows: Mapping[str, pa.Table],
    tables: Mapping[str, pa.Table],
    *,
    exact: bool = False,
) -> StageEvents:
    """What the chains of a stage are looked for in."""
    return StageEvents.of(program, stage, prepared(program, stage, rows, tables), exact=exact)


def prepared(
    program: ChainProgram, stage: Stage, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]
) -> pa.Table:
    """Rows of streams as rows of a stage: conditions on single rows are decided, and the ticks keep their weights."""
    parts = [stage_schema(stage).append(pa.field(WEIGHTS, _LISTS)).empty_table()]
    for number, one in enumerate(stage.inputs):
        stream = program.part.stream(one.source)
        assert stream is not None
        doubt, source = stream.schema.doubt, rows[one.source]
        weights = doubt.weights if isinstance(doubt, ImpreciseTime) else None
        lines = source.append_column(_LINE, pa.array(np.arange(len(source))))
        part = stage_rows(stage, number, lines, tables, program.around, carry=_LINE)
        lists = pa.nulls(len(source), _LISTS) if weights is None else source[weights].combine_chunks().cast(_LISTS)
        parts.append(part.drop_columns([_LINE]).append_column(WEIGHTS, lists.take(part[_LINE].combine_chunks())))
    return pa.concat_tables(parts).combine_chunks()


def _weights(lists: pa.ChunkedArray, rows: Ints) -> tuple[Ints | None, np.ndarray | None]:
    if lists.null_count == len(lists):
        return None, None
    chosen = lists.combine_chunks().take(pa.array(rows))
    lengths = chosen.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    return offsets, chosen.flatten().to_numpy(zero_copy_only=False)
