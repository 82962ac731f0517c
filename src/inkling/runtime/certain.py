"""The evaluator of certain events: the stages of a plan, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.evaluators.protocol import Answer, Context, Rows
from inkling.evaluators.whole import run_plan
from inkling.logical.plan import EventPlan, StreamPlan
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import certain_plan
from inkling.results import result_table


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
