"""The choice of an evaluator for each event, with its reason: what the physical plan carries and `explain` prints.

Every event has an evaluator for one world, in which nothing is uncertain. An event over uncertain streams is answered
without worlds where one of `FAMILIES` recognizes it, else by running that evaluator in possible worlds. A further way
to answer uncertain events is one more entry of `FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from inkling.analysis.chain import chain_of
from inkling.analysis.query.strategy import strategy_of
from inkling.analysis.relation import relation_of
from inkling.analysis.verdict import Verdict
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.model.time import Clock
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue


class Evaluator(StrEnum):
    """The evaluators that come with inkling."""

    AUTOMATON = "automaton"
    NETWORK = "network"
    SEGMENTS = "segments"
    WINDOW = "window"
    CONSUMPTION = "consumption"
    FORECAST = "forecast"
    CHAIN = "chain"
    QUERY = "query"
    RELATION = "relation"
    WORLDS = "worlds"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which evaluator answers an event, why, and what analysis found out for it."""

    evaluator: str
    reason: str
    data: object = field(default=None, compare=False)  # what the analysis of a family concluded
    within_world: Choice | None = None  # over uncertain streams: what would answer the event in one world

    def rejected_by(self, family: str) -> str | None:
        """Why a family does not answer an event that has to be found in worlds; None where it is not concerned."""
        return self.data.get(family) if isinstance(self.data, dict) else None

    @property
    def in_one_world(self) -> Choice:
        """What answers the event where nothing is uncertain."""
        return self.within_world or self


@dataclass(frozen=True, slots=True)
class Family:
    """Events over one kind of uncertain streams that need no worlds.

    `recognize` concludes what its evaluator has to know of an event, or None with the reason. The clock is that of the
    data, None while no data is known.
    """

    uncertainty: type  # of the streams that it is about
    recognize: Callable[[EventPlan, ProgramPlan, Clock | None], Verdict[object | None]]

    def concerns(self, event: EventPlan, program: ProgramPlan) -> bool:
        """Whether the event reads a stream of this kind."""
        streams = (program.stream(name) for name in event.sources)
        return any(stream is not None and isinstance(stream.schema.uncertainty, self.uncertainty) for stream in streams)


FAMILIES: dict[str, Family] = {
    Evaluator.CHAIN: Family(ImpreciseTime, chain_of),
    Evaluator.QUERY: Family(ProbableValue, lambda event, program, _: strategy_of(event, program)),
    Evaluator.RELATION: Family(LostEvents, lambda event, program, _: relation_of(event, program)),
}


def uncertain_choice(
    event: EventPlan, program: ProgramPlan, within_world: Choice, clock: Clock | None = None
) -> Choice:
    """What answers an event over uncertain streams; for worlds, the data is why each family it concerns does not."""
    reasons = {}
    for evaluator, family in FAMILIES.items():
        verdict = family.recognize(event, program, clock)
        if verdict.conclusion is not None:
            return Choice(evaluator, verdict.reason, verdict.conclusion, within_world)
        if family.concerns(event, program):
            reasons[evaluator] = verdict.reason
    reason = "; ".join(reasons.values()) or "it depends on other uncertain events"
    return Choice(Evaluator.WORLDS, reason, reasons, within_world)
