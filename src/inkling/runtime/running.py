"""What stays about a program while other programs take its place: stages of certain events, and cohorts of others."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.analysis.worlds import common_key
from inkling.logical.in_worlds import doubtful_part
from inkling.logical.plan import ProgramPlan
from inkling.model.clock import Measure
from inkling.model.uncertainty import LostEvents
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import certain_part, certain_plan, plan_program
from inkling.physical.streams import streams_of_event
from inkling.runtime.changes import Changes, changes, planned_after, refusal
from inkling.runtime.uncertain.cohort import Cohort, cohorts_after, first_cohorts


@dataclass(frozen=True, slots=True)
class Running:
    """Where events stand: certain ones in stages, those over uncertain streams in cohorts."""

    staged: PhysicalPlan  # of the certain events: the whole plan where all are
    cohorts: tuple[Cohort, ...]

    @classmethod
    def begun(cls, plan: PhysicalPlan, measure: Measure) -> Running:
        """All events begin together."""
        return cls(certain_plan(plan), first_cohorts(plan.on_clock(measure.clock), measure))


def replaced(
    old: PhysicalPlan, running: Running, new: ProgramPlan, measure: Measure
) -> tuple[PhysicalPlan, Running, Changes]:
    """The plan of a program that takes the place of a running one, where its events stand, and what changes."""
    said = changes(old.program, new)
    staged = planned_after(running.staged, certain_part(new))
    plan = plan_program(new) if doubtful_part(new).events else staged
    plan = plan.on_clock(measure.clock)
    _require_same_operators(old, plan)
    _require_same_ids(old, plan, said)
    _require_whole_numbering(plan, said)
    return plan, Running(staged, cohorts_after(running.cohorts, said.kept, plan, measure)), said


def _require_same_operators(old: PhysicalPlan, new: PhysicalPlan) -> None:
    if bool(old.uncertain) != bool(new.uncertain):
        before, after = ("no", "some") if new.uncertain else ("some", "none")
        raise refusal(
            f"the running program has {before} events over uncertain streams, the new one {after}",
            "these events have an operator of their own, and a query keeps the number of its operators",
        )
    key, other = (common_key(doubtful_part(one.program)).conclusion for one in (old, new))
    if key != other:
        raise refusal(
            "the events over uncertain streams would be divided by another key than in the running program",
            f"the running program divides them by {_key(key)}, the new one by {_key(other)}",
        )


def _key(columns: tuple[str, ...]) -> str:
    return ", ".join(columns) or "no key"


def _require_same_ids(old: PhysicalPlan, new: PhysicalPlan, said: Changes) -> None:
    """Results of kept events have ids of the type that the plan of all events gives them."""
    for name in said.kept:
        if old.id_types[name] != new.id_types[name]:
            raise refusal(
                f"`{name}` would have ids of another type, because other events would share its stage",
                "ids in one stage have one type, and results that were written already have the old one",
            )


def _require_whole_numbering(new: PhysicalPlan, said: Changes) -> None:
    """Numbers count from the first event of a key, so who begins later takes all events before for lost ones."""
    for name in (*said.started, *said.restarted):
        event = new.program.event(name)
        assert event is not None
        for source in streams_of_event(event, new.program):
            stream = new.program.stream(source)
            if stream is not None and isinstance(stream.schema.doubt, LostEvents):
                raise refusal(
                    f"`{name}` cannot begin while `{source}` is read, whose events are numbered",
                    "of keys that have begun before, all earlier events would count as lost",
                )
