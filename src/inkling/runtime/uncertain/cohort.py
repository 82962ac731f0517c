"""Events over uncertain streams that began together, and what stays about them while other events come and go.

A program that takes the place of a running one keeps some events and begins others. Those that begin see the streams
from there on, so they have rows, worlds and states of their own: a cohort. Which worlds are drawn depends on the seed
and on the rows alone, so two cohorts see the same worlds of the same rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from inkling.analysis.choice import Evaluator
from inkling.evaluators.chain.program import ChainProgram
from inkling.evaluators.worlds.program import WorldProgram
from inkling.logical.evaluate import Surroundings
from inkling.model.clock import Measure
from inkling.physical.plan import PhysicalPlan
from inkling.physical.stages import Placement
from inkling.physical.streams import streams_of_event


@dataclass(frozen=True, slots=True)
class Cohort:
    """Which events, and what was decided about them when they began."""

    number: int
    events: tuple[str, ...]
    placements: Mapping[str, Placement]  # by choice: the stages of evaluators that have some of their own
    scale: int  # of the clock in worlds
    compared: frozenset[str]  # streams of which nothing but keys is asked for

    @classmethod
    def of(cls, number: int, events: Iterable[str], plan: PhysicalPlan, measure: Measure) -> Cohort:
        """Events that begin, as a plan has them."""
        names, around = tuple(events), Surroundings({}, measure)
        plan = plan.answering(names)
        worlds, chains = WorldProgram.of(plan, around, measure), ChainProgram.of(plan, around, measure)
        placements = {str(Evaluator.WORLDS): worlds.physical.placement}
        if chains is not None:
            placements[str(Evaluator.CHAIN)] = chains.physical.placement
        return cls(number, names, placements, worlds.scale, worlds.compared)


def first_cohorts(plan: PhysicalPlan, measure: Measure) -> tuple[Cohort, ...]:
    """All events over uncertain streams, which begin together."""
    events = [event.name for event in plan.program.events if event.name in plan.uncertain]
    return (Cohort.of(0, events, plan, measure),) if events else ()


def cohorts_after(
    old: Sequence[Cohort], kept: Collection[str], plan: PhysicalPlan, measure: Measure
) -> tuple[Cohort, ...]:
    """The cohorts of a plan that takes the place of another one: events that are kept, then those that begin.

    Each event begins where all streams behind it have come to, so those with the same streams begin together.
    """
    staying = [replace(one, events=tuple(name for name in one.events if name in kept)) for one in old]
    known = {name for one in staying for name in one.events}
    begun: dict[tuple[str, ...], list[str]] = {}
    for event in plan.program.events:
        if event.name in plan.uncertain and event.name not in known:
            begun.setdefault(streams_of_event(event, plan.program), []).append(event.name)
    first = max((one.number for one in old), default=-1) + 1
    started = (Cohort.of(number, names, plan, measure) for number, names in enumerate(begun.values(), first))
    return (*(one for one in staying if one.events), *started)
