"""A program prepared for possible worlds: its certain counterpart as a plan, and the verdicts about its worlds.

The certain counterpart (`logical.rewrites.in_worlds`) partitions every event by a column with the number of the world,
so one run of the certain evaluators finds the matches of many worlds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from inkling.analysis.choice import Choice, Evaluator
from inkling.analysis.worlds import common_key, needs_lengths, reach_of
from inkling.evaluators.worlds.probabilities.regular import RegularEvent
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, ProgramPlan, StreamPlan
from inkling.logical.recursion import dependencies_of
from inkling.logical.rewrites.in_worlds import SUB_TICKS, in_worlds, uncertain_events, uncertain_part
from inkling.model.time import Clock, TimeUnit
from inkling.model.uncertainty import LostEvents
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import plan_program
from inkling.physical.stages import Placement


@dataclass(frozen=True, slots=True)
class WorldProgram:
    """The events of a program that need possible worlds, with everything that they depend on."""

    part: ProgramPlan  # uncertain events and what they depend on
    uncertain: frozenset[str]  # events that are answered in worlds
    physical: PhysicalPlan  # of the certain counterpart
    context: ExpressionContext  # on the clock of the worlds
    unit: TimeUnit  # of the streams
    scale: int  # units of the worlds' clock per unit of the streams' clock
    key: tuple[str, ...]  # columns that divide rows into independent parts
    reach: int | None  # rows farther apart than this, in units of the streams' clock, share no match; None: no limit
    order_only: bool  # whether results depend on the order of lost events alone, not on their times
    id_types: dict[str, pa.DataType]
    regular: tuple[RegularEvent, ...]  # events that an automaton counts in all worlds at once
    irregular: PhysicalPlan | None  # of the certain counterparts of all other events
    choices: Mapping[str, Choice]  # by event, with the reasons why it needs worlds

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        context: ExpressionContext,
        unit: TimeUnit,
        *,
        with_chains: bool = False,
        placement: Placement | None = None,
        scale: int | None = None,
    ) -> WorldProgram:
        """`with_chains`: prepare also events that are answered without worlds, to examine their worlds.

        A running program passes its `placement` of events in stages and its `scale`, which must not change.
        """
        plan = plan.on_clock(unit.clock)
        exact = frozenset() if with_chains else without_worlds(plan)
        program = _without(plan.program, exact)
        uncertain = uncertain_events(program) - exact
        part = uncertain_part(program)
        losing = any(isinstance(stream.schema.uncertainty, LostEvents) for stream in part.streams)
        if scale is None:
            scale = SUB_TICKS if losing and unit.clock is Clock.TICKS else 1
        fine = TimeUnit(unit.clock, unit.tick, scale)
        found = [RegularEvent.of(event, part, sub_tick=scale > 1) for event in part.events if event.name in uncertain]
        regular = tuple(one for one in found if one is not None)
        whole = plan_program(in_worlds(program, sub_tick=scale > 1), placement)
        return cls(
            part,
            uncertain,
            whole,
            ExpressionContext(context.tables, fine),
            unit,
            scale,
            common_key(part).conclusion,
            reach_of(part, unit),
            not needs_lengths(part).conclusion,
            {name: kind for name, kind in plan.id_types.items() if name in uncertain},
            regular,
            _irregular(program, {one.event.name for one in regular}, whole, sub_tick=scale > 1),
            {name: plan.steps[name].choice for name in uncertain},
        )

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        return self.part.streams

    @property
    def clock(self) -> Clock:
        return self.unit.clock

    @property
    def compared(self) -> frozenset[str]:
        """Streams that are read only by patterns that compare keys: there, keys without events count as well."""
        others = {name for event in self.part.events if not _compares_keys(event) for name in event.sources}
        return frozenset(stream.schema.name for stream in self.part.streams) - others

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return tuple(event for event in self.part.events if event.name in self.uncertain)


def _compares_keys(event: EventPlan) -> bool:
    return isinstance(event.pattern, p.Quantified)


def without_worlds(plan: PhysicalPlan) -> frozenset[str]:
    """Events over uncertain streams that are answered without worlds."""
    return plan.uncertain - plan.answered_by(Evaluator.WORLDS).keys()


def _without(program: ProgramPlan, exact: frozenset[str]) -> ProgramPlan:
    """The program without events that are answered without worlds, unless another uncertain event depends on them."""
    wanted = uncertain_events(program) - exact
    needed = {name for event in program.events if event.name in wanted for name in dependencies_of(event, program)}
    return replace(program, events=tuple(one for one in program.events if one.name not in exact - needed))


def _irregular(program: ProgramPlan, names: set[str], whole: PhysicalPlan, *, sub_tick: bool) -> PhysicalPlan | None:
    """The plan of the certain counterpart without some events, which no other event reads; None if none is left."""
    if not names:
        return whole
    rest = replace(program, events=tuple(event for event in program.events if event.name not in names))
    return plan_program(in_worlds(rest, sub_tick=sub_tick)) if uncertain_events(rest) else None
