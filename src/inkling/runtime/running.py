"""What a running program keeps when it is replaced: the stages of certain events, and the cohorts of uncertain ones."""

from __future__ import annotations

from dataclasses import dataclass

from inkling.analysis.worlds import common_key
from inkling.logical.plan import ProgramPlan
from inkling.logical.rewrites.in_worlds import uncertain_part
from inkling.model.time import TimeUnit
from inkling.model.uncertainty import LostEvents
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import certain_part, certain_plan, plan_program
from inkling.physical.streams import streams_of_event
from inkling.runtime.changes import Changes, changes, planned_after, unsupported_change
from inkling.runtime.uncertain.program import Cohort, cohorts_after, first_cohorts


@dataclass(frozen=True, slots=True)
class RunningPlan:
    """The placement of events: certain events in stages, events over uncertain streams in cohorts."""

    staged: PhysicalPlan  # of the certain events: the whole plan where all are
    cohorts: tuple[Cohort, ...]

    @classmethod
    def begun(cls, plan: PhysicalPlan, unit: TimeUnit) -> RunningPlan:
        """All events begin together."""
        return cls(certain_plan(plan), first_cohorts(plan.on_clock(unit.clock), unit))


def replaced(
    old: PhysicalPlan, running: RunningPlan, new: ProgramPlan, unit: TimeUnit
) -> tuple[PhysicalPlan, RunningPlan, Changes]:
    """The plan of a program that replaces a running one, the placement of its events, and the changes."""
    changed = changes(old.program, new)
    staged = planned_after(running.staged, certain_part(new))
    plan = plan_program(new) if uncertain_part(new).events else staged
    plan = plan.on_clock(unit.clock)
    _require_same_operators(old, plan)
    _require_same_ids(old, plan, changed)
    _require_whole_numbering(plan, changed)
    return plan, RunningPlan(staged, cohorts_after(running.cohorts, changed.kept, plan, unit)), changed


def _require_same_operators(old: PhysicalPlan, new: PhysicalPlan) -> None:
    if bool(old.uncertain) != bool(new.uncertain):
        before, after = ("no", "some") if new.uncertain else ("some", "none")
        raise unsupported_change(
            f"the running program has {before} events over uncertain streams, the new one {after}",
            "these events have an operator of their own, and a query keeps the number of its operators",
        )
    key, other = (common_key(uncertain_part(one.program)).conclusion for one in (old, new))
    if key != other:
        raise unsupported_change(
            "the events over uncertain streams would be divided by another key than in the running program",
            f"the running program divides them by {_key(key)}, the new one by {_key(other)}",
        )


def _key(columns: tuple[str, ...]) -> str:
    return ", ".join(columns) or "no key"


def _require_same_ids(old: PhysicalPlan, new: PhysicalPlan, changed: Changes) -> None:
    """Results of kept events have the id type of the plan of all events."""
    for name in changed.kept:
        if old.id_types[name] != new.id_types[name]:
            raise unsupported_change(
                f"`{name}` would have ids of another type, because other events would share its stage",
                "ids in one stage have one type, and results that were written already have the old one",
            )


def _require_whole_numbering(new: PhysicalPlan, changed: Changes) -> None:
    """Sequence numbers count from the first event of a key, so a new event would take all earlier ones for lost."""
    for name in (*changed.started, *changed.restarted):
        event = new.program.event(name)
        assert event is not None
        for source in streams_of_event(event, new.program):
            stream = new.program.stream(source)
            if stream is not None and isinstance(stream.schema.uncertainty, LostEvents):
                raise unsupported_change(
                    f"`{name}` cannot begin while `{source}` is read, whose events are numbered",
                    "of keys that have begun before, all earlier events would count as lost",
                )
