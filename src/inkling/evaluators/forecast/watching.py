"""Forecasts beside the truth: for every event the forecast after it, and whether it completes the pattern."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.forecast.event import ForecastEvent
from inkling.evaluators.forecast.families import Families, ForecastFamily
from inkling.forecasting.models.chain import Chain
from inkling.forecasting.models.counts import Histories
from inkling.forecasting.models.full_order import independent
from inkling.logical.plan import ForecastKind
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import EventBatch, Ints, MatchBatch

GIVEN = (ForecastKind.WITHIN, ForecastKind.AROUND)
"""Kinds of forecasts about a given interval of events; the other kinds choose the interval."""


class WatchedFamilies(Families):
    """A forecast about a given stretch of events speaks wherever one is made, also where it has no chance at all."""

    def member(self, number: int) -> ForecastFamily:
        family = super().member(number)
        forecast = self.step.event.forecast
        assert forecast is not None
        return replace(family, issued=family.table.eligible) if forecast.kind in GIVEN else family


@dataclass(frozen=True)
class WatchingEvent(ForecastEvent):
    """Says the same as the forecast, and nothing where that is silent; reads whole keys."""

    @cached_property
    def families(self) -> WatchedFamilies:
        found = WatchedFamilies.of(self.step, self.reader, self.model, self.context.unit)
        assert isinstance(found, WatchedFamilies)
        return found

    @cached_property
    def _automaton(self) -> Chain:
        law = np.full(self.reader.n_symbols, 1 / self.reader.n_symbols)
        return Chain.of(self.reader.delta, self.reader.dfa.final, independent(law))

    def _results(self, rows: EventBatch, issued: list[tuple[int, Ints, NDArray[np.int32]]], number: Ints) -> MatchBatch:
        symbols, segments = self.reader.read(rows)
        state = self._automaton.follow(symbols, segments, Histories.new(len(segments) - 1), memory=0)
        picked = np.flatnonzero(symbols >= 0)
        place = np.full(len(rows), -1)
        chosen = np.concatenate([some for _, some, _ in issued])
        place[chosen] = np.arange(len(chosen))
        at = place[picked]
        where = pa.array(at, mask=at < 0)
        columns = {name: pa.concat_arrays(parts).take(where) for name, parts in self._columns(issued).items()}
        columns["event_number"] = pa.array(number[picked])
        columns["life"] = pa.array(_lives(symbols, segments)[picked])
        columns["detected"] = pa.array(self._automaton.final[state[picked]])
        return self._batch(rows, picked, columns)

    def _nothing(self, batch: EventBatch) -> MatchBatch:
        none = np.empty(0, np.int64)
        columns = {output.name: pa.array([], ARROW_TYPES[output.type]) for output in self.step.event.head}
        return self._batch(batch.take(none), none, columns)


def _lives(symbols: NDArray[np.int32], segments: Ints) -> Ints:
    """How often each row's key was reset before it."""
    resets = np.cumsum(symbols < 0)
    before: Ints = resets[segments[:-1]] - (symbols[segments[:-1]] < 0)
    return np.asarray(resets - np.repeat(before, np.diff(segments)), np.int64)
