"""The events of a program that are queries over probable streams, and what answers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.analysis.probable.pattern import as_certain
from inkling.analysis.probable.strategy import Engine, Strategy
from inkling.evaluators.probable.beliefs import BeliefEvaluator
from inkling.evaluators.probable.evaluator import ProbableEvaluator
from inkling.evaluators.probable.face import Answering
from inkling.evaluators.probable.lanes import Sampling
from inkling.evaluators.probable.patterns import PatternEvaluator
from inkling.logical import plan as p
from inkling.logical.evaluate import Surroundings
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.clock import Measure
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import plan_program


@dataclass(frozen=True)
class ProbableProgram:
    part: p.ProgramPlan  # the queries and the streams that they read
    strategies: Mapping[str, Strategy]
    around: Surroundings
    measure: Measure
    sampling: Sampling
    id_types: Mapping[str, pa.DataType]
    spare: float = 0.0  # by which answers of safe plans may be too low, so that less has to be kept
    tables: Mapping[str, pa.Table] = field(default_factory=dict)  # models of forecasts

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        around: Surroundings,
        measure: Measure,
        sampling: Sampling,
        *,
        spare: float = 0.0,
        tables: Mapping[str, pa.Table] | None = None,
    ) -> ProbableProgram | None:
        """None where the program has no such event."""
        chosen = plan.answered_by(Evaluator.QUERY)
        strategies = {name: choice.data for name, choice in chosen.items() if isinstance(choice.data, Strategy)}
        if not strategies:
            return None
        events = tuple(event for event in plan.program.events if event.name in strategies)
        read = {name for event in events for name in event.sources}
        streams = tuple(stream for stream in plan.program.streams if stream.schema.name in read)
        ids = {
            step.event.name: ARROW_TYPES[stage.id_type]
            for stage in plan.stages
            for step in stage.steps
            if step.event.name in strategies
        }
        part = replace(plan.program, streams=streams, events=events)
        return cls(part, strategies, around, measure, sampling, ids, spare, tables or {})

    @property
    def events(self) -> tuple[p.EventPlan, ...]:
        return self.part.events

    @cached_property
    def evaluators(self) -> Mapping[str, Answering]:
        """By event."""
        return {event.name: self._evaluator(event) for event in self.events}

    def _evaluator(self, event: p.EventPlan) -> Answering:
        schemas = {stream.schema.name: stream.schema for stream in self.part.streams}
        strategy = self.strategies[event.name]
        if strategy.engine is Engine.AUTOMATON:
            return PatternEvaluator(event, strategy, schemas, self.around)
        if strategy.engine is Engine.FORECAST:
            (stage,) = plan_program(as_certain(event, self.part)).stages
            return BeliefEvaluator(event, strategy, schemas, self.around, stage, self.tables)
        return ProbableEvaluator(event, strategy, schemas, self.around, self.sampling, self.spare)
