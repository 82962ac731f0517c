"""Events whose pattern is a sliding window: one match per event that moves it, with aggregates over its members."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from inkling.evaluators.gather import Gather, lineage_ids
from inkling.evaluators.stage.rows.batches import rows_passing
from inkling.evaluators.stage.rows.conditions import truth_of
from inkling.evaluators.windows.aggregates import WindowColumns
from inkling.evaluators.windows.members import SlidingWindows, in_order_of, later_pairs
from inkling.kernels.columns import lists
from inkling.kernels.columns.canonical import canonical_order
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.vectorized import evaluate
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch
from inkling.model.keys import Column, codes_of
from inkling.physical.plan import EventStep


@dataclass(frozen=True)
class WindowEvent:
    """Evaluates one event whose pattern is a window."""

    step: EventStep
    context: ExpressionContext
    _empty: dict[pa.DataType, MatchBatch] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def pattern(self) -> p.Sliding:
        pattern = self.step.event.pattern
        assert isinstance(pattern, p.Sliding)
        return pattern

    def evaluate(self, batch: EventBatch, n_keys: int, until: int) -> MatchBatch:
        """All results over the batch that are known by `until`."""
        return self.after(batch, n_keys, until, -FOREVER, None)[0]

    def after(
        self, batch: EventBatch, n_keys: int, until: int, done: int, last: dict[str, pa.Array] | None
    ) -> tuple[MatchBatch, dict[str, pa.Array]]:
        """Results that end after `done`; with ON CHANGE also the values of the last match of each key.

        `last` gives these values for the keys of the batch as they were at `done`, under the names of outputs and
        `KNOWN` for the keys that have any.
        """
        event = self.step.event
        windows = self._windows(batch)
        if not len(windows):
            return self._nothing(batch, n_keys), last or {}
        kept = (batch.end[windows.rows] > done) & (windows.known <= until)
        resolve = WindowColumns(windows, self.pattern.leaf.slot, kept.copy())
        for condition in event.having:
            kept &= truth_of(condition, resolve, len(windows), self.context)
        outputs = {
            output.name: evaluate(output.expr, resolve, len(windows), self.context)
            for output in (*event.head, *event.returns)
        }
        if event.on_change:
            kept, last = _changing(windows, kept, outputs, last, n_keys if self.pattern.since is None else None)
        return self._results(windows, np.flatnonzero(kept), outputs, n_keys), last or {}

    def _windows(self, batch: EventBatch) -> SlidingWindows:
        pattern, unit = self.pattern, self.context.unit
        test = self.step.leaf(pattern.leaf.slot)
        rows = rows_passing(test, batch)
        if pattern.called is not None:
            rows = in_order_of(batch, rows, batch.columns[pattern.called.name])
        if pattern.since is None:
            return SlidingWindows.over(batch, rows, batch.key[rows], None, pattern.last, unit)
        openings = rows_passing(self.step.leaf(pattern.since.slot), batch)
        group, place = later_pairs(batch, openings, rows)
        for condition in test.across:
            paired = np.stack([openings[group], rows[place]], axis=1).ravel()
            slots = np.tile([pattern.since.slot, pattern.leaf.slot], len(group))
            resolve = Gather(batch, np.arange(0, len(paired) + 1, 2), paired, slots)
            holds = truth_of(condition, resolve, len(group), self.context)
            group, place = group[holds], place[holds]
        return SlidingWindows.over(batch, rows[place], group, openings[group], pattern.last, unit)

    @cached_property
    def _is_joined(self) -> bool:
        """Whether a table supplies values of the opening event, so that several matches may have the same events."""
        return self.pattern.since is not None and bool(self.pattern.since.atoms)

    def _results(self, windows: SlidingWindows, chosen: Ints, outputs: dict[str, pa.Array], n_keys: int) -> MatchBatch:
        event, batch = self.step.event, windows.batch
        if self._is_joined and event.returns:
            chosen = _by_values({output.name: outputs[output.name] for output in event.returns}, chosen)
        newest, earliest, known = windows.rows[chosen], windows.earliest[chosen], windows.known[chosen]
        offsets, lineage = np.arange(len(chosen) + 1), newest
        if windows.opening is not None:
            earliest = windows.opening[chosen]
            offsets, lineage = 2 * offsets, np.stack([earliest, newest], axis=1).ravel()
        start, start_place = batch.start[earliest], batch.start_place[earliest]
        end, end_place = batch.end[newest], batch.end_place[newest]
        picked = np.arange(len(chosen))
        if event.per is not p.Per.MATCH or self._is_joined:
            identity, n_results = self._identities(windows, earliest, outputs, chosen)
            if n_results < len(chosen):
                slots = np.zeros(len(lineage), np.int64)
                picked = lists.choose_witness(
                    identity, start, start_place, offsets, batch.event[lineage], slots, n_results
                )
                soonest = np.full(n_results, np.iinfo(np.int64).max)
                np.minimum.at(soonest, identity, known)
                known = known.copy()
                known[picked] = soonest
        if windows.opening is not None:
            order, _ = canonical_order(
                batch.key[newest[picked]], n_keys, end[picked], end_place[picked], start[picked], start_place[picked]
            )
            picked = picked[order]
        everything = len(picked) == len(windows) and windows.opening is None
        taken = pa.array(chosen[picked])
        ids = lineage_ids(batch, offsets, lineage)
        return MatchBatch(
            event.name,
            batch.key[newest[picked]],
            start[picked],
            start_place[picked],
            end[picked],
            end_place[picked],
            known[picked],
            outputs if everything else {name: column.take(taken) for name, column in outputs.items()},
            ids if everything else ids.take(pa.array(picked)),
            batch.place_words,
        )

    def _identities(
        self, windows: SlidingWindows, earliest: Ints, outputs: dict[str, pa.Array], chosen: Ints
    ) -> tuple[Ints, int]:
        """The number of the result of each match: equal head and end, with INTERVAL start, with MATCH events."""
        batch, newest = windows.batch, windows.rows[chosen]
        columns: list[Column] = [batch.key[newest], batch.end[newest], batch.end_place[newest]]
        if self.step.event.per is p.Per.INTERVAL:
            columns += [batch.start[earliest], batch.start_place[earliest]]
        if self.step.event.per is p.Per.MATCH:
            columns += [batch.event[newest], batch.event[earliest]]
        columns += [outputs[output.name].take(pa.array(chosen)) for output in self.step.event.head]
        return codes_of(columns, len(chosen))

    def _nothing(self, batch: EventBatch, n_keys: int) -> MatchBatch:
        kind = batch.ids.type
        if kind not in self._empty:
            none = batch.take(np.empty(0, np.int64))
            windows = SlidingWindows.over(none, none.key, none.key, None, self.pattern.last, self.context.unit)
            if self.pattern.since is not None:
                windows = replace(windows, opening=none.key)
            resolve = WindowColumns(windows, self.pattern.leaf.slot, np.empty(0, bool))
            event = self.step.event
            outputs = {
                output.name: evaluate(output.expr, resolve, 0, self.context) for output in (*event.head, *event.returns)
            }
            nothing = self._results(windows, none.key, outputs, n_keys)
            self._empty[kind] = replace(nothing, place_words=None)
        return self._empty[kind]


def _by_values(outputs: dict[str, pa.Array], chosen: Ints) -> Ints:
    """The chosen windows in the order of their values, null first: of equal matches, the first supplies them."""
    values = pa.table(outputs).take(pa.array(chosen)).columns
    ranked = [one for column in values for one in (column.is_valid(), column)]
    keys = [(str(place), "ascending") for place in range(len(ranked))]
    return chosen[pc.sort_indices(pa.table(ranked, [name for name, _ in keys]), keys).to_numpy()]


KNOWN = "@emitted"
"""Column of last values per key: whether the key had a match."""


def _changing(
    windows: SlidingWindows,
    kept: NDArray[np.bool_],
    outputs: dict[str, pa.Array],
    last: dict[str, pa.Array] | None,
    n_keys: int | None,
) -> tuple[NDArray[np.bool_], dict[str, pa.Array]]:
    """The matches whose values differ from those of the match before in their group, and the last values per key.

    Last values of earlier steps come first, like matches. `n_keys` is None if groups are not keys; then no last values
    are kept.
    """
    chosen = np.flatnonzero(kept)
    group, columns = windows.group[chosen], {name: one.take(pa.array(chosen)) for name, one in outputs.items()}
    n_before = 0
    if last:
        before = np.flatnonzero(last[KNOWN].to_numpy(zero_copy_only=False))
        n_before = len(before)
        group = np.concatenate([before, group])
        columns = {
            name: pa.concat_arrays([last[name].take(pa.array(before)), column]) for name, column in columns.items()
        }
    order = np.argsort(group, kind="stable")
    differs = np.ones(len(order), bool)
    if len(order):
        values, _ = codes_of([group, *columns.values()], len(group))
        differs[order[1:]] = values[order[1:]] != values[order[:-1]]
    changed = np.zeros(len(kept), bool)
    changed[chosen[differs[n_before:]]] = True
    if n_keys is None:
        return changed, {}
    newest = np.full(n_keys, -1)
    newest[group[order]] = order
    found = pa.array(newest, mask=newest < 0)
    remembered = {name: column.take(found) for name, column in columns.items()}
    return changed, {**remembered, KNOWN: pa.array(newest >= 0)}
