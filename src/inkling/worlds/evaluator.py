"""The evaluator of events that need possible worlds: it holds the plan of their certain counterpart."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.analysis.choice import Evaluator
from inkling.evaluators.division import Part
from inkling.evaluators.protocol import Answer, Context, Rows
from inkling.evaluators.sampling import Sampling
from inkling.logical.plan import EventPlan, StreamPlan
from inkling.physical.plan import PhysicalPlan
from inkling.worlds.answer import answer
from inkling.worlds.division import world_parts
from inkling.worlds.program import WorldProgram


@dataclass(frozen=True, slots=True)
class WorldsEvaluator:
    """Enumerates possible worlds where they are few, samples them otherwise."""

    program: WorldProgram
    context: Context

    @classmethod
    def of(cls, plan: PhysicalPlan, context: Context) -> WorldsEvaluator | None:
        """None where no event needs worlds."""
        if not plan.answered_by(Evaluator.WORLDS):
            return None
        return cls(WorldProgram.of(plan, context.around, context.measure), context)

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return self.program.events

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        return self.program.streams

    def parts(self) -> list[Part]:
        return world_parts(self.program, self.context.facts, self.context.sampling or Sampling())

    def answer(self, rows: Rows) -> Answer:
        context = self.context
        sampling, clock = context.sampling or Sampling(), context.measure.clock
        found = answer(self.program, rows, context.facts, sampling, clock, context.on_worlds)
        return Answer(found.tables, (str(found.account),))
