"""Events over uncertain streams that began together, and what stays about them while other events come and go.

A program that takes the place of a running one keeps some events and begins others. Those that begin see the streams
from there on, so they have rows, worlds and states of their own: a cohort. Which worlds are drawn depends on the seed
and on the rows alone, so two cohorts see the same worlds of the same rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from inkling.evaluators.protocol import Beginning
from inkling.model.clock import Measure
from inkling.physical.plan import PhysicalPlan
from inkling.physical.streams import streams_of_event
from inkling.runtime.registry import beginnings


@dataclass(frozen=True, slots=True)
class Cohort:
    """Which events, and what their evaluators decided about them when they began, by choice."""

    number: int
    events: tuple[str, ...]
    begun: Mapping[str, Beginning]

    @classmethod
    def of(cls, number: int, events: Iterable[str], plan: PhysicalPlan, measure: Measure) -> Cohort:
        """Events that begin, as a plan has them."""
        names = tuple(events)
        return cls(number, names, beginnings(plan.answering(names), measure))


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
