"""The chains of a program: streams planned as intervals of ticks, the evaluators of each stage, and batch results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from inkling.analysis.chain import ChainPattern, moving_columns
from inkling.analysis.choice import Evaluator
from inkling.analysis.partial_order import PartialOrders, with_times_apart
from inkling.evaluators.chain.event import ChainEvent, results_of
from inkling.evaluators.chain.moments import Moments
from inkling.evaluators.chain.partial_orders import PartialOrderEvent
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.batches import event_batch_and_order, key_codes
from inkling.evaluators.stage.rows.derive import all_derived
from inkling.evaluators.stage.rows.format import stage_schema
from inkling.evaluators.stage.rows.prepare import stage_rows
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.rewrites.inlined import inlined
from inkling.model.batch import EventBatch, Ints
from inkling.model.time import TimeUnit
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.plan import EventStep, PhysicalPlan, Stage
from inkling.physical.planner import plan_program
from inkling.physical.stages import Placement


@dataclass(frozen=True, slots=True)
class ChainProgram:
    """The chains of a program, the streams that they read, and their stages."""

    part: p.ProgramPlan  # streams as declared, and events over them alone
    declared: Mapping[str, p.EventPlan]  # events as declared, which may be over other events
    physical: PhysicalPlan  # streams as intervals of ticks
    chains: Mapping[str, ChainPattern | PartialOrders]
    context: ExpressionContext
    unit: TimeUnit
    id_types: Mapping[str, pa.DataType]
    sampling: Sampling  # for probabilities that would take too long to compute

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        context: ExpressionContext,
        unit: TimeUnit,
        placement: Placement | None = None,
        sampling: Sampling | None = None,
    ) -> ChainProgram | None:
        """None where the program has no chain; `placement` has the stages of a program that already runs."""
        chosen = plan.on_clock(unit.clock).answered_by(Evaluator.CHAIN)
        chains = {
            name: choice.data
            for name, choice in chosen.items()
            if isinstance(choice.data, ChainPattern | PartialOrders)
        }
        if not chains:
            return None
        declared = {one.name: one for one in plan.part(chains).events}
        alone = tuple(inlined(one, plan.program) for one in declared.values())
        part = replace(plan.part(chains, {source for one in alone for source in one.sources}), events=alone)
        streams = part.streams
        moving = moving_columns(part)
        events = tuple(
            with_times_apart(one, moving) if isinstance(chains[one.name], PartialOrders) else one for one in part.events
        )
        physical = plan_program(replace(part, streams=tuple(map(_of_intervals, streams)), events=events), placement)
        imprecise = {one.schema.name for one in streams if isinstance(one.schema.uncertainty, ImpreciseTime)}
        stages = tuple(_lasting(stage, imprecise) for stage in physical.stages)
        ids = {name: plan.id_types[name] for name in chains}
        physical = replace(physical, stages=stages)
        return cls(part, declared, physical, chains, context, unit, ids, sampling or Sampling())

    @property
    def grid(self) -> int:
        """The length of a tick, in units of the clock."""
        uncertainties = [stream.schema.uncertainty for stream in self.part.streams]
        return next(one.step for one in uncertainties if isinstance(one, ImpreciseTime))

    def evaluators(self, stage: Stage) -> dict[str, ChainEvent | PartialOrderEvent]:
        return {step.event.name: self._evaluator(step) for step in stage.steps}

    def _evaluator(self, step: EventStep) -> ChainEvent | PartialOrderEvent:
        match self.chains[step.event.name]:
            case ChainPattern() as chain:
                return ChainEvent(step, chain, self.context, self.grid, self.sampling)
            case orders:
                return PartialOrderEvent(
                    step, orders, self.context, self.grid, moving_columns(self.part), self.sampling
                )


def _of_intervals(stream: p.StreamPlan) -> p.StreamPlan:
    """The stream with certain events, whose intervals are those of their times."""
    return replace(stream, schema=replace(stream.schema, uncertainty=None))


def _lasting(stage: Stage, imprecise: set[str]) -> Stage:
    """The stage with both ends of imprecise times as its input."""
    inputs = tuple(replace(one, interval=True) if one.source in imprecise else one for one in stage.inputs)
    return replace(stage, inputs=inputs)


WEIGHTS = "@weights"
_LINE = "@line"
_LISTS = pa.list_(pa.float64())


@dataclass(frozen=True, slots=True)
class StageEvents:
    """The events of a stage in the order of their batch, with their times and the rows that they come from."""

    batch: EventBatch
    moments: Moments
    rows: Ints
    n_keys: int

    @classmethod
    def of(cls, program: ChainProgram, stage: Stage, rows: pa.Table, *, exact: bool = False) -> StageEvents:
        """Events of prepared rows; with `exact`, probabilities are fractions."""
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
    ready, found = all_derived(program.physical.program.streams, rows, program.context), {}
    for stage in program.physical.stages:
        events = events_of(program, stage, ready, tables)
        for name, evaluator in program.evaluators(stage).items():
            some = evaluator.evaluate(events.batch, events.moments, events.n_keys)
            found[name] = results_of(evaluator.step.event, some, program.id_types[name], program.unit.clock)
    return found


def events_of(
    program: ChainProgram,
    stage: Stage,
    rows: Mapping[str, pa.Table],
    tables: Mapping[str, pa.Table],
    *,
    exact: bool = False,
) -> StageEvents:
    """The events of a stage, from rows of streams."""
    return StageEvents.of(program, stage, prepared(program, stage, rows, tables), exact=exact)


def prepared(
    program: ChainProgram, stage: Stage, rows: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]
) -> pa.Table:
    """Rows of streams as rows of a stage: conditions on single rows evaluated, weights of ticks in a column."""
    parts = [stage_schema(stage).append(pa.field(WEIGHTS, _LISTS)).empty_table()]
    for number, one in enumerate(stage.inputs):
        stream = program.part.stream(one.source)
        assert stream is not None
        uncertainty, source = stream.schema.uncertainty, rows[one.source]
        weights = uncertainty.weights if isinstance(uncertainty, ImpreciseTime) else None
        lines = source.append_column(_LINE, pa.array(np.arange(len(source))))
        part = stage_rows(stage, number, lines, tables, program.context, keep_column=_LINE)
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
