"""Forecasts made ready: for every model that a table holds, what is said in each state of its chain."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.errors import InputError
from inkling.evaluators.forecast.symbols import SymbolReader
from inkling.kernels.chains import FollowTables
from inkling.logical.forecasts import DISTRIBUTION
from inkling.logical.plan import Confidence, Forecast, ForecastKind
from inkling.markov.chain import Chain
from inkling.markov.forecasts import Argmax, Around, Asked, Fixed, ForecastTable, Kind, Point, Shortest, Within
from inkling.markov.model import Model
from inkling.model.batch import EventBatch, Ints
from inkling.physical.naming import physical_name
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """One model of a forecast."""

    follow: FollowTables
    table: ForecastTable
    version: int

    def columns(self, states: NDArray[np.int32]) -> dict[str, pa.Array]:
        """What is said in some states."""
        table, n = self.table, len(states)
        length = table.times.shape[1]
        flat = pa.array(table.times[states].reshape(-1)) if n else pa.array([], pa.float64())
        return {
            "first": pa.array(table.first[states].astype(np.int64)),
            "last": pa.array(table.last[states].astype(np.int64)),
            "expected": pa.array(table.expected[states], mask=np.isnan(table.expected[states])),
            "chance": pa.array(table.chance[states]),
            "model": pa.array(np.full(n, self.version)),
            DISTRIBUTION.name: pa.ListArray.from_arrays(np.arange(n + 1) * length, flat),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Families:
    """The models of a forecast, made ready when the first row asks for them; number 0 is that of all together."""

    step: EventStep
    reader: SymbolReader
    model: Model
    _made: dict[int, Family] = field(default_factory=dict)

    @classmethod
    def of(cls, step: EventStep, reader: SymbolReader, table: pa.Table) -> Families:
        """Checks that a table holds a model which fits a forecast."""
        forecast = step.event.forecast
        assert forecast is not None
        model = _read(table, forecast)
        if model.fingerprint != reader.dfa.fingerprint or model.counts.n_symbols != reader.n_symbols:
            raise InputError.of(
                "INK0631",
                f"the model `{forecast.model}` does not fit `{forecast.of}`",
                notes=(
                    f"it was learned for `{model.event}` with {len(model.alphabet)} kinds of events; "
                    f"there are {reader.n_symbols} now",
                    "the pattern, its conditions or FEATURES have changed since",
                ),
                helps=("learn it again: `inkling fit`",),
            )
        if forecast.order is not None:
            if forecast.order > model.counts.order:
                raise InputError.of(
                    "INK0632",
                    f"`{step.event.name}` asks for ORDER {forecast.order}, but `{forecast.model}` was learned with "
                    f"words for order {model.counts.order}",
                    helps=(f"learn it again: `inkling fit --order {forecast.order}`",),
                )
            model = replace(model, learning=replace(model.learning, order=forecast.order))
        return cls(step, reader, model)

    def of_rows(self, rows: EventBatch) -> Ints:
        """The number of the model that each row belongs to."""
        names, family = family_names(self.step, rows)
        groups = {name: number for number, name in enumerate(self.model.counts.group, 1)}
        separate = self.model.learning.shrinkage is not None
        known = np.array([groups.get(name, 0) if separate else 0 for name in names])
        return known[family]

    def member(self, number: int) -> Family:
        if number not in self._made:
            group = self.model.counts.group[number - 1] if number else None
            contexts = self.model.contexts(group)
            chain = Chain.of(self.reader.delta, self.reader.dfa.final, contexts)
            forecast = self.step.event.forecast
            assert forecast is not None
            table = ForecastTable.of(chain, asked(forecast, self.step.event.confidence))
            self._made[number] = Family(chain.follow_tables(), table, self.model.version)
        return self._made[number]


def family_names(step: EventStep, rows: EventBatch) -> tuple[tuple[str, ...], Ints]:
    """The values of the column that models are told apart by, as texts, and the number of each row's."""
    forecast = step.event.forecast
    assert forecast is not None
    if forecast.by is None:
        return ("",), np.zeros(len(rows), np.int64)
    column = rows.columns[physical_name(forecast.by.name, forecast.by.type)]
    coded = column.cast(pa.string()).fill_null("").dictionary_encode()
    return tuple(coded.dictionary.to_pylist()), coded.indices.to_numpy().astype(np.int64)


def asked(forecast: Forecast, confidence: Confidence | None) -> Asked:
    """A forecast in the words of its model."""
    return Asked(
        _kind(forecast),
        0.0 if confidence is None else confidence.threshold,
        forecast.horizon,
        forecast.spread,
        forecast.remaining,
        forecast.including_final,
    )


def _kind(forecast: Forecast) -> Kind:
    match forecast.kind:
        case ForecastKind.WITHIN:
            return Within(forecast.count or forecast.horizon)
        case ForecastKind.AROUND:
            return Around(forecast.count or 1)
        case ForecastKind.POINT:
            return Point()
        case ForecastKind.SHORTEST:
            return Shortest()
        case ForecastKind.ARGMAX:
            return Argmax()
        case ForecastKind.FIXED:
            return Fixed(forecast.count or 0)


def _read(table: pa.Table, forecast: Forecast) -> Model:
    try:
        return Model.from_arrow(table)
    except ValueError as problem:
        raise InputError.of(
            "INK0630",
            f"the table `{forecast.model}` holds no model",
            notes=(str(problem),),
            helps=("make one with `inkling fit`",),
        ) from None
