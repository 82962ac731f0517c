"""A program and its rows, brought to where the evaluators begin."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from benchmarks.streams import STREAM
from inkling.analysis.clock import time_unit
from inkling.evaluators.certain import rows_of
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.rows.batches import event_batch, key_codes
from inkling.io import normalize
from inkling.logical.evaluate import ExpressionContext
from inkling.model.batch import EventBatch
from inkling.physical.planner import plan_program
from inkling.query import parse


@dataclass(frozen=True, slots=True)
class Prepared:
    """The only stage of a program with all its rows as one batch."""

    engine: StageEngine
    batch: EventBatch
    n_keys: int
    context: ExpressionContext


def prepared(events: str, readings: pa.Table, *, shares: bool = True) -> Prepared:
    """Everything up to the evaluators, for a program over the stream of readings."""
    program = parse(STREAM + events)
    (stage,) = plan_program(program.rewritten.plan, shares=shares).stages
    (stream,) = program.plan.streams
    read = normalize(readings, stream.schema)
    context = ExpressionContext({}, time_unit(program.plan, {stream.schema.name: read.clock}))
    rows = rows_of(stage, {stream.schema.name: read.rows}, {}, context)
    codes, keys = key_codes(rows, len(stage.key_types))
    return Prepared(StageEngine(stage, {}, context), event_batch(stage, rows, codes), len(keys), context)
