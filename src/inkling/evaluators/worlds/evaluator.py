"""The evaluator of events that need possible worlds: it holds the plan of their certain counterpart."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.analysis.choice import Evaluator
from inkling.evaluators.division import Part
from inkling.evaluators.protocol import Answer, Context, Rows
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.answer import estimates, names_by_event
from inkling.evaluators.worlds.demands import require_exact
from inkling.evaluators.worlds.division import world_parts
from inkling.evaluators.worlds.estimate import estimate_table
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.run import WorldData
from inkling.logical.plan import EventPlan, StreamPlan
from inkling.physical.plan import PhysicalPlan


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
        context, program = self.context, self.program
        sampling, clock = context.sampling or Sampling(), context.measure.clock
        data = WorldData.of(program, rows, context.facts, sampling.exact_up_to)
        require_exact(data, sampling)
        found, account = estimates(data, sampling, context.on_worlds)
        names = names_by_event(data)
        tables = {
            event.name: estimate_table(event, found[event.name], names[event.name], program.scale, clock)
            for event in program.events
        }
        return Answer(tables, (str(account),))
