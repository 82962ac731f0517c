"""The join network as an evaluator: keeps the events that can still matter and looks for matches among them.

Matches that depend on at least one of the newest results of their own recursion: all that can be new.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.matches.gather import Gather
from inkling.evaluators.network.lateral import JoinEvaluation
from inkling.evaluators.network.partials import MatchContexts, Occurrences, Partials, stack
from inkling.evaluators.network.results import results_of
from inkling.evaluators.network.session import Session, SharingGroup
from inkling.evaluators.stage.rows.batches import rows_passing
from inkling.evaluators.truth import truth_of
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.expr import Expr
from inkling.logical.plan import Pattern
from inkling.logical.recursion import branch_with
from inkling.model.batch import EventBatch, MatchBatch
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class Newest:
    """The slots that results of the recursion may fill, and how deep the newest ones lie."""

    slots: tuple[int, ...]
    depth: int


def depending_on(
    newest: Newest, evaluation: JoinEvaluation, pattern: Pattern, roots: MatchContexts, window: int | None
) -> Occurrences:
    """Each match once: one of its slots is the first that a newest result fills."""
    depth = evaluation.store.batch.depth
    assert depth is not None, "rows of a recursion have a depth"
    rows = {slot: rows_passing(evaluation.step.leaf(slot), evaluation.store.batch) for slot in newest.slots}
    is_new = {slot: depth[rows[slot]] == newest.depth for slot in newest.slots}
    found = []
    for place, slot in enumerate(newest.slots):
        for other in newest.slots[:place]:
            evaluation.only(other, rows[other][~is_new[other]])
        evaluation.only(slot, rows[slot][is_new[slot]])
        for other in newest.slots[place + 1 :]:
            evaluation.only(other, rows[other])
        if np.any(is_new[slot]):
            found.append(evaluation.occurrences(branch_with(pattern, slot), roots, window=window))
    if not found:
        slot = newest.slots[0]
        evaluation.only(slot, rows[slot][:0])
        found.append(evaluation.occurrences(branch_with(pattern, slot), roots, window=window))
    return stack(found)


@dataclass(frozen=True, slots=True)
class NetworkEvent:
    """Evaluates one event by joins."""

    step: EventStep
    context: ExpressionContext
    _groups: list[SharingGroup] = field(default_factory=list, compare=False, repr=False)
    _empty: dict[pa.DataType, MatchBatch] = field(default_factory=dict, compare=False, repr=False)

    def _alone(self) -> SharingGroup:
        if not self._groups:
            self._groups.append(SharingGroup((self.step,)))
        return self._groups[0]

    def evaluate(
        self, batch: EventBatch, n_keys: int, until: int, newest: Newest | None = None, session: Session | None = None
    ) -> MatchBatch:
        """All results over the batch that are known by `until`; with `newest`, those that depend on such results.

        A session over the batch holds what other events have found there.
        """
        if session is None:
            session = Session.of(self._alone(), batch, n_keys)
        layout, types = session.group.prepared(self.step).layout, session.group.types(batch)
        store, common = session.store, session.common(self.step)
        store.facts = self.context.tables

        def gather(found: Occurrences | Partials) -> Gather:
            own = [(place, name) for place, name in enumerate(layout.moments) if layout.is_span(name[0])]
            moments = {name: found.moments[:, place] for place, name in own}
            return Gather(batch, *evaluation.arena.unroll(found.tail), moments)

        def passes(found: Occurrences | Partials, conditions: tuple[Expr, ...]) -> np.ndarray:
            kept = np.ones(len(found), bool)
            resolve = gather(found)
            for condition in conditions:
                kept &= truth_of(condition, resolve, len(found), self.context)
            return kept

        evaluation = JoinEvaluation(store, self.step, layout, types, self.context.unit, passes, session, common)
        event = self.step.event
        roots = evaluation.roots()
        if common is not None:
            evaluation.arena, roots = common.arena, common.roots(lambda: roots)
        window = evaluation.window_of(event.keep, evaluation.window_of(event.within, None))
        if newest is None:
            found = evaluation.occurrences(event.pattern, roots, window=window)
        else:
            found = depending_on(newest, evaluation, event.pattern, roots, window)
        fits = evaluation.lasts_at_most(found, found.origin, event.within) & (found.known <= until)
        if event.keep is not None:
            fits &= found.known - found.start <= self.context.unit(event.keep)
        found = found.where(fits)
        if event.having:
            found = found.where(passes(found, event.having))
        if len(found):
            return results_of(event, store, found, evaluation.arena, gather, self.context)
        kind = batch.ids.type
        if kind not in self._empty:
            nothing = results_of(event, store, found, evaluation.arena, gather, self.context)
            self._empty[kind] = replace(nothing, place_words=None)
        return self._empty[kind]
