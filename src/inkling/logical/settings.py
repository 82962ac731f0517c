"""Settings that can be changed while a program runs: parameters of forecasts, and lateness and withdrawals of streams.

The state of a program does not depend on these settings, so the program continues from its state with other settings.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from inkling.logical import plan as p
from inkling.logical.plan import EventPlan, Forecast, ForecastKind, ProgramPlan, StreamPlan
from inkling.model.time import MICROSECONDS, Duration

Settings: TypeAlias = Mapping[str, Mapping[str, float]]
"""By forecast and parameter; other parameters are as declared in the program."""

PARAMETERS = ("order", "confidence", "within", "spread", "horizon")

MOST_AHEAD = 100_000
"""Largest horizon of a forecast in events: a forecast stores a number per event ahead and state."""


class SettingError(ValueError):
    """An invalid setting; the text says why."""


def with_settings(program: ProgramPlan, settings: Settings) -> ProgramPlan:
    """The program with other settings of its forecasts; raises `SettingError`."""
    if not settings:
        return program
    unknown = sorted(set(settings) - {event.name for event in program.events if is_forecast(event)})
    if unknown:
        raise SettingError(f"the program has no forecast called `{unknown[0]}`{_known(program)}")
    changed = [_with_all(event, settings.get(event.name, {})) for event in program.events]
    return replace(program, events=tuple(changed))


def is_forecast(event: EventPlan) -> bool:
    """Whether the results of an event are forecasts, not training counts."""
    return event.forecast is not None and not event.forecast.learns


def without_settings(event: EventPlan) -> EventPlan:
    """The event without changeable settings; forecasts that are equal then can continue from each other's state."""
    if event.forecast is None or event.forecast.learns:
        return event
    plain = replace(
        event.forecast,
        kind=ForecastKind.POINT,
        model="",
        count=None,
        within=None,
        order=None,
        horizon=0,
        spread=None,
        remaining=None,
        including_final=False,
    )
    return replace(event, forecast=plain, confidence=None)


def as_number(value: object) -> float:
    """The number in a control message."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise SettingError(f"{value!r} is not a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise SettingError(f"{value!r} is not a number") from None
    if not math.isfinite(number):
        raise SettingError(f"{value!r} is not a finite number")
    return number


def _with_all(event: EventPlan, settings: Mapping[str, float]) -> EventPlan:
    for parameter, value in settings.items():
        event = _with(event, parameter, value)
    return event


def _with(event: EventPlan, parameter: str, value: float) -> EventPlan:
    forecast = p.forecast_of(event)
    match parameter:
        case "confidence":
            if not 0 <= value <= 1:
                raise SettingError(f"a confidence must be between 0 and 1, found {value:g}")
            strict = event.confidence is not None and event.confidence.strict
            return replace(event, confidence=p.Confidence(value, strict))
        case "order":
            return replace(event, forecast=replace(forecast, order=_whole(parameter, value, 0)))
        case "within":
            return replace(event, forecast=_within(event.name, forecast, _whole(parameter, value, 1)))
        case "spread":
            return replace(event, forecast=_spread(event.name, forecast, _whole(parameter, value, 0)))
        case "horizon":
            if forecast.kind is ForecastKind.WITHIN:
                raise SettingError(f"the horizon of `{event.name}` is its WITHIN; change `within`")
            return replace(event, forecast=replace(forecast, horizon=_whole(parameter, value, 1)))
        case _:
            raise SettingError(f"unknown setting `{parameter}`; the settings are {', '.join(PARAMETERS)}")


def _within(name: str, forecast: Forecast, n: int) -> Forecast:
    if forecast.within is not None:
        raise SettingError(f"`{name}` is WITHIN a length of time, and only a number of events can be changed")
    match forecast.kind:
        case ForecastKind.WITHIN:
            return replace(forecast, count=n, horizon=n)
        case ForecastKind.AROUND:
            return replace(forecast, count=n)
        case _:
            raise SettingError(f"`{name}` is not a forecast WITHIN or AROUND a number of events")


def _spread(name: str, forecast: Forecast, n: int) -> Forecast:
    match forecast.kind:
        case ForecastKind.SHORTEST | ForecastKind.ARGMAX:
            return replace(forecast, spread=n)
        case ForecastKind.FIXED:
            return replace(forecast, count=n)
        case _:
            raise SettingError(f"`{name}` has no interval whose SPREAD could be changed")


def _whole(parameter: str, value: float, least: int) -> int:
    if value != int(value):
        raise SettingError(f"`{parameter}` must be a whole number, found {value:g}")
    if not least <= value <= MOST_AHEAD:
        raise SettingError(f"`{parameter}` must be between {least} and {MOST_AHEAD}, found {value:g}")
    return int(value)


def _known(program: ProgramPlan) -> str:
    names = [event.name for event in program.events if is_forecast(event)]
    return f"; its forecasts are {', '.join(names)}" if names else "; it has none"


_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s+([A-Za-z]+)\s*")


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """Durations such as `10 MINUTES`; None for what stays as declared in the program."""

    lateness: str | None = None
    withdrawals: str | None = None


StreamWindows: TypeAlias = Mapping[str, StreamWindow]


def with_windows(program: ProgramPlan, windows: StreamWindows) -> ProgramPlan:
    """The program with other windows of some of its streams; raises `SettingError`."""
    if not windows:
        return program
    changed = [_changed(one, windows.get(one.schema.name, StreamWindow())) for one in program.streams]
    return replace(program, streams=tuple(changed))


def _changed(stream: StreamPlan, window: StreamWindow) -> StreamPlan:
    schema = stream.schema
    late = schema.late if window.lateness is None else span_of(window.lateness)
    op_for = schema.op_for if window.withdrawals is None else span_of(window.withdrawals)
    if window.withdrawals is not None and schema.op is None:
        raise SettingError(f"rows of `{schema.name}` are never withdrawn: it has no OP")
    for span in (late, op_for):
        if span is not None:
            _require_measurable(span, stream)
    if late is not None and op_for is not None and schema.units(op_for) < schema.units(late):
        raise SettingError(f"rows of `{schema.name}` could arrive later than they can be withdrawn: {late} > {op_for}")
    return replace(stream, schema=replace(schema, late=late, op_for=op_for))


def _require_measurable(span: Duration, stream: StreamPlan) -> None:
    try:
        stream.schema.units(span)
    except ValueError as problem:
        raise SettingError(str(problem)) from None


def span_of(text: str) -> Duration:
    """A length of time from its text.

    >>> span_of("90 seconds")
    Duration(amount=Fraction(90, 1), unit='SECONDS')
    """
    found = _WRITTEN.fullmatch(text)
    unit = "" if found is None else found[2].upper()
    unit = unit if unit.endswith("S") else f"{unit}S"
    if found is None or unit not in (*MICROSECONDS, "TICKS"):
        raise SettingError(f"`{text}` is not a length of time, such as `10 MINUTES`")
    return Duration(Fraction(found[1]), unit)
