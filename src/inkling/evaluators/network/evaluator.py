"""The join network as an evaluator: keeps the events that can still matter and looks for matches among them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.matches.gather import Gather
from inkling.evaluators.network.lateral import Evaluation
from inkling.evaluators.network.layout import Layout, layout_of
from inkling.evaluators.network.needs import column_types
from inkling.evaluators.network.newest import Newest, resting_on
from inkling.evaluators.network.partials import Occurrences, Partials
from inkling.evaluators.network.results import results_of
from inkling.evaluators.network.store import build_store
from inkling.evaluators.truth import truth_of
from inkling.logical.evaluate import Surroundings
from inkling.logical.expr import Expr
from inkling.model.batch import EventBatch, MatchBatch
from inkling.model.types import Type
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class NetworkEvaluator:
    """Evaluates one event by joins."""

    step: EventStep
    around: Surroundings
    _made: dict[pa.DataType, tuple[Layout, dict[str, Type]]] = field(default_factory=dict, compare=False, repr=False)

    _empty: dict[pa.DataType, MatchBatch] = field(default_factory=dict, compare=False, repr=False)

    def _prepared(self, batch: EventBatch) -> tuple[Layout, dict[str, Type]]:
        kind = batch.ids.type
        if kind not in self._made:
            self._made[kind] = layout_of(self.step), column_types(self.step, batch)
        return self._made[kind]

    def evaluate(self, batch: EventBatch, n_keys: int, until: int, newest: Newest | None = None) -> MatchBatch:
        """All results over the batch that are known by `until`; with `newest`, those that rest on such results."""
        layout, types = self._prepared(batch)
        store = build_store(batch, types.items(), n_keys)

        def gather(found: Occurrences | Partials) -> Gather:
            moments = {name: found.moments[:, place] for place, name in enumerate(layout.moments)}
            return Gather(batch, *evaluation.arena.unroll(found.tail), moments)

        def passes(found: Occurrences | Partials, conditions: tuple[Expr, ...]) -> np.ndarray:
            kept = np.ones(len(found), bool)
            resolve = gather(found)
            for condition in conditions:
                kept &= truth_of(condition, resolve, len(found), self.around)
            return kept

        evaluation = Evaluation(store, self.step, layout, types, self.around.measure, passes)
        event = self.step.event
        roots = evaluation.roots()
        window = evaluation.window_of(event.keep, evaluation.window_of(event.within, None))
        if newest is None:
            found = evaluation.occurrences(event.pattern, roots, window=window)
        else:
            found = resting_on(newest, evaluation, event.pattern, roots, window)
        fits = evaluation.lasts_at_most(found, found.origin, event.within) & (found.known <= until)
        if event.keep is not None:
            fits &= found.known - found.start <= self.around.measure(event.keep)
        found = found.where(fits)
        if event.having:
            found = found.where(passes(found, event.having))
        if len(found):
            return results_of(event, store, found, evaluation.arena, gather, self.around)
        kind = batch.ids.type
        if kind not in self._empty:
            nothing = results_of(event, store, found, evaluation.arena, gather, self.around)
            self._empty[kind] = replace(nothing, place_words=None)
        return self._empty[kind]
