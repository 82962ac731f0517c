"""The queries of a program over probable streams, and the evaluator of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.analysis.query.pattern import as_certain, with_open_prefixes
from inkling.analysis.query.strategy import Engine, Strategy
from inkling.evaluators.query.automaton.forecasts import BeliefEvaluator
from inkling.evaluators.query.automaton.patterns import PatternEngine, PatternEvaluator
from inkling.evaluators.query.automaton.regular import Regular
from inkling.evaluators.query.event import QueryEvent
from inkling.evaluators.query.sets.sampled import WorldSampler
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan
from inkling.model.hashes import Hashes
from inkling.model.time import TimeUnit
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import plan_program


class QueryEventEvaluator(Protocol):
    """Answers one event: takes a state from block to block of complete times."""

    @property
    def event(self) -> EventPlan: ...

    @property
    def strategy(self) -> Strategy: ...

    @property
    def engine(self) -> Any: ...

    def groundings(self, source: str, rows: pa.Table) -> Hashes:
        """The grounding of each row of a stream."""
        ...

    def start(self) -> Any: ...

    def advance(self, state: Any, tables: Mapping[str, pa.Table], *, exact: bool = False) -> tuple[Any, pa.Table]: ...


def may_sample(evaluator: QueryEventEvaluator) -> bool:
    """Whether answers may have to be sampled, because the exact state can grow too large."""
    return not isinstance(evaluator.engine, Regular | PatternEngine)


@dataclass(frozen=True)
class QueryProgram:
    """The queries of a program, the streams that they read, and the settings of the run."""

    part: p.ProgramPlan  # the queries and the streams that they read
    strategies: Mapping[str, Strategy]
    context: ExpressionContext
    unit: TimeUnit
    sampling: WorldSampler
    id_types: Mapping[str, pa.DataType]
    on_stream: bool = False  # safe plans may neglect little, to keep less; automata also say what waits
    tables: Mapping[str, pa.Table] = field(default_factory=dict)  # models of forecasts

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        context: ExpressionContext,
        unit: TimeUnit,
        sampling: WorldSampler,
        *,
        on_stream: bool = False,
        tables: Mapping[str, pa.Table] | None = None,
    ) -> QueryProgram | None:
        """None where the program has no query."""
        chosen = plan.answered_by(Evaluator.QUERY)
        strategies = {name: choice.data for name, choice in chosen.items() if isinstance(choice.data, Strategy)}
        if not strategies:
            return None
        return cls(plan.part(strategies), strategies, context, unit, sampling, plan.id_types, on_stream, tables or {})

    @cached_property
    def evaluators(self) -> Mapping[str, QueryEventEvaluator]:
        return {event.name: self._evaluator(event) for event in self.part.events}

    def _evaluator(self, event: p.EventPlan) -> QueryEventEvaluator:
        schemas = {stream.schema.name: stream.schema for stream in self.part.streams}
        strategy = self.strategies[event.name]
        if strategy.engine is Engine.AUTOMATON:
            if self.on_stream and strategy.automaton is not None:
                strategy = replace(strategy, automaton=with_open_prefixes(event, strategy.automaton))
            return PatternEvaluator(event, strategy, schemas, self.context)
        if strategy.engine is Engine.FORECAST:
            (stage,) = plan_program(as_certain(event, self.part)).stages
            return BeliefEvaluator(event, strategy, schemas, self.context, stage, self.tables)
        return QueryEvent(event, strategy, schemas, self.context, self.sampling, self.on_stream)
