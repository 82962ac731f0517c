"""Runs the chains of a program over complete streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.imprecise.moments import Moments
from inkling.evaluators.stage.batches import event_batch_and_order, key_codes
from inkling.evaluators.stage.derive import with_derived_columns
from inkling.evaluators.stage.prepare import stage_rows
from inkling.imprecise.program import ImpreciseProgram
from inkling.imprecise.results import results_of
from inkling.model.batch import EventBatch, Ints
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.plan import Stage

LINE = "@line"


@dataclass(frozen=True, slots=True)
class StageEvents:
    """The events of a stage in the order of its batch: when each may have happened, and on which line it stands.

    Lines count through the rows of all streams, in the order of the program.
    """

    batch: EventBatch
    moments: Moments
    lines: Ints
    n_keys: int


def answered(
    program: ImpreciseProgram, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """Results of every chain over the checked rows of all streams, in the public columns."""
    ready, found = with_derived(program, rows), {}
    for stage in program.physical.stages:
        events = events_of(program, stage, ready, tables)
        for name, evaluator in program.evaluators(stage).items():
            some = evaluator.evaluate(events.batch, events.moments, events.n_keys)
            found[name] = results_of(evaluator.step.event, some, stage.id_type, program.measure.clock)
    return found


def with_derived(program: ImpreciseProgram, rows: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {
        one.schema.name: with_derived_columns(one, rows[one.schema.name], program.around)
        for one in program.physical.program.streams
    }


def events_of(
    program: ImpreciseProgram,
    stage: Stage,
    rows: Mapping[str, pa.Table],
    tables: Mapping[str, pa.Table],
    *,
    exact: bool = False,
) -> StageEvents:
    """What the chains of a stage are looked for in; `exact` weighs ticks in fractions."""
    begins, n_lines, weights = {}, 0, []
    for stream in program.part.streams:
        table = rows[stream.schema.name]
        begins[stream.schema.name] = n_lines
        n_lines += len(table)
        doubt = stream.schema.doubt
        given = doubt.weights if isinstance(doubt, ImpreciseTime) else None
        weights.append(_lists(table, given))
    parts = []
    for number, one in enumerate(stage.inputs):
        lines = begins[one.source] + np.arange(len(rows[one.source]))
        table = rows[one.source].append_column(LINE, pa.array(lines))
        parts.append(stage_rows(stage, number, table, tables, program.around, carry=LINE))
    every = pa.concat_tables(parts).combine_chunks()
    codes, _ = key_codes(every, len(stage.key_types))
    batch, order = event_batch_and_order(stage, every.drop_columns([LINE]), codes)
    lines = every[LINE].to_numpy()[order]
    lower, upper = batch.start // program.grid, batch.end // program.grid
    n_keys = int(codes.max()) + 1 if len(codes) else 0
    return StageEvents(batch, Moments.of(lower, upper, *_weights(weights, lines), exact=exact), lines, n_keys)


def _lists(table: pa.Table, weights: str | None) -> pa.Array:
    """The weights of every row; none means that all ticks are equally probable."""
    kind = pa.list_(pa.float64())
    if weights is None:
        return pa.nulls(len(table), kind)
    return table[weights].combine_chunks().cast(kind)


def _weights(lists: list[pa.Array], lines: Ints) -> tuple[Ints | None, np.ndarray | None]:
    every = pa.chunked_array(lists, pa.list_(pa.float64())).combine_chunks()
    if every.null_count == len(every):
        return None, None
    chosen = every.take(pa.array(lines))
    lengths = chosen.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    return offsets, chosen.flatten().to_numpy(zero_copy_only=False)
