"""Forecasts on streams: the state holds the automaton state and the last symbols of each key."""

from collections.abc import Collection

import numpy as np
import pyarrow as pa

from inkling.evaluators.forecast.symbols import SymbolEvent
from inkling.evaluators.protocol import Moment
from inkling.evaluators.stage.member import EventEvaluator, RowsState, StepInput, StepOutput
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import event_batch, in_one_piece, key_codes
from inkling.evaluators.stage.rows.keys import with_owners
from inkling.forecasting.models.counts import Histories
from inkling.model.batch import FOREVER

STATE, CODE, EVENTS, LAST = "@state", "@code", "@events", "@last"


class ForecastEvaluator(EventEvaluator[SymbolEvent, RowsState]):
    """Answers one forecast, or counts for learning its model.

    The state has one row per key: the automaton state, the last symbols, the number of events and the time of the last.
    """

    state_type = RowsState

    def start(self) -> RowsState:
        fields = [r.stage_schema(self.stage).field(name) for name in self._key_names]
        numbers = [pa.field(STATE, pa.int32()), *(pa.field(name, pa.int64()) for name in (CODE, EVENTS, LAST))]
        return RowsState(pa.schema([*fields, *numbers]).empty_table(), 0)

    def step(self, state: RowsState, given: StepInput, until: Moment) -> tuple[RowsState, StepOutput]:
        (since, _, _), rows = self.times(given, until), given.rows
        if since > -FOREVER:
            rows = rows.filter(pa.array(rows[r.END].to_numpy() > since))
        names, n_known = self._key_names, len(state.rows)
        if names:
            both = pa.concat_tables([state.rows.select(names), rows.select(names)])
            codes, keys = key_codes(in_one_piece(both), len(names))
            n_keys = len(keys)
        else:
            codes, n_keys = np.zeros(n_known + len(rows), np.int64), min(1, n_known + len(rows))
            keys = pa.table({})
        histories, last = Histories.new(n_keys), np.full(n_keys, -FOREVER)
        known = codes[:n_known]
        stored: dict[str, np.ndarray] = {
            STATE: histories.state,
            CODE: histories.code,
            EVENTS: histories.events,
            LAST: last,
        }
        for name, column in stored.items():
            column[known] = state.rows[name].to_numpy()
        batch = event_batch(self.stage, rows, codes[n_known:])
        found = self.event.go_on(batch, histories, last)
        if self.owners:
            found = with_owners(found, rows, codes[n_known:], len(names))
        columns = {name: keys[name] for name in names}
        columns |= {
            STATE: pa.array(histories.state),
            CODE: pa.array(histories.code),
            EVENTS: pa.array(histories.events),
            LAST: pa.array(last),
        }
        seen = histories.events > 0
        after = pa.table(columns)
        return RowsState(after if seen.all() else after.filter(pa.array(seen)), 0), StepOutput({found.event: found})

    def migrated(self, state: RowsState, before: object, kept: Collection[str]) -> RowsState:
        return state

    @property
    def _key_names(self) -> list[str]:
        return [r.key_name(place) for place in range(len(self.stage.key_types))]
