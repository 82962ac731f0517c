"""Counting events: added to a program so that models learn words of symbols in the same pass over the rows."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pyarrow as pa

from inkling.evaluators.forecast.families import Families
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.logical.forecasts import learning_plan
from inkling.logical.plan import EventPlan, ProgramPlan, forecast_of
from inkling.logical.settings import is_forecast, without_settings
from inkling.model.time import TimeUnit
from inkling.physical.plan import EventStep, PhysicalPlan, Stage

_MARK = "@counts"


def counting_name(model: str) -> str:
    """The name of the event whose results are the counts for a model; users cannot write such a name."""
    return f"{model}{_MARK}"


def counts_for(event: EventPlan) -> str | None:
    """The model for which an event counts; None for an event of the program."""
    return event.name.removesuffix(_MARK) if event.name.endswith(_MARK) else None


def with_counting(program: ProgramPlan, orders: Mapping[str, int]) -> ProgramPlan:
    """The program with a counting event for each of these models, at the given orders."""
    counting = []
    for model, event in first_forecasts(program).items():
        if model in orders:
            learning = learning_plan(without_settings(event))  # counting does not depend on changed settings
            name = counting_name(model)
            asked = replace(forecast_of(learning), order=orders[model])
            schema = replace(learning.schema, name=name)
            counting.append(replace(learning, name=name, schema=schema, forecast=asked, hidden=True))
    return replace(program, events=(*program.events, *counting))


def first_forecasts(program: ProgramPlan) -> dict[str, EventPlan]:
    """The first forecast that uses each model."""
    found: dict[str, EventPlan] = {}
    for event in program.events:
        if is_forecast(event):
            found.setdefault(forecast_of(event).model, event)
    return found


def readers(plan: PhysicalPlan) -> dict[str, tuple[EventStep, SymbolReader]]:
    """By model: the step of its first forecast, and the reader that maps rows to symbols of its automaton."""
    found: dict[str, tuple[EventStep, SymbolReader]] = {}
    for stage, step in _forecast_steps(plan):
        forecast = forecast_of(step.event)
        if forecast.model not in found:
            found[forecast.model] = step, SymbolReader.of(step, len(stage.inputs), stage.resets)
    return found


def require_fitting_models(plan: PhysicalPlan, tables: Mapping[str, pa.Table], unit: TimeUnit) -> None:
    """Rejects invalid models, models of another automaton, and models whose order is too small."""
    for stage, step in _forecast_steps(plan):
        forecast = forecast_of(step.event)
        if forecast.model in tables:
            reader = SymbolReader.of(step, len(stage.inputs), stage.resets)
            Families.of(step, reader, tables[forecast.model], unit)


def _forecast_steps(plan: PhysicalPlan) -> Iterator[tuple[Stage, EventStep]]:
    for stage in plan.stages:
        for step in stage.steps:
            if is_forecast(step.event):
                yield stage, step
