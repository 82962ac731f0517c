"""The program that learning runs: forecasts are replaced by events that count, and unneeded events are left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from inkling.errors import InputError, ProgramError, nearest
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.logical.forecasts import learning_plan
from inkling.logical.plan import EventPlan, Forecast, ProgramPlan, forecast_of
from inkling.model.schema import Column
from inkling.physical.checks import reject_uncertain_training_data
from inkling.physical.plan import EventStep, PhysicalPlan, Runnable, Stage
from inkling.physical.planner import plan_program
from inkling.physical.stages import column_types
from inkling.program_files import ProgramFiles


@dataclass(frozen=True, slots=True)
class ModelToLearn:
    """A model to be learned, and a forecast that reads it."""

    model: str
    event: EventPlan
    order: int | None  # the largest order in the program

    @property
    def forecast(self) -> Forecast:
        return forecast_of(self.event)


@dataclass(frozen=True, slots=True)
class LearningProgram:
    """A program whose results are counts; any runner can run it."""

    plan: ProgramPlan
    physical: PhysicalPlan
    files: ProgramFiles
    text: str

    @classmethod
    def of(cls, program: Runnable, events: Collection[EventPlan], text: str = "") -> LearningProgram:
        """A program of these learning events and the events that they read."""
        base = program.physical.program
        needed = tuple(read_by(events, base))
        models = {one.forecast.model for one in base.events if one.forecast is not None}
        models -= {one.forecast.model for one in needed if one.forecast is not None}
        tables = tuple(table for table in base.tables if table.name not in models)
        plan = replace(base, tables=tables, events=(*needed, *events))
        return cls(plan, plan_program(plan), program.files, text)

    def to_ink(self) -> str:
        return self.text

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that learning reads, directly or through other events."""
        read = {source for event in self.plan.events for source in event.sources}
        return tuple(stream.schema.name for stream in self.plan.streams if stream.schema.name in read)

    def step(self, event: str) -> tuple[Stage, EventStep]:
        return next((stage, step) for stage in self.physical.stages for step in stage.steps if step.event.name == event)

    def reader(self, event: str) -> SymbolReader:
        """The automaton of a forecast, and the mapping of rows to its symbols."""
        stage, step = self.step(event)
        return SymbolReader.of(step, len(stage.inputs), stage.resets)


def subjects_of(program: Runnable, names: Collection[str] | None = None) -> tuple[ModelToLearn, ...]:
    """The models of all forecasts of a program, or of the named ones; names are of models, forecasts or events."""
    events = [event for event in program.physical.program.events if event.forecast is not None]
    if not events:
        raise ProgramError.of(
            "INK0375",
            "the program has no FORECAST to learn a model for",
            helps=("add one, for example `FORECAST my_event WITHIN 10 EVENTS;`",),
        )
    by_model: dict[str, list[EventPlan]] = {}
    reject_uncertain_training_data(program.physical.program, events)
    for event in events:
        by_model.setdefault(forecast_of(event).model, []).append(event)
    if names is not None:
        by_model = _named(by_model, names)
    return tuple(_subject(model, some) for model, some in by_model.items())


def learning_event(
    subject: ModelToLearn, order: int, *, name: str | None = None, until: int | None = None, by: Column | None = None
) -> EventPlan:
    """The event whose results are the counts for a model."""
    forecast = replace(subject.forecast, order=order, until=until, by=subject.forecast.by if by is None else by)
    event = learning_plan(replace(subject.event, forecast=forecast))
    return event if name is None else replace(event, name=name, schema=replace(event.schema, name=name))


def column_of(program: Runnable, subject: ModelToLearn, name: str) -> Column:
    """The column with the group of a row; all streams that the model is learned from have it."""
    plan = program.physical.program
    types = [column_types(plan, source) for source in subject.event.scope]
    common = set(types[0]).intersection(*types[1:]) if types else set()
    if name not in common:
        close = nearest(name, sorted(common), n=1)
        raise InputError.of(
            "INK0618",
            f"`{subject.model}` cannot be learned by `{name}`: not all of its streams have this column",
            notes=(f"columns of all of them: {', '.join(sorted(common)) or 'none'}",),
            helps=(f"learn it by `{close[0]}`",) if close else (),
        )
    return Column(name, types[0][name])


def read_by(events: Collection[EventPlan], plan: ProgramPlan) -> Iterator[EventPlan]:
    wanted = {source for event in events for source in event.sources}
    grown = True
    while grown:
        more = {source for event in plan.events if event.name in wanted for source in event.sources}
        grown = not more <= wanted
        wanted |= more
    return (event for event in plan.events if event.name in wanted)


def _named(by_model: dict[str, list[EventPlan]], names: Collection[str]) -> dict[str, list[EventPlan]]:
    chosen: dict[str, list[EventPlan]] = {}
    for name in names:
        found = [model for model, some in by_model.items() if name in _names(model, some)]
        if not found:
            known = [known for model, some in by_model.items() for known in _names(model, some)]
            close = nearest(name, known, n=1)
            raise InputError.of(
                "INK0618",
                f"the program has no model or forecast called `{name}`",
                notes=(f"its models are {', '.join(by_model)}",),
                helps=(f"learn `{close[0]}`",) if close else (),
            )
        chosen[found[0]] = by_model[found[0]]
    return chosen


def _names(model: str, events: list[EventPlan]) -> list[str]:
    """The names of a model: its own, those of its forecasts, and that of the event that they forecast."""
    return [model, *(event.name for event in events), *(one.forecast.of for one in events if one.forecast is not None)]


def _subject(model: str, events: list[EventPlan]) -> ModelToLearn:
    kinds = {(one.forecast.of, one.forecast.features, one.forecast.by) for one in events if one.forecast is not None}
    if len(kinds) > 1:
        names = " and ".join(f"`{event.name}`" for event in events)
        raise ProgramError.of(
            "INK0376",
            f"{names} share the model `{model}`, but read different symbols",
            notes=("forecasts that share a model are of one event, with the same FEATURES and the same BY",),
            helps=(f"give one of them its own model: `MODEL {events[-1].name}_model`",),
        )
    orders = [one.forecast.order for one in events if one.forecast is not None and one.forecast.order is not None]
    return ModelToLearn(model, events[0], max(orders, default=None))
