"""Forecasts made ready: for every model that a table holds, the forecast in each state of its chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.evaluators.forecast.symbols import SymbolReader, symbol_words
from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.durations import WithinDuration, within_duration
from inkling.forecasting.models.forecasts import (
    Argmax,
    Around,
    Asked,
    Fixed,
    ForecastTable,
    Kind,
    PointForecast,
    Shortest,
    Within,
)
from inkling.forecasting.models.model import ForecastModel
from inkling.io.tables import maker_of
from inkling.kernels.forecast.chains import FollowTables
from inkling.logical import plan as p
from inkling.logical.forecasts import DISTRIBUTION
from inkling.logical.plan import Forecast, ForecastKind
from inkling.model.batch import EventBatch, Ints
from inkling.model.time import Duration
from inkling.physical.naming import physical_name
from inkling.physical.plan import EventStep

MOST_SHOWN = 6


def require_fitting(model: ForecastModel, step: EventStep, reader: SymbolReader, made_by: str) -> None:
    """Rejects a model that was learned for another event, and names the differences."""
    forecast = p.forecast_of(step.event)
    words = symbol_words(step, reader)
    same_words = model.alphabet == words or not _is_named(model)
    if model.fingerprint == reader.dfa.fingerprint and model.counts.n_symbols == reader.n_symbols and same_words:
        return
    raise InputError.of(
        "INK0631",
        f"the model `{forecast.model}` does not fit `{forecast.of}`",
        notes=_differences(model, forecast.of, words),
        helps=(f"learn it again: `{made_by}`",),
    )


def _is_named(model: ForecastModel) -> bool:
    """Whether the symbols of a model have names, which can be compared."""
    return model.alphabet != tuple(map(str, range(len(model.alphabet))))


def _differences(model: ForecastModel, event: str, words: tuple[str, ...]) -> tuple[str, ...]:
    notes = [] if model.event == event else [f"the model was learned for `{model.event}`"]
    gone = [word for word in model.alphabet if word not in words]
    new = [word for word in words if word not in model.alphabet]
    if _is_named(model) and gone:
        notes.append(f"the model distinguishes events that the program does not: {_some_of(gone)}")
    if _is_named(model) and new:
        notes.append(f"the program distinguishes events that the model does not: {_some_of(new)}")
    if len(model.alphabet) != len(words):
        notes.append(f"the model has {len(model.alphabet)} kinds of events, the program {len(words)}")
    if not notes:
        notes.append(
            "the model distinguishes the same events, but the pattern has them in another order or number, "
            "or CONSUME RESTART was added or removed"
        )
    return tuple(notes)


def _some_of(words: list[str]) -> str:
    shown = "; ".join(words[:MOST_SHOWN])
    return shown if len(words) <= MOST_SHOWN else f"{shown}; and {len(words) - MOST_SHOWN} more"


SLACK = 1e-12
"""Equal probabilities may differ by this much after summation."""

MOST_CELLS = 100_000_000
"""The limit on precomputed probabilities of waiting times: states times events ahead."""


@dataclass(frozen=True, slots=True, eq=False)
class ForecastFamily:
    """One model of a forecast."""

    follow: FollowTables
    table: ForecastTable
    version: int
    within: WithinDuration | None = None
    issued: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))

    def columns(self, states: NDArray[np.int32], *, distribution: bool) -> dict[str, pa.Array]:
        """The forecasts in some states."""
        table, within, n = self.table, self.within, len(states)
        timed = within is not None
        shown = {DISTRIBUTION.name: _listed(table.times, states)} if distribution else {}
        return shown | {
            "first": pa.nulls(n, pa.int64()) if timed else pa.array(table.first[states].astype(np.int64)),
            "last": pa.nulls(n, pa.int64()) if timed else pa.array(table.last[states].astype(np.int64)),
            "expected": pa.array(table.expected[states], mask=np.isnan(table.expected[states]) | timed),
            "chance": pa.array(table.chance[states] if within is None else within.chance[states]),
            "margin": pa.array(np.zeros(n) if within is None else within.half_width[states]),
            "model": pa.array(np.full(n, self.version)),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Families:
    """The models of a forecast, prepared on first use; number 0 is the model of all families together."""

    step: EventStep
    reader: SymbolReader
    model: ForecastModel
    unit: Callable[[Duration], int]
    _made: dict[int, ForecastFamily] = field(default_factory=dict)

    @classmethod
    def of(cls, step: EventStep, reader: SymbolReader, table: pa.Table, unit: Callable[[Duration], int]) -> Families:
        """Checks that a table holds a model which fits a forecast."""
        forecast = p.forecast_of(step.event)
        model = _read(table, forecast)
        made_by = maker_of(table)
        require_fitting(model, step, reader, made_by)
        if forecast.order is not None:
            if forecast.order > model.counts.order:
                raise InputError.of(
                    "INK0632",
                    f"`{step.event.name}` has ORDER {forecast.order}, but the model `{forecast.model}` has at most "
                    f"order {model.counts.order}",
                    helps=(f"learn it again: `{made_by} --order {forecast.order}`",),
                )
            model = replace(model, learning=replace(model.learning, order=forecast.order))
        return cls(step, reader, model, unit)

    def of_rows(self, rows: EventBatch) -> Ints:
        """The number of the model that each row belongs to."""
        names, family = family_names(self.step, rows)
        return self.numbers(names)[family]

    def numbers(self, names: Sequence[str]) -> Ints:
        """The numbers of the models that belong to values of the column that models are distinguished by."""
        groups = {name: number for number, name in enumerate(self.model.counts.group, 1)}
        separate = self.model.learning.shrinkage is not None
        return np.array([groups.get(name, 0) if separate else 0 for name in names], np.int64)

    def member(self, number: int) -> ForecastFamily:
        if number not in self._made:
            group = self.model.counts.group[number - 1] if number else None
            forecast = p.forecast_of(self.step.event)
            confidence = self.step.event.confidence
            chain = self._chain(group, forecast)
            wanted = asked(forecast, confidence)
            _reject_large(self.step.event.name, chain.n_states, wanted.horizon_for(chain))
            table = ForecastTable.of(chain, wanted, self.model.waiting_times(chain, wanted.horizon_for(chain)))
            within = self._within(chain, group, forecast)
            issued = _issued(table, within, confidence)
            self._made[number] = ForecastFamily(chain.follow_tables(), table, self.model.version, within, issued)
        return self._made[number]

    def on(self, number: int, belief: NDArray[np.float64]) -> ForecastFamily:
        """The forecasts of a model for beliefs over its states, [row, state]."""
        known = self.member(number)
        table, within = known.table.on(belief), known.within
        if within is not None:
            within = within.on(belief)
        return replace(known, table=table, within=within, issued=_issued(table, within, self.step.event.confidence))

    def _chain(self, group: str | None, forecast: Forecast) -> MarkovChain:
        try:
            return MarkovChain.of(self.reader.delta, self.reader.dfa.final, self.model.contexts(group))
        except ValueError as problem:
            raise InputError.of(
                "INK0633",
                f"the model `{forecast.model}` is too large to forecast with",
                notes=(str(problem),),
                helps=("use a smaller `ORDER n`",),
            ) from None

    def _within(self, chain: MarkovChain, group: str | None, forecast: Forecast) -> WithinDuration | None:
        if forecast.within is None or not self.model.n_events:
            return None  # a model without observations is no error; it makes no forecasts
        gaps = self.model.gaps_of(group)
        if not len(gaps.count):
            raise InputError.of(
                "INK0630",
                f"the model `{forecast.model}` has no times between events",
                notes=("no key had two events in the training data",),
                helps=("forecast `WITHIN n EVENTS`, or learn from more rows",),
            )
        return within_duration(chain, gaps, self.unit(forecast.within))


def _issued(table: ForecastTable, within: WithinDuration | None, confidence: p.Confidence | None) -> NDArray[np.bool_]:
    """The states in which a forecast is made and reaches CONFIDENCE."""
    issued = table.issued
    if within is not None:
        least = 0 if confidence is None else confidence.threshold - SLACK
        issued = table.eligible & (within.chance >= least) & (within.chance > 0)
    if confidence is not None and confidence.strict:
        chance = table.chance if within is None else within.chance
        issued = issued & (chance > confidence.threshold + SLACK)
    return issued


def _reject_large(event: str, n_states: int, n_ahead: int) -> None:
    if n_states * n_ahead > MOST_CELLS:
        raise InputError.of(
            "INK0633",
            f"`{event}` would need a table of {n_states * n_ahead:,} probabilities, more than {MOST_CELLS:,}",
            notes=(f"its model has {n_states:,} states, and it looks {n_ahead:,} events ahead",),
            helps=("use a smaller HORIZON or a smaller ORDER",),
        )


def _listed(times: NDArray[np.float64], states: NDArray[np.int32]) -> pa.ListArray:
    """The waiting times of some states, a list each."""
    if len(states) * times.shape[1] >= 1 << 31:
        raise InputError.of(
            "INK0602",
            f"{len(states):,} forecasts that list {times.shape[1]:,} probabilities each do not fit into one batch",
            helps=("use a smaller HORIZON, or leave RETURN DISTRIBUTION out",),
        )
    flat = pa.array(times[states].reshape(-1), pa.float64())
    return pa.ListArray.from_arrays(pa.array(np.arange(len(states) + 1) * times.shape[1], pa.int32()), flat)


def family_names(step: EventStep, rows: EventBatch) -> tuple[tuple[str, ...], Ints]:
    """The values of the column that models are distinguished by, as texts, and the number of each row's."""
    forecast = p.forecast_of(step.event)
    if forecast.by is None:
        return ("",), np.zeros(len(rows), np.int64)
    column = rows.columns[physical_name(forecast.by.name, forecast.by.type)]
    coded = column.cast(pa.string()).fill_null("").dictionary_encode()
    return tuple(coded.dictionary.to_pylist()), coded.indices.to_numpy().astype(np.int64)


def asked(forecast: Forecast, confidence: p.Confidence | None) -> Asked:
    """The request of a forecast to its model."""
    least = 0.0 if confidence is None else confidence.threshold
    if confidence is not None and confidence.strict:
        least = min(1.0, least + 2 * SLACK)  # strictly more than the threshold
    return Asked(
        _kind(forecast), least, forecast.horizon, forecast.spread, forecast.remaining, forecast.including_final
    )


def _kind(forecast: Forecast) -> Kind:
    match forecast.kind:
        case ForecastKind.WITHIN:
            return Within(forecast.count or forecast.horizon)
        case ForecastKind.AROUND:
            return Around(forecast.count or 1)
        case ForecastKind.POINT:
            return PointForecast()
        case ForecastKind.SHORTEST:
            return Shortest()
        case ForecastKind.ARGMAX:
            return Argmax()
        case ForecastKind.FIXED:
            return Fixed(forecast.count or 0)


def _read(table: pa.Table, forecast: Forecast) -> ForecastModel:
    try:
        return ForecastModel.from_arrow(table)
    except ValueError as problem:
        raise InputError.of(
            "INK0630",
            f"the table `{forecast.model}` is not a model",
            notes=(str(problem),),
            helps=("learn one with `inkling fit`",),
        ) from None
