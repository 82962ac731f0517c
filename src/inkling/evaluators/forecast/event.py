"""One forecast after each event: rows move a Markov chain of states, and each state has a precomputed forecast.

Ntoulias et al. (Wayeb), section 3.2. `WatchingEvent` also reports, for scoring, whether each event completes the
pattern.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.forecast.families import Families, ForecastFamily
from inkling.evaluators.forecast.symbols import SymbolEvent
from inkling.evaluators.gather import Gather, lineage_ids
from inkling.forecasting.models.chain import MarkovChain
from inkling.forecasting.models.counts import Histories
from inkling.forecasting.models.full_order import independent
from inkling.kernels.forecast.chains import follow
from inkling.logical import expr as e
from inkling.logical.forecasts import DISTRIBUTION, FORECAST, PLACE_COLUMNS
from inkling.logical.plan import ForecastKind, forecast_of
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.batch import EventBatch, Ints, MatchBatch

PLACES = tuple(column.name for column in PLACE_COLUMNS)


@dataclass(frozen=True)
class ForecastEvent(SymbolEvent):
    """Forecasts after each event of its scope when the pattern will be detected next."""

    model: pa.Table
    _empty: dict[pa.DataType, MatchBatch] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def families(self) -> Families:
        return Families.of(self.step, self.reader, self.model, self.context.unit)

    @property
    def _shows_places(self) -> bool:
        return any(output.name in PLACES for output in self.step.event.head)

    def go_on(self, batch: EventBatch, histories: Histories, last: Ints) -> MatchBatch:
        rows = self.reader.in_scope(batch)
        if not len(rows):
            return self._nothing(batch)
        symbols, segments = self.reader.read(rows)
        keys = rows.key[segments[:-1]]
        before = Histories(histories.state[keys], histories.code[keys], histories.events[keys])
        number = _numbers(symbols, segments, before.events)
        issued, after = [], before
        family, memory = self.families.of_rows(rows), self.reader.memory
        for one in np.unique(family):
            here = self.families.member(int(one))
            after = before.copy()
            found = np.empty(len(rows), np.int32)
            follow(here.follow, symbols, segments, memory, False, after.state, after.code, after.events, found)
            state = np.where(family == one, found, np.int32(-1))
            chosen = np.flatnonzero(state >= 0)
            chosen = chosen[here.issued[state[chosen]]]
            issued.append((one, chosen, state[chosen]))
        histories.state[keys], histories.code[keys], histories.events[keys] = after.state, after.code, after.events
        last[keys] = rows.end[segments[1:] - 1]
        return self._results(rows, issued, number)

    def _results(self, rows: EventBatch, issued: list[tuple[int, Ints, NDArray[np.int32]]], number: Ints) -> MatchBatch:
        chosen = np.concatenate([some for _, some, _ in issued])
        order = np.argsort(chosen, kind="stable")
        picked = chosen[order]
        if not len(picked):
            return self._nothing(rows)
        columns = {name: pa.concat_arrays(parts).take(pa.array(order)) for name, parts in self._columns(issued).items()}
        columns["event_number"] = pa.array(number[picked])
        return self._batch(rows, picked, columns)

    def _columns(self, issued: list[tuple[int, Ints, NDArray[np.int32]]]) -> dict[str, list[pa.Array]]:
        columns: dict[str, list[pa.Array]] = {}
        forecast = forecast_of(self.step.event)
        for one, _, states in issued:
            found = self.families.member(one).columns(states, distribution=forecast.distribution)
            if self._shows_places:
                for name, values in zip(PLACES, (np.full(len(states), one), states), strict=True):
                    found[name] = pa.array(values.astype(np.int64))
            for name, column in found.items():
                columns.setdefault(name, []).append(column)
        return columns

    def _batch(self, rows: EventBatch, picked: Ints, issued: dict[str, pa.Array]) -> MatchBatch:
        event = self.step.event
        offsets = np.arange(len(picked) + 1)
        resolve = Gather(rows, offsets, picked, np.zeros(len(picked), np.int64))
        values = {
            output.name: issued[output.name]
            if isinstance(output.expr, e.ColumnOf) and output.expr.slot == FORECAST
            else evaluate(output.expr, resolve, len(picked), self.context)
            for output in event.head
        }
        end, place = rows.end[picked], rows.end_place[picked]
        return MatchBatch(
            event.name,
            rows.key[picked],
            end,
            place,
            end,
            place,
            rows.known[picked],
            values,
            lineage_ids(rows, offsets, picked),
            rows.place_words,
        )

    def _nothing(self, batch: EventBatch) -> MatchBatch:
        kind = batch.ids.type
        if kind not in self._empty:
            none = np.empty(0, np.int64)
            self._empty[kind] = self._batch(batch.take(none), none, _no_columns())
        return self._empty[kind]


def _no_columns() -> dict[str, pa.Array]:
    whole, real = pa.array([], pa.int64()), pa.array([], pa.float64())
    numbers = dict.fromkeys(("event_number", "first", "last", "model", *PLACES), whole)
    listed = pa.array([], pa.list_(pa.float64()))
    return {**numbers, "expected": real, "chance": real, "margin": real, DISTRIBUTION.name: listed}


def _numbers(symbols: NDArray[np.int32], segments: Ints, before: Ints) -> Ints:
    """The number of each event of its key since the first event or the last reset."""
    n = len(symbols)
    here = np.arange(n)
    first = np.repeat(segments[:-1], np.diff(segments))
    counted = here - first + 1 + np.repeat(before, np.diff(segments))
    resets = np.flatnonzero(symbols < 0)
    if len(resets):
        last_reset = np.full(n, -1)
        last_reset[resets] = resets
        last_reset = np.maximum.accumulate(last_reset)
        counted = np.where(last_reset >= first, here - last_reset, counted)
    return counted


GIVEN = (ForecastKind.WITHIN, ForecastKind.AROUND)
"""Kinds of forecasts about a given interval of events; the other kinds choose the interval."""


class WatchedFamilies(Families):
    """Forecasts about a given interval of events are reported wherever one is made, even with probability 0."""

    def member(self, number: int) -> ForecastFamily:
        family = super().member(number)
        forecast = forecast_of(self.step.event)
        return replace(family, issued=family.table.eligible) if forecast.kind in GIVEN else family


@dataclass(frozen=True)
class WatchingEvent(ForecastEvent):
    """The forecast after each event, null where none is made, and whether the event completes the pattern."""

    @cached_property
    def families(self) -> WatchedFamilies:
        found = WatchedFamilies.of(self.step, self.reader, self.model, self.context.unit)
        assert isinstance(found, WatchedFamilies)
        return found

    @cached_property
    def _automaton(self) -> MarkovChain:
        law = np.full(self.reader.n_symbols, 1 / self.reader.n_symbols)
        return MarkovChain.of(self.reader.delta, self.reader.dfa.final, independent(law))

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
    """The number of resets of its key before each row."""
    resets = np.cumsum(symbols < 0)
    before: Ints = resets[segments[:-1]] - (symbols[segments[:-1]] < 0)
    return np.asarray(resets - np.repeat(before, np.diff(segments)), np.int64)
