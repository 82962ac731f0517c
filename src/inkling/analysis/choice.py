"""The choice of an evaluator for each event, with its reason: what the physical plan carries and `explain` prints.

Every event has an evaluator for certain streams. An event over uncertain streams is evaluated exactly, without worlds,
if one of `FAMILIES` recognizes it; else its evaluator for certain streams runs in possible worlds. Another evaluator
for uncertain events is one more entry of `FAMILIES`.
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
    """The evaluator of an event, the reason, and the analysis that the evaluator needs."""

    evaluator: str
    reason: str
    data: object = field(default=None, compare=False)  # the conclusion of the analysis of a family
    within_world: Choice | None = None  # over uncertain streams: the evaluator of the event in one world

    def rejected_by(self, family: str) -> str | None:
        """Why a family does not evaluate an event that needs worlds; None if the family does not apply."""
        return self.data.get(family) if isinstance(self.data, dict) else None

    @property
    def in_one_world(self) -> Choice:
        """The choice for the event in one world, where nothing is uncertain."""
        return self.within_world or self


@dataclass(frozen=True, slots=True)
class Family:
    """Events over one kind of uncertain streams that can be evaluated without worlds.

    `recognize` returns the analysis that its evaluator needs, or None with the reason. The clock is the clock of the
    data, or None if no data is known yet.
    """

    uncertainty: type  # of the streams that the family applies to
    recognize: Callable[[EventPlan, ProgramPlan, Clock | None], Verdict[object | None]]

    def concerns(self, event: EventPlan, program: ProgramPlan) -> bool:
        """Whether the event reads a stream with this kind of uncertainty."""
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
    """The evaluator of an event over uncertain streams; for worlds, `data` has the reason of each family."""
    reasons = {}
    for evaluator, family in FAMILIES.items():
        verdict = family.recognize(event, program, clock)
        if verdict.conclusion is not None:
            return Choice(evaluator, verdict.reason, verdict.conclusion, within_world)
        if family.concerns(event, program):
            reasons[evaluator] = verdict.reason
    reason = "; ".join(reasons.values()) or "the event depends on other uncertain events"
    return Choice(Evaluator.WORLDS, reason, reasons, within_world)
