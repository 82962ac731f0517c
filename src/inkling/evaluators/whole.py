"""Certain events over complete sources: stage after stage of a plan, each reading what those before it derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from inkling.evaluators.protocol import Answer, Context, Rows
from inkling.evaluators.stage.derive import all_derived
from inkling.evaluators.stage.engine import StageEngine, source_table
from inkling.evaluators.stage.prepare import stage_rows
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import EventPlan, StreamPlan
from inkling.model.batch import MatchBatch
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.planner import certain_plan
from inkling.results import result_table


def run_plan(
    plan: PhysicalPlan, sources: Mapping[str, pa.Table], tables: Mapping[str, pa.Table], around: Surroundings
) -> dict[str, MatchBatch]:
    """Evaluate all stages over normalized sources."""
    ready = all_derived(plan.program.streams, sources, around)
    matches: dict[str, MatchBatch] = {}
    for stage in plan.stages:
        engine = StageEngine(stage, tables, around)
        found = engine.run(rows_of(stage, ready, tables, around)).matches
        matches.update(found)
        ready.update({name: source_table(batch) for name, batch in found.items()})
    return matches


def rows_of(
    stage: Stage, ready: Mapping[str, pa.Table], tables: Mapping[str, pa.Table], around: Surroundings
) -> pa.Table:
    """Rows of all inputs that exist before the stage starts."""
    made_here = {step.event.name for step in stage.steps}
    return pa.concat_tables(
        [
            stage_rows(stage, number, ready[given.source], tables, around)
            for number, given in enumerate(stage.inputs)
            if given.source not in made_here
        ]
    )


@dataclass(frozen=True, slots=True)
class CertainEvaluator:
    """Runs the stages of all events that depend on certain streams alone."""

    plan: PhysicalPlan
    context: Context

    @classmethod
    def of(cls, plan: PhysicalPlan, context: Context) -> CertainEvaluator | None:
        """None where every event depends on an uncertain stream."""
        certain = certain_plan(plan)
        return cls(certain, context) if certain.program.events else None

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return self.plan.program.events

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        return self.plan.program.streams

    def answer(self, rows: Rows) -> Answer:
        context = self.context
        matches = run_plan(self.plan, rows, context.facts, context.around)
        clock = context.measure.clock
        return Answer({event.name: result_table(event, matches[event.name], clock) for event in self.events})
