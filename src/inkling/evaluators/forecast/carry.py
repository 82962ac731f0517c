"""Forecasts from batch to batch: where every key stands is carried on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from inkling.evaluators.forecast.evaluator import ForecastEvaluator
from inkling.evaluators.forecast.learning import LearningEvaluator
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import event_batch, in_one_piece, key_codes
from inkling.evaluators.stage.layout import Layout
from inkling.evaluators.stage.owners import with_owners
from inkling.evaluators.stage.protocol import Arrived, EventStepper, KeptRows
from inkling.markov.histories import Histories
from inkling.model.batch import FOREVER, MatchBatch

STATE, CODE, EVENTS, LAST = "@state", "@code", "@events", "@last"


class ForecastStepper(EventStepper[ForecastEvaluator | LearningEvaluator]):
    """Goes on with one forecast, or with what is learned for it, over rows that arrive in time order.

    It keeps a row per key: its key, the automaton's state, its last symbols, how many events it had and when the last.
    """

    def start(self) -> KeptRows:
        fields = [r.stage_schema(self.stage).field(name) for name in self._key_names]
        numbers = [pa.field(STATE, pa.int32()), *(pa.field(name, pa.int64()) for name in (CODE, EVENTS, LAST))]
        return KeptRows(pa.schema([*fields, *numbers]).empty_table(), 0)

    def step(self, carry: KeptRows, arrived: Arrived) -> tuple[KeptRows, dict[str, MatchBatch]]:
        """What is said after the next rows."""
        (since, _, _), rows = self.times(arrived), arrived.rows
        if since > -FOREVER:
            rows = rows.filter(pa.array(rows[r.END].to_numpy() > since))
        names, n_known = self._key_names, len(carry.rows)
        if names:
            both = pa.concat_tables([carry.rows.select(names), rows.select(names)])
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
            column[known] = carry.rows[name].to_numpy()
        batch = event_batch(self.stage, rows, codes[n_known:])
        found = self.evaluator.go_on(batch, histories, last)
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
        return KeptRows(after if seen.all() else after.filter(pa.array(seen)), 0), {self.event: found}

    def migrated(self, carry: KeptRows, before: object, layout: Layout, kept: frozenset[str]) -> KeptRows:
        return carry

    @property
    def _key_names(self) -> list[str]:
        return [r.key_name(place) for place in range(len(self.stage.key_types))]
