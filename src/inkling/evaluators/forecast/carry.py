"""Forecasts from batch to batch: where every key stands is carried on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.forecast.evaluator import ForecastEvaluator
from inkling.evaluators.forecast.learning import LearningEvaluator
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import event_batch, in_one_piece, key_codes
from inkling.evaluators.stage.owners import with_owners
from inkling.markov.histories import Histories
from inkling.model.batch import FOREVER, MatchBatch
from inkling.physical.plan import Stage

STATE, CODE, EVENTS, LAST = "@state", "@code", "@events", "@last"


@dataclass(frozen=True, slots=True)
class ForecastCarry:
    """A row per key: its key, the automaton's state, its last symbols, how many events it had and when the last."""

    keys: pa.Table


@dataclass(frozen=True, slots=True)
class ForecastStepper:
    """Goes on with one forecast, or with what is learned for it, over rows that arrive in time order."""

    stage: Stage
    evaluator: ForecastEvaluator | LearningEvaluator
    owners: bool = False  # whether results say whose they are

    def start(self) -> ForecastCarry:
        fields = [r.stage_schema(self.stage).field(name) for name in self._key_names]
        numbers = [pa.field(STATE, pa.int32()), *(pa.field(name, pa.int64()) for name in (CODE, EVENTS, LAST))]
        return ForecastCarry(pa.schema([*fields, *numbers]).empty_table())

    def step(self, carry: ForecastCarry, rows: pa.Table, since: int) -> tuple[ForecastCarry, MatchBatch]:
        """What is said after the next rows; rows that end by `since` are not seen."""
        if since > -FOREVER:
            rows = rows.filter(pa.array(rows[r.END].to_numpy() > since))
        names, n_known = self._key_names, len(carry.keys)
        if names:
            both = pa.concat_tables([carry.keys.select(names), rows.select(names)])
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
            column[known] = carry.keys[name].to_numpy()
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
        return ForecastCarry(after if seen.all() else after.filter(pa.array(seen))), found

    @property
    def _key_names(self) -> list[str]:
        return [r.key_name(place) for place in range(len(self.stage.key_types))]
