"""Sliding windows on streams: the state holds rows that may be in a later window, and the last values of each key."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.protocol import Moment
from inkling.evaluators.stage.member import EventEvaluator, RowsState, StageSetting, StepInput, StepOutput
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import event_batch, in_one_piece, key_codes
from inkling.evaluators.stage.rows.format import concatenated, split_rows
from inkling.evaluators.stage.rows.keys import Owners, with_owners
from inkling.evaluators.stage.rows.row_tests import of_moved_keys, retained_rows
from inkling.evaluators.windows.event import KNOWN, WindowEvent
from inkling.logical import plan as p
from inkling.model.batch import FOREVER, Ints
from inkling.model.runs import changes
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class WindowState(RowsState):
    """Stage rows; with ON CHANGE also the values of the last match of each key."""

    last: pa.Table | None = None


class WindowEvaluator(EventEvaluator[WindowEvent, WindowState]):
    """Answers one event whose pattern is a window."""

    state_type = WindowState

    @staticmethod
    def takes(step: EventStep, setting: StageSetting) -> bool:
        """Windows without SINCE, which drop rows; the network answers the others."""
        return isinstance(step.event.pattern, p.Sliding) and step.event.pattern.since is None

    def start(self) -> WindowState:
        return WindowState(r.stage_schema(self.stage).empty_table(), 0)

    def step(self, state: WindowState, given: StepInput, until: Moment) -> tuple[WindowState, StepOutput]:
        since, done, now = self.times(given, until)
        held = retained_rows(state.rows, given.rows, self.event.step.leaves, since)
        chosen = self._chosen(held, done, now)
        n_key_columns = len(self.stage.key_types)
        codes, _ = key_codes(chosen, n_key_columns)
        last, codes, n_keys, keys = self._remembered(state.last, chosen, codes)
        batch = event_batch(self.stage, chosen, codes)
        matches, values = self.event.after(batch, n_keys, FOREVER, done, last)
        if self.owners:
            matches = with_owners(matches, chosen, codes, n_key_columns)
        last = state.last if keys is None else _last_values(keys, values)
        kept, n_trimmed = self._trimmed(state, held, now)
        return WindowState(kept, n_trimmed, last), StepOutput({matches.event: matches})

    def split(self, state: WindowState, owners: Owners) -> tuple[WindowState, WindowState]:
        theirs, others = super().split(state, owners)
        if state.last is None:
            return theirs, others
        some, rest = split_rows(state.last, self._is_theirs(state.last, owners))
        return replace(theirs, last=some), replace(others, last=rest)

    def merge(self, left: WindowState, right: WindowState) -> WindowState:
        last = [one.last for one in (left, right) if one.last is not None]
        return replace(super().merge(left, right), last=concatenated(last) if last else None)

    def _chosen(self, held: pa.Table, done: int, until: int) -> pa.Table:
        """The rows of keys with new rows."""
        chosen = of_moved_keys(held, len(self.stage.key_types), done, until)
        if not chosen.any():
            return held.slice(0, 0)
        return held if chosen.all() else in_one_piece(held.filter(pa.array(chosen)))

    def _remembered(
        self, last: pa.Table | None, chosen: pa.Table, codes: Ints
    ) -> tuple[dict[str, pa.Array] | None, Ints, int, pa.Table | None]:
        """The last values by key code, the codes of the rows, the number of codes, and the keys by code."""
        n_keys = int(codes.max(initial=-1)) + 1
        if not self.event.step.event.on_change:
            return None, codes, n_keys, None
        names = [r.key_name(place) for place in range(len(self.stage.key_types))]
        tables = [chosen.select(names)] if names else []
        if last is not None and names:
            tables.append(last.select(names))
        if names:
            codes, keys = key_codes(in_one_piece(pa.concat_tables(tables)), len(names))
        else:
            codes, keys = np.zeros(len(chosen) + (0 if last is None else len(last)), np.int64), pa.table({})
        n_keys = int(codes.max(initial=-1)) + 1
        if last is None or not len(last):
            return None, codes[: len(chosen)], n_keys, keys
        place = np.full(n_keys, -1)
        place[codes[len(chosen) :]] = np.arange(len(last))
        found = pa.array(place, mask=place < 0)
        values = {name: last[name].combine_chunks().take(found) for name in last.column_names if name not in names}
        return {**values, KNOWN: pa.array(place >= 0)}, codes[: len(chosen)], n_keys, keys

    def _trimmed(self, state: WindowState, held: pa.Table, until: int) -> tuple[pa.Table, int]:
        """Rows that may be in a later window; others are cleared only if worthwhile."""
        if until >= FOREVER:
            return held.slice(0, 0), 0
        if state.is_tidy(held):
            return held, state.n_trimmed
        last = self.event.pattern.last
        end = held[r.END].to_numpy()
        if isinstance(last, p.EventCount):
            needed = self._newest(held, end, until, last.count - 1)
        else:
            needed = end > until - self.event.context.unit(last)
        rows = held.filter(pa.array(needed)).combine_chunks()
        return rows, len(rows)

    def _newest(self, held: pa.Table, end: Ints, until: int, n_events: int) -> NDArray[np.bool_]:
        """Rows that end after `until`, and of each key the newest rows before, with all rows of the same end."""
        needed = end > until
        past = np.flatnonzero(~needed)
        if n_events and len(past):
            codes = key_codes(held, len(self.stage.key_types))[0][past]
            order = np.lexsort((-end[past], codes))
            first = np.flatnonzero(changes(codes[order]))
            sizes = np.diff(np.append(first, len(order)))
            border = end[past][order][first + np.minimum(sizes, n_events) - 1]
            needed[past[order]] = end[past][order] >= np.repeat(border, sizes)
        return needed


def _last_values(keys: pa.Table, values: dict[str, pa.Array]) -> pa.Table | None:
    """Keys with the values of their last match, for those that have one."""
    if not values:
        return None
    columns = {name: keys[name] for name in keys.column_names} | values
    return pa.table(columns).filter(values[KNOWN])
