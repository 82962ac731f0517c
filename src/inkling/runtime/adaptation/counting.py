"""Programs that also count what their models are learned from, in the same pass over the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pyarrow as pa

from inkling.evaluators.forecast.families import Families
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.logical.forecasts import learning_plan
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.logical.settings import as_remembered, is_forecast
from inkling.model.clock import Measure
from inkling.physical.plan import EventStep, PhysicalPlan, Stage

_MARK = "@counts"


def counting_name(model: str) -> str:
    """The event whose results are counts for a model; no event of a user has such a name."""
    return f"{model}{_MARK}"


def counts_for(event: EventPlan) -> str | None:
    """The model for which an event counts, None if it is an event of the program."""
    return event.name.removesuffix(_MARK) if event.name.endswith(_MARK) else None


def is_counting(name: str) -> bool:
    return name.endswith(_MARK)


def with_counting(program: ProgramPlan, orders: Mapping[str, int]) -> ProgramPlan:
    """The program with an event more for each of these models, whose words look back so far."""
    counting = []
    for model, event in first_forecasts(program).items():
        if model in orders:
            learning = learning_plan(as_remembered(event))  # settings come and go, counting goes on
            assert learning.forecast is not None
            name = counting_name(model)
            told = replace(learning.forecast, order=orders[model])
            schema = replace(learning.schema, name=name)
            counting.append(replace(learning, name=name, schema=schema, forecast=told))
    return replace(program, events=(*program.events, *counting))


def first_forecasts(program: ProgramPlan) -> dict[str, EventPlan]:
    """By model the first forecast that uses it."""
    found: dict[str, EventPlan] = {}
    for event in program.events:
        if is_forecast(event):
            assert event.forecast is not None
            found.setdefault(event.forecast.model, event)
    return found


def readers(plan: PhysicalPlan) -> dict[str, tuple[EventStep, SymbolReader]]:
    """By model the forecast that it is for, its automaton, and how rows are spelled for it."""
    found: dict[str, tuple[EventStep, SymbolReader]] = {}
    for stage, step in _forecast_steps(plan):
        forecast = step.event.forecast
        assert forecast is not None
        if forecast.model not in found:
            found[forecast.model] = step, SymbolReader.of(step, len(stage.inputs), stage.resets)
    return found


def require_fitting_models(plan: PhysicalPlan, tables: Mapping[str, pa.Table], measure: Measure) -> None:
    """Refuse models that are none, that were learned for something else, or that do not look back far enough."""
    for stage, step in _forecast_steps(plan):
        forecast = step.event.forecast
        assert forecast is not None
        if forecast.model in tables:
            reader = SymbolReader.of(step, len(stage.inputs), stage.resets)
            Families.of(step, reader, tables[forecast.model], measure)


def _forecast_steps(plan: PhysicalPlan) -> Iterator[tuple[Stage, EventStep]]:
    for stage in plan.stages:
        for step in stage.steps:
            if is_forecast(step.event):
                yield stage, step
