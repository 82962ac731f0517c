"""The network on streams: joins, relations between segments, recursive events, and windows that keep all rows.

The state holds the rows that may still be part of a match. Each step evaluates the rows of those keys again that have
new rows or waits that may end, and emits only matches that were not known before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.bounds.lag import settled_after, waiting_time
from inkling.analysis.bounds.window import total_horizon
from inkling.analysis.choice import Evaluator
from inkling.analysis.policies import looks_at_scope
from inkling.evaluators.protocol import Moment
from inkling.evaluators.stage.closing import closing_tests
from inkling.evaluators.stage.member import RowsEvaluator, RowsState, StageSetting, StepInput, StepOutput, behind
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import event_batch, in_one_piece, key_codes
from inkling.evaluators.stage.rows.keys import with_owners
from inkling.evaluators.stage.rows.migration import RowMigration
from inkling.evaluators.stage.rows.row_tests import passing, without_resets
from inkling.logical.plan import EventPlan, Per
from inkling.model.batch import FOREVER, Ints, MatchBatch
from inkling.physical.plan import EventStep, LeafTest

MANY_CHUNKS = 64


class NetworkEvaluator(RowsEvaluator[RowsState]):
    """Evaluates some events of a stage again in each step, for keys with new rows or waits that may end.

    Events that read events which are known late are decided with a lag, so that no event counts as absent that is only
    not known yet. Results that another match may change are buffered until they are final. The rows include the
    matches of other evaluators that these events read.
    """

    name = Evaluator.NETWORK
    state_type = RowsState

    def __init__(self, steps: Iterable[EventStep], setting: StageSetting, others: Iterable[str]) -> None:
        """`others`: the events that earlier evaluators of the stage answer."""
        self._steps = tuple(steps)
        self.stage = setting.stage
        self._engine, self._owners, self._others = setting.engine, setting.owners, frozenset(others)
        program, unit = setting.program, setting.context.unit
        self._lags = {step.event.name: setting.lag(step) for step in self._steps}
        self._settles = {step.event.name: settled_after(step.event, program, unit) for step in self._steps}
        waits = {step.event.name: waiting_time(step.event, program, unit) for step in self._steps}
        self._reach = max(self._settles[name] + wait for name, wait in waits.items())
        summing = {step.event.name for step in self._steps if step.event.per is Per.VALUES}
        self._sums_up = bool(summing)
        horizon = total_horizon([step.event for step in self._steps], unit)
        self._horizon = None if horizon is None or summing else horizon + max(self._settles.values())
        self._closing = closing_tests(setting.stage, self._steps, program, unit)
        # rows that can be part of a match, or prevent one
        self._needed = [leaf for step in self._steps for leaf in step.leaves]
        self._needed += [LeafTest(-1, step.scope, (), ()) for step in self._steps if looks_at_scope(step.event)]
        self._derived_sources = tuple(sorted(self._others & {one.source for one in setting.stage.inputs}))
        self._nothing: dict[str, MatchBatch] = {}  # no results, per event

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return tuple(step.event for step in self._steps)

    def start(self) -> RowsState:
        return RowsState(r.stage_schema(self.stage).empty_table(), 0)

    def step(self, state: RowsState, given: StepInput, until: Moment) -> tuple[RowsState, StepOutput]:
        rows, _ = without_resets(self.stage, given.rows)
        if self._others:
            rows = rows.filter(pa.array(passing(rows, self._needed)))
        derived = [self._engine.derived_rows(name, given.found[name]) for name in self._derived_sources]
        fresh = pa.concat_tables([rows, *derived]) if derived else rows
        kept = pa.concat_tables([state.rows, fresh]) if len(fresh) else state.rows
        closing = np.ones(len(fresh), bool) if self._closing is None else passing(fresh, self._closing)
        if self._closing is not None and not closing.any() and self._nothing:
            found = self._nothing
        else:
            found = self._evaluated(kept, closing, given, until.time)
            if not self._nothing:
                self._nothing = {
                    name: replace(one.where(np.zeros(len(one), bool)), place_words=None) for name, one in found.items()
                }
        return self._retained(state, kept, until.time), StepOutput(found)

    def migrated(self, state: RowsState, before: NetworkEvaluator, kept: Collection[str]) -> RowsState:
        return RowsState(RowMigration.between(before.stage, self.stage, kept).rows(state.rows), 0)

    def _evaluated(
        self, kept: pa.Table, closing: NDArray[np.bool_], given: StepInput, until: int
    ) -> dict[str, MatchBatch]:
        after = given.after
        n_key_columns = len(self.stage.key_types)
        rows = in_one_piece(kept)
        if self._closing is not None and after > -FOREVER:
            rows = _with_keys_of(rows, closing, n_key_columns)
            codes, _ = key_codes(rows, n_key_columns)
        else:
            codes, _ = key_codes(rows, n_key_columns)
            if not (self._sums_up and until >= FOREVER):
                rows, codes = self._of_active_keys(rows, codes, after)
        base = event_batch(self.stage, rows, codes)
        known = {name: behind(until, lag) for name, lag in self._lags.items()}
        everything = self._engine.rest(
            rows, codes, base, dict(given.found), known, frozenset(self._derived_sources), given.since
        )
        found = {}
        for step in self._steps:
            name, hold = step.event.name, self._settles[step.event.name]
            found[name] = _fresh(step, everything[name], behind(after, hold), behind(until, hold))
            if self._owners:
                found[name] = with_owners(found[name], rows, codes, n_key_columns)
        return found

    def _of_active_keys(self, rows: pa.Table, codes: Ints, after: int) -> tuple[pa.Table, Ints]:
        """Rows of keys with new rows, or with waits that may end in this step."""
        if not len(rows) or after <= -FOREVER:
            return rows, codes
        moved = np.zeros(int(codes.max()) + 1, bool)
        moved[codes[_known(rows) > behind(after, self._reach)]] = True
        if moved.all():
            return rows, codes
        chosen = moved[codes]
        left = np.cumsum(moved) - 1
        return rows.filter(pa.array(chosen)), left[codes[chosen]]

    def _retained(self, state: RowsState, rows: pa.Table, until: int) -> RowsState:
        if until >= FOREVER:
            return RowsState(rows.slice(0, 0), 0)
        if rows.column(0).num_chunks > MANY_CHUNKS:
            rows = rows.combine_chunks()
        if self._horizon is None or state.is_tidy(rows):
            return RowsState(rows, state.n_trimmed)
        rows = rows.filter(pa.array(rows[r.END].to_numpy() >= until - self._horizon))
        return RowsState(rows, len(rows))


def _with_keys_of(rows: pa.Table, closing: NDArray[np.bool_], n_key_columns: int) -> pa.Table:
    """The rows of the keys of the marked rows; `closing` marks some of the last rows."""
    if not n_key_columns:
        return rows
    first = len(rows) - len(closing)
    key = rows[r.key_name(0)]
    if n_key_columns == 1 and key.type == pa.int64() and not key.null_count:
        keys = key.to_numpy()
        wanted = keys[first:][closing]
        chosen = keys == wanted[0] if len(wanted) == 1 else np.isin(keys, wanted)
    else:
        codes, _ = key_codes(rows, n_key_columns)
        moved = np.zeros(int(codes.max(initial=-1)) + 1, bool)
        moved[codes[first:][closing]] = True
        chosen = moved[codes]
    return rows if chosen.all() else in_one_piece(rows.filter(pa.array(chosen)))


def _known(rows: pa.Table) -> Ints:
    """When each row was known; derived events may have waited."""
    ends = rows[r.END].to_numpy()
    if r.KNOWN not in rows.column_names:
        return np.asarray(ends)
    known = rows[r.KNOWN].combine_chunks()
    return np.where(known.is_valid(), known.fill_null(0).to_numpy(zero_copy_only=False), ends)


def _fresh(step: EventStep, matches: MatchBatch, after: int, until: int) -> MatchBatch:
    """The matches that become known in this step; PER VALUES is known only at the end of the stream."""
    if not len(matches):
        return matches
    if step.event.per is Per.VALUES:
        return matches.where(np.full(len(matches), until >= FOREVER))
    fresh = (matches.detected_at > after) & (matches.detected_at <= until)
    return matches if fresh.all() else matches.where(fresh)
