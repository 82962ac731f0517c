"""Counts of parts of a pattern: each question is an event of its own, and all of them run as one program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from inkling.errors import InputError, NotSupportedYet, nearest
from inkling.evaluators.whole import run_plan
from inkling.local import TakenIn
from inkling.logical import plan as p
from inkling.logical.recursion import resting_on
from inkling.logical.rules import rewrite
from inkling.model.batch import MatchBatch
from inkling.physical.planner import plan_program

_OURS = "\ue000"
"""Begins the names of events that no program writes."""


@dataclass(slots=True)
class Questions:
    """Events to be counted beside a program's own, by the names they are given here."""

    asked: list[p.EventPlan] = field(default_factory=list)

    def ask(self, event: p.EventPlan) -> str:
        """Counts the matches of an event that reads what the program's events read."""
        name = f"{_OURS}{len(self.asked)}"
        self.asked.append(replace(event, name=name, schema=replace(event.schema, name=name)))
        return name


def asked_for(name: str, program: p.ProgramPlan) -> p.EventPlan:
    """The event of that name, if anything can be said about it."""
    event = program.event(name)
    if event is None:
        names = [one.name for one in program.events]
        close = nearest(name, names, n=1)
        raise InputError.of(
            "INK0561",
            f"the program has no event called `{name}`",
            notes=(f"its events are {', '.join(names)}",) if names else (),
            helps=(f"ask for `{close[0]}`",) if close else (),
        )
    if event.forecast is not None:
        raise NotSupportedYet.of(
            "INK0453",
            f"`{name}` is a forecast, which `why` does not support yet",
            notes=("it says after each event what its model says there",),
            helps=(
                f"`inkling why` tells how far `{event.forecast.of}` got",
                "`inkling model show MODEL --forecast PROGRAM` lists what is said in each state",
            ),
        )
    return event


def needed_part(program: p.ProgramPlan, event: p.EventPlan) -> p.ProgramPlan:
    """An event with everything it rests on."""
    needed = resting_on(event, program) | {event.name}
    return replace(program, events=tuple(one for one in program.events if one.name in needed))


def answers(program: p.ProgramPlan, given: TakenIn, asked: Sequence[p.EventPlan] = ()) -> dict[str, MatchBatch]:
    """What every event of a program has found, and every question."""
    whole = rewrite(replace(program, events=(*program.events, *asked))).plan
    return run_plan(plan_program(whole), given.sources, given.facts, given.around)
