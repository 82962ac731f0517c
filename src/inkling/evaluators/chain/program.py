"""The chains of a program, planned: streams of intervals, and per stage the evaluators of its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.analysis.chain import Chain
from inkling.analysis.choice import Evaluator
from inkling.evaluators.chain.event import ChainEvent
from inkling.logical import plan as p
from inkling.logical.evaluate import Surroundings
from inkling.model.clock import Measure
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.planner import plan_program
from inkling.physical.stages import Placement


@dataclass(frozen=True, slots=True)
class ChainProgram:
    """The events of a program that are chains over imprecise times, and the streams that they read."""

    part: p.ProgramPlan  # with the streams as they are declared
    physical: PhysicalPlan  # over intervals of ticks
    chains: Mapping[str, Chain]
    around: Surroundings
    measure: Measure
    id_types: Mapping[str, pa.DataType]

    @classmethod
    def of(
        cls, plan: PhysicalPlan, around: Surroundings, measure: Measure, placement: Placement | None = None
    ) -> ChainProgram | None:
        """None where the program has no such event; the stages of a program that runs already are given."""
        chosen = plan.on_clock(measure.clock).answered_by(Evaluator.CHAIN)
        chains = {name: choice.data for name, choice in chosen.items() if isinstance(choice.data, Chain)}
        if not chains:
            return None
        part = plan.part(chains)
        streams = part.streams
        physical = plan_program(replace(part, streams=tuple(map(_of_intervals, streams))), placement)
        imprecise = {one.schema.name for one in streams if isinstance(one.schema.doubt, ImpreciseTime)}
        stages = tuple(_lasting(stage, imprecise) for stage in physical.stages)
        ids = {name: plan.id_types[name] for name in chains}
        return cls(part, replace(physical, stages=stages), chains, around, measure, ids)

    @property
    def events(self) -> tuple[p.EventPlan, ...]:
        return self.part.events

    @property
    def grid(self) -> int:
        """How many units of the clock a tick has."""
        doubts = [stream.schema.doubt for stream in self.part.streams]
        return next(one.step for one in doubts if isinstance(one, ImpreciseTime))

    def evaluators(self, stage: Stage) -> dict[str, ChainEvent]:
        """By event of a stage."""
        return {
            step.event.name: ChainEvent(step, self.chains[step.event.name], self.around, self.grid)
            for step in stage.steps
        }


def _of_intervals(stream: p.StreamPlan) -> p.StreamPlan:
    """The stream as one of certain events."""
    return replace(stream, schema=replace(stream.schema, doubt=None))


def _lasting(stage: Stage, imprecise: set[str]) -> Stage:
    """The stage with both ends of imprecise times."""
    inputs = tuple(replace(one, interval=True) if one.source in imprecise else one for one in stage.inputs)
    return replace(stage, inputs=inputs)
