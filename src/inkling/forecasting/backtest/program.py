"""The program that a backtest runs: each forecast at each order, together with detections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from inkling.evaluators.forecast.event import GIVEN
from inkling.forecasting.learning.program import read_by
from inkling.logical.forecasts import DISTRIBUTION, watching_plan
from inkling.logical.plan import EventPlan, Forecast, ForecastKind, ProgramPlan, forecast_of
from inkling.physical.checks import reject_uncertain_training_data
from inkling.physical.plan import PhysicalPlan, Runnable
from inkling.physical.planner import plan_program
from inkling.program_files import ProgramFiles


@dataclass(frozen=True, slots=True)
class ScoredForecast:
    event: EventPlan

    @property
    def name(self) -> str:
        return self.event.name

    @property
    def forecast(self) -> Forecast:
        return forecast_of(self.event)

    @property
    def keys(self) -> tuple[str, ...]:
        """The key columns in the results of a backtest, renamed so that they differ from all other columns."""
        return tuple(f"@{column.name}" for column in self.event.partition)

    @property
    def is_given(self) -> bool:
        return self.forecast.kind in GIVEN

    def watched(self, order: int) -> str:
        """The name of the forecast at an order in the program of the backtest."""
        return f"{self.name}@{order}"

    def asked(self) -> str:
        """The kind of forecast in words."""
        forecast = self.forecast
        kind = forecast.kind
        if kind is ForecastKind.WITHIN:
            return f"within {forecast.count} events" if forecast.within is None else f"within {forecast.within}"
        if kind is ForecastKind.AROUND:
            return f"around the nearest end, {forecast.count} events wide"
        if kind is ForecastKind.POINT:
            return "at one event"
        if kind is ForecastKind.FIXED:
            return f"in {(forecast.count or 0) + 1} events"
        how = "the shortest interval" if kind is ForecastKind.SHORTEST else "an interval around the likeliest event"
        confidence = self.event.confidence
        return how if confidence is None else f"{how} of at least {confidence.threshold:.0%}"


@dataclass(frozen=True, slots=True)
class WatchingProgram:
    """A program whose results are forecasts together with detections; any runner can run it."""

    plan: ProgramPlan
    physical: PhysicalPlan
    files: ProgramFiles

    @classmethod
    def of(cls, program: Runnable, subjects: Sequence[ScoredForecast], orders: Sequence[int]) -> WatchingProgram:
        base = program.physical.program
        events = tuple(_watched(subject, order) for subject in subjects for order in orders)
        models = {subject.forecast.model for subject in subjects}
        others = {one.forecast.model for one in base.events if one.forecast is not None} - models
        tables = tuple(table for table in base.tables if table.name not in others)
        plan = replace(base, tables=tables, events=(*read_by(events, base), *events))
        return cls(plan, plan_program(plan), program.files)

    @property
    def streams(self) -> frozenset[str]:
        return frozenset(source for event in self.plan.events for source in event.sources)

    def to_ink(self) -> str:
        return ""


def subjects_of(program: Runnable) -> tuple[ScoredForecast, ...]:
    forecasts = [event for event in program.physical.program.events if event.forecast is not None]
    reject_uncertain_training_data(program.physical.program, forecasts)
    return tuple(map(ScoredForecast, forecasts))


def _watched(subject: ScoredForecast, order: int) -> EventPlan:
    """The forecast at an order; CONFIDENCE chooses intervals, but does not suppress forecasts about a given one."""
    forecast = replace(subject.forecast, order=order, distribution=False)
    name = subject.watched(order)
    n_keys = len(subject.keys)
    keys = (replace(output, name=key) for output, key in zip(subject.event.head[:n_keys], subject.keys, strict=True))
    shown_outputs = subject.event.head[n_keys:]
    event = watching_plan(
        replace(
            subject.event,
            head=(*keys, *(output for output in shown_outputs if output.name != DISTRIBUTION.name)),
            forecast=forecast,
            confidence=None if subject.is_given else subject.event.confidence,
        )
    )
    return replace(event, name=name, schema=replace(event.schema, name=name))
