"""Consumption policies on streams: the state holds the occurrences that wait for a partner, and their rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.analysis.bounds.bounded import longest_wait
from inkling.evaluators.consumption.event import ConsumptionEvent, Stores
from inkling.evaluators.consumption.pairs import RowLayout, StoredOccurrences, row_layout
from inkling.evaluators.protocol import Moment
from inkling.evaluators.stage.member import EventEvaluator, RowsState, StageSetting, StepInput, StepOutput
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import event_batch_and_order, in_one_piece, key_codes
from inkling.evaluators.stage.rows.keys import Owners, with_owners
from inkling.evaluators.stage.rows.row_tests import of_moved_keys, passing, retained_rows
from inkling.logical.plan import Per
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch
from inkling.physical.plan import EventStep, LeafTest

STORE = "store"
"""Column of stored occurrences: 2 * number of the pair, plus 1 for the right side."""


@dataclass(frozen=True, slots=True)
class ConsumptionState(RowsState):
    """Stage rows, and stored occurrences as row numbers, one column per slot."""

    stored: pa.Table


class ConsumptionEvaluator(EventEvaluator[ConsumptionEvent, ConsumptionState]):
    """Answers one event with a consumption policy."""

    state_type = ConsumptionState

    @staticmethod
    def takes(step: EventStep, setting: StageSetting) -> bool:
        """Events that are not recursive and not PER VALUES; the network answers the others."""
        return step.event.per is not Per.VALUES and step.event.name not in setting.engine.recursive

    @cached_property
    def layout(self) -> RowLayout:
        return row_layout(self.event.step)

    @cached_property
    def _absent(self) -> tuple[LeafTest, ...]:
        """The leaves of absent patterns: their rows can prevent a match but are never part of one."""
        return tuple(leaf for leaf in self.event.step.leaves if leaf.slot not in self.layout.slots)

    @cached_property
    def _longest(self) -> int | None:
        """The longest time that an occurrence can wait for a partner; None without a limit."""
        return longest_wait(self.event.step.event, self.event.context.unit)

    def start(self) -> ConsumptionState:
        return ConsumptionState(r.stage_schema(self.stage).empty_table(), 0, self._no_store())

    def step(self, state: ConsumptionState, given: StepInput, until: Moment) -> tuple[ConsumptionState, StepOutput]:
        since, done, now = self.times(given, until)
        held = retained_rows(state.rows, given.rows, self.event.step.leaves, since)
        chosen = self._chosen(held, done, now)
        if not len(chosen):
            matches, stored = self._evaluated(held.slice(0, 0), chosen, done, self._no_store())[0], state.stored
        else:
            moved = np.zeros(len(held), bool)
            moved[chosen] = True
            here = moved[_any_row(state.stored)]
            matches, after = self._evaluated(held, chosen, done, state.stored.filter(pa.array(here)))
            stored = pa.concat_tables([state.stored.filter(pa.array(~here)), after])
        kept = self._trimmed(ConsumptionState(held, state.n_trimmed, stored), now)
        return kept, StepOutput({matches.event: matches})

    def split(self, state: ConsumptionState, owners: Owners) -> tuple[ConsumptionState, ConsumptionState]:
        is_theirs = self._is_theirs(state.rows, owners)
        return _where(state, is_theirs), _where(state, ~is_theirs)

    def merge(self, left: ConsumptionState, right: ConsumptionState) -> ConsumptionState:
        stored = _moved(right.stored, np.arange(len(right.rows)) + len(left.rows))
        return ConsumptionState(
            in_one_piece(pa.concat_tables([left.rows, right.rows])),
            left.n_trimmed + right.n_trimmed,
            pa.concat_tables([left.stored, stored]).combine_chunks(),
        )

    def _chosen(self, held: pa.Table, done: int, until: int) -> Ints:
        """The rows of keys with new rows."""
        return np.flatnonzero(of_moved_keys(held, len(self.stage.key_types), done, until))

    def _evaluated(self, held: pa.Table, chosen: Ints, done: int, stored: pa.Table) -> tuple[MatchBatch, pa.Table]:
        rows = held if len(chosen) == len(held) else in_one_piece(held.take(pa.array(chosen)))
        codes, _ = key_codes(rows, len(self.stage.key_types))
        batch, order = event_batch_and_order(self.stage, rows, codes)
        held_at = chosen[order]  # places in `held` by place in the batch
        batch_at = np.full(len(held), -1)
        batch_at[held_at] = np.arange(len(held_at))
        n_keys = int(codes.max(initial=-1)) + 1
        matches, after = self.event.after(batch, n_keys, done, self._stores(stored, batch, batch_at))
        if self.owners:
            matches = with_owners(matches, rows, codes, len(self.stage.key_types))
        return matches, self._table(after, held_at)

    def _stores(self, stored: pa.Table, batch: EventBatch, batch_at: Ints) -> Stores:
        """Stored occurrences as rows of a batch."""
        store = stored[STORE].to_numpy()
        if not len(store):
            return {}
        places = np.stack([stored[_slot(slot)].to_numpy() for slot in self.layout.slots], axis=1)
        rows = np.where(places >= 0, batch_at[places], -1)
        moments = [stored[_moment(place)].to_numpy() for place in range(len(self.layout.moments))]
        times = np.stack(moments, axis=1) if moments else np.empty((len(store), 0), np.int64)
        found = _found(batch, rows, times)
        return {
            number: (found.where(store == 2 * number), found.where(store == 2 * number + 1))
            for number in range(int(store.max()) // 2 + 1)
        }

    def _table(self, stores: Stores, held_at: Ints) -> pa.Table:
        """Stored occurrences as a table of numbers of kept rows."""
        tables = [self._no_store()]
        for number, sides in stores.items():
            for side, found in enumerate(sides):
                rows = found.rows[:, :-1]
                places = np.where(rows >= 0, held_at[rows] if len(held_at) else rows, -1)
                columns = [np.full(len(found), 2 * number + side), *places.T, *found.moments.T]
                tables.append(pa.table([pa.array(column) for column in columns], schema=tables[0].schema))
        return pa.concat_tables(tables).combine_chunks()

    def _no_store(self) -> pa.Table:
        names = [STORE, *map(_slot, self.layout.slots), *map(_moment, range(len(self.layout.moments)))]
        return pa.schema([pa.field(name, pa.int64()) for name in names]).empty_table()

    def _trimmed(self, state: ConsumptionState, until: int) -> ConsumptionState:
        """The state without rows and occurrences that no later match can use; cleared only if worthwhile."""
        if until >= FOREVER:
            return self.start()
        held, stored = state.rows, state.stored
        if state.is_tidy(held):
            return state
        end = held[r.END].to_numpy()
        start = pc.coalesce(held[r.START], held[r.END]).to_numpy() if r.START in held.column_names else end
        names = [_slot(slot) for slot in self.layout.slots]
        if self._longest is not None and len(stored):
            first = np.full(len(stored), FOREVER)
            for name in names:
                places = stored[name].to_numpy()
                first = np.where(places >= 0, np.minimum(first, start[places]), first)
            stored = stored.filter(pa.array(until - first <= self._longest))
        needed = end > until
        for name in names:
            places = stored[name].to_numpy()
            needed[places[places >= 0]] = True
        if self._absent:
            since = -FOREVER if self._longest is None else until - self._longest
            needed |= passing(held, self._absent) & (end >= since)
        stored = _moved(stored, np.cumsum(needed) - 1)
        rows = held.filter(pa.array(needed)).combine_chunks()
        return ConsumptionState(rows, len(rows), stored)


def _where(state: ConsumptionState, wanted: NDArray[np.bool_]) -> ConsumptionState:
    """The state of the keys whose rows are wanted."""
    stored = _moved(state.stored.filter(pa.array(wanted[_any_row(state.stored)])), np.cumsum(wanted) - 1)
    n_rows = int(np.count_nonzero(wanted))
    return ConsumptionState(state.rows.filter(pa.array(wanted)), min(state.n_trimmed, n_rows), stored)


def _moved(stored: pa.Table, now_at: Ints) -> pa.Table:
    """Stored occurrences with new row numbers."""
    for place, name in enumerate(stored.column_names):
        if name.startswith("slot") and len(stored):
            places = stored[name].to_numpy()
            stored = stored.set_column(place, name, pa.array(np.where(places >= 0, now_at[places], -1)))
    return stored


def _any_row(stored: pa.Table) -> Ints:
    """A row of each stored occurrence."""
    places: NDArray[np.int64] = np.full(len(stored), -1)
    for name in stored.column_names:
        if name.startswith("slot"):
            column = stored[name].to_numpy()
            places = np.where(places < 0, column, places)
    return places


def _slot(slot: int) -> str:
    return f"slot{slot}"


def _moment(place: int) -> str:
    return f"moment{place}"


def _found(batch: EventBatch, rows: Ints, moments: Ints) -> StoredOccurrences:
    """Occurrences made of these rows, [occurrence, slot]."""
    n, filled = len(rows), rows >= 0
    far = np.iinfo(np.int64).max
    start, start_place = np.full(n, far), np.full(n, far)
    end, end_place, known, key = (np.full(n, -far) for _ in range(4))
    for place in range(rows.shape[1]):
        here, row = filled[:, place], rows[:, place]
        s, sp, e, ep = batch.start[row], batch.start_place[row], batch.end[row], batch.end_place[row]
        earlier = here & ((s < start) | ((s == start) & (sp < start_place)))
        start, start_place = np.where(earlier, s, start), np.where(earlier, sp, start_place)
        later = here & ((e > end) | ((e == end) & (ep > end_place)))
        end, end_place = np.where(later, e, end), np.where(later, ep, end_place)
        known = np.where(here, np.maximum(known, np.maximum(batch.known[row], e)), known)
        key = np.where(here, batch.key[row], key)
    any_row = rows.max(axis=1)
    return StoredOccurrences(key, np.column_stack([rows, any_row]), moments, start, start_place, end, end_place, known)
