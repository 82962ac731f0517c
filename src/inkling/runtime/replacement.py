"""Replacement of a running program: which events are kept, started or stopped, and where they run.

An event is kept if its definition, and everything that it depends on, is unchanged; it keeps its stage and its state. A
new event gets a place in the existing stages, or a new cohort over uncertain streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any

from inkling.analysis.worlds import common_key
from inkling.errors import InputError
from inkling.evaluators.protocol import StartDecisions
from inkling.evaluators.stage.rows.keys import is_divisible
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.knowledge import RuleAtom
from inkling.logical.plan import ProgramPlan
from inkling.logical.recursion import dependencies_of
from inkling.logical.rewrites.in_worlds import uncertain_events, uncertain_part
from inkling.logical.settings import SettingError, Settings, with_settings, without_settings
from inkling.model.time import TimeUnit
from inkling.model.types import Type
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.planner import certain_part, certain_plan, plan_program
from inkling.physical.stages import NoPlaceError, Placement
from inkling.runtime.uncertain import Cohort, cohorts_after, first_cohorts


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between two programs, as names."""

    kept: tuple[str, ...] = ()  # events with the same definition
    started: tuple[str, ...] = ()  # new events
    restarted: tuple[str, ...] = ()  # events with another definition
    stopped: tuple[str, ...] = ()  # events that are gone
    lateness: tuple[str, ...] = ()  # streams with another LATENESS or AHEAD, or another time for withdrawals
    tables: tuple[str, ...] = ()  # tables with other facts
    settings: tuple[str, ...] = ()  # kept forecasts with other settings

    def __bool__(self) -> bool:
        """Whether anything changes at all."""
        return bool(self.started or self.restarted or self.stopped or self.lateness or self.tables or self.settings)

    def __str__(self) -> str:
        changed = [
            (word, names)
            for word, names in (
                ("kept", self.kept),
                ("started", self.started),
                ("started anew", self.restarted),
                ("stopped", self.stopped),
                ("other settings", self.settings),
                ("other windows", self.lateness),
                ("re-read", self.tables),
            )
            if names
        ]
        return "; ".join(f"{word}: {', '.join(names)}" for word, names in changed) or "nothing changed"


def changes(old: p.ProgramPlan, new: p.ProgramPlan) -> Changes:
    """The difference between two programs. Settings of a forecast that do not affect its state do not restart it."""
    uncertain = uncertain_events(new)
    kept = tuple(event.name for event in new.events if _is_same(event.name, old, new, uncertain))
    names = {event.name for event in old.events}
    return Changes(
        kept,
        started=tuple(event.name for event in new.events if event.name not in names),
        restarted=tuple(event.name for event in new.events if event.name in names and event.name not in kept),
        stopped=tuple(event.name for event in old.events if new.event(event.name) is None),
        lateness=tuple(stream.schema.name for stream in new.streams if _has_other_lateness(stream, old)),
        settings=tuple(name for name in kept if old.event(name) != new.event(name)),
    )


def is_same_stream(old: p.StreamPlan | None, new: p.StreamPlan | None) -> bool:
    """Whether two declarations of a stream differ at most in LATENESS and the time for withdrawals."""
    if old is None or new is None:
        return False
    return _without_windows(old) == _without_windows(new)


def require_same_past(old: p.ProgramPlan, new: p.ProgramPlan, changed: Changes) -> None:
    """Rejects changes of a program with revision: a replay may begin before the change."""
    if not old.revises and not new.revises:
        return
    streams = {stream.schema.name for stream in (*old.streams, *new.streams)}
    is_same = all(is_same_stream(old.stream(name), new.stream(name)) for name in streams)
    if changed.started or changed.restarted or changed.stopped or not is_same:
        raise unsupported_change(
            "a program cannot continue from another one whose results can still change",
            f"it would have {changed}; only LATENESS, FOR, tables and settings of forecasts can be changed",
        )


def require_same_models(new: p.ProgramPlan, changed: Changes) -> None:
    """Rejects other models of kept forecasts over uncertain streams, whose state depends on the model."""
    uncertain = uncertain_events(new)
    for event in new.events:
        continues = event.name in changed.kept and event.name in uncertain and event.forecast is not None
        if continues and event.forecast is not None and event.forecast.model in changed.tables:
            raise unsupported_change(
                f"`{event.name}` cannot continue with another model",
                "over uncertain streams, what is remembered depends on the model",
            )


def planned_after(old: PhysicalPlan, new: p.ProgramPlan) -> PhysicalPlan:
    """A plan of the new program in the stages of the old plan; kept events stay in their stages."""
    kept = changes(old.program, new).kept
    homes = {step.event.name: stage.number for stage in old.stages for step in stage.steps}
    try:
        plan = plan_program(new, Placement(len(old.stages), {name: homes[name] for name in kept}))
    except NoPlaceError as problem:
        raise unsupported_change(
            f"`{problem.event}` needs another partition key than the running program has",
            "a query keeps the number of its stages, one per partition key, as long as it has its checkpoint",
        ) from None
    for before, after in zip(old.stages, plan.stages, strict=True):
        stays = [name for name in kept if homes[name] == before.number]
        if stays:
            _require_same_form(before, after, old.program, new, stays[0])
    return plan


def _ids_and_places(stage: Stage) -> tuple[Type, bool, bool]:
    return stage.id_type, stage.text_places, stage.mixed_places


def _require_same_form(before: Stage, after: Stage, old: p.ProgramPlan, new: p.ProgramPlan, kept: str) -> None:
    """Rejects changes of the types of keys and ids in the state."""
    if _ids_and_places(before) != _ids_and_places(after):
        raise unsupported_change(
            f"`{kept}` would have ids or places of another type, because other events would share its stage",
            "ids in one stage have one type, and results that were written already have the old one",
        )
    if is_divisible(before, old) != is_divisible(after, new):
        raise unsupported_change(
            f"the keys of `{kept}` could not stay where they are",
            "a new event reads a stream with DERIVE along another key than its own, which needs all rows together",
        )


def unsupported_change(message: str, note: str) -> InputError:
    """The reason why a program cannot replace the running one."""
    return InputError.of(
        "INK0606",
        message,
        notes=(note,),
        helps=("start the program with a new checkpoint", "the running program continues"),
    )


def _is_same(name: str, old: p.ProgramPlan, new: p.ProgramPlan, uncertain: frozenset[str]) -> bool:
    """Whether a stream or event, and everything that it depends on, has the same definition in both programs."""
    event = new.event(name)
    needed = {name} if event is None else {name} | dependencies_of(event, new)
    return all(_is_declared_the_same(one, old, new, uncertain) for one in needed)


def _is_declared_the_same(name: str, old: p.ProgramPlan, new: p.ProgramPlan, uncertain: frozenset[str]) -> bool:
    event = new.event(name)
    if event is None:
        stream = new.stream(name)
        return is_same_stream(old.stream(name), stream) and _same_tables(stream, old, new)
    before = old.event(name)
    if before is None or not _same_tables(event, old, new):
        return False
    if name in uncertain and _looks_back(before) != _looks_back(event):
        return False
    return without_settings(before) == without_settings(event)


def _looks_back(event: p.EventPlan) -> tuple[str, int | None] | None:
    """What determines how much of the past a forecast over uncertain streams keeps: its model, and ORDER."""
    return None if event.forecast is None else (event.forecast.model, event.forecast.order)


def _same_tables(definition: object, old: p.ProgramPlan, new: p.ProgramPlan) -> bool:
    known = [_known_tables(program) for program in (old, new)]
    waiting, seen = set(_tables_in(definition)), set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        meant = [facts.get(name) for facts in known]
        if meant[0] != meant[1]:
            return False
        waiting |= set(_tables_in(meant[1])) - seen
    return True


def _known_tables(program: p.ProgramPlan) -> dict[str, object]:
    """The definitions of tables and rules."""
    return {
        **{table.name: table.columns for table in program.tables},
        **{rule.name: (rule.columns, rule.clauses) for rule in program.rules},
    }


def _tables_in(part: object) -> Iterator[str]:
    """Tables that are looked up anywhere in a definition."""
    if isinstance(part, e.InTable | p.TableAtom | RuleAtom):
        yield part.table
    if isinstance(part, tuple):
        for one in part:
            yield from _tables_in(one)
    elif is_dataclass(part):
        for one in fields(part):
            yield from _tables_in(getattr(part, one.name))


def _has_other_lateness(stream: p.StreamPlan, old: p.ProgramPlan) -> bool:
    before = old.stream(stream.schema.name)
    if before is None:
        return False
    was, now = before.schema, stream.schema
    return (was.late, was.ahead, was.op_for) != (now.late, now.ahead, now.op_for)


def _without_windows(stream: p.StreamPlan) -> p.StreamPlan:
    return replace(stream, schema=replace(stream.schema, late=None, ahead=None, op_for=None))


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
    return plan, RunningPlan(staged, cohorts_after(running.cohorts, changed.kept, plan, unit)), changed


def running_of(plan: PhysicalPlan, placement: Placement, cohorts: tuple[Cohort, ...]) -> RunningPlan:
    """The placement of the events of a plan, from what is stored of it."""
    return RunningPlan(certain_plan(plan, placement), cohorts)


def placed_plan(program: ProgramPlan, placement: Placement) -> PhysicalPlan:
    """The plan of a program whose certain events have their places already."""
    return plan_program(program, None if uncertain_events(program) else placement)


def stored_cohorts(cohorts: Iterable[Cohort]) -> list[dict[str, Any]]:
    """Cohorts as values of JSON."""
    return [asdict(one) for one in cohorts]


def read_cohorts(stored: Iterable[Mapping[str, Any]]) -> tuple[Cohort, ...]:
    return tuple(
        Cohort(
            one["number"],
            tuple(one["events"]),
            {
                name: StartDecisions(Placement(**found["placement"]), found["scale"], tuple(found["compared"]))
                for name, found in one["begun"].items()
            },
        )
        for one in stored
    )


def fitting(program: ProgramPlan, settings: Settings) -> Settings:
    """The settings of forecasts that are valid for a program."""
    kept = {}
    for forecast, own in settings.items():
        with suppress(SettingError):
            with_settings(program, {forecast: own})
            kept[forecast] = own
    return kept


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
