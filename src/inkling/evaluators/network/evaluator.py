"""The join network as an evaluator: keeps the events that can still matter and looks for matches among them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.matches.gather import Gather
from inkling.evaluators.network.lateral import Evaluation
from inkling.evaluators.network.newest import Newest, resting_on
from inkling.evaluators.network.partials import Occurrences, Partials
from inkling.evaluators.network.results import results_of
from inkling.evaluators.network.session import Group, Session
from inkling.evaluators.truth import truth_of
from inkling.logical.evaluate import Surroundings
from inkling.logical.expr import Expr
from inkling.model.batch import EventBatch, MatchBatch
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class NetworkEvaluator:
    """Evaluates one event by joins."""

    step: EventStep
    around: Surroundings
    _groups: list[Group] = field(default_factory=list, compare=False, repr=False)
    _empty: dict[pa.DataType, MatchBatch] = field(default_factory=dict, compare=False, repr=False)

    def _alone(self) -> Group:
        if not self._groups:
            self._groups.append(Group((self.step,)))
        return self._groups[0]

    def evaluate(
        self,
        batch: EventBatch,
        n_keys: int,
        until: int,
        newest: Newest | None = None,
        session: Session | None = None,
    ) -> MatchBatch:
        """All results over the batch that are known by `until`; with `newest`, those that rest on such results.

        A session over the batch holds what other events have found there.
        """
        if session is None:
            session = Session.of(self._alone(), batch, n_keys)
        layout, types = session.group.prepared(self.step).layout, session.group.types(batch)
        store, common = session.store, session.common(self.step)
        store.facts = self.around.tables

        def gather(found: Occurrences | Partials) -> Gather:
            own = [(place, name) for place, name in enumerate(layout.moments) if layout.is_span(name[0])]
            moments = {name: found.moments[:, place] for place, name in own}
            return Gather(batch, *evaluation.arena.unroll(found.tail), moments)

        def passes(found: Occurrences | Partials, conditions: tuple[Expr, ...]) -> np.ndarray:
            kept = np.ones(len(found), bool)
            resolve = gather(found)
            for condition in conditions:
                kept &= truth_of(condition, resolve, len(found), self.around)
            return kept

        evaluation = Evaluation(store, self.step, layout, types, self.around.measure, passes, session, common)
        event = self.step.event
        roots = evaluation.roots()
        if common is not None:
            evaluation.arena, roots = common.arena, common.roots(lambda: roots)
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
