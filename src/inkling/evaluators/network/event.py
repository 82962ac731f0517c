"""One event of the join network: its occurrences over a batch of events, and the results that follow from them.

`NetworkEvent.evaluate` finds all occurrences of the pattern (`lateral`), applies WITHIN, KEEP FOR and HAVING, and
groups the matches into results (`results_of`). In a recursion, `depending_on` restricts the search to matches that use
a result of the last round: no other match can be new (semi-naive evaluation).
"""

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.gather import Gather, lineage_ids
from inkling.evaluators.memory import require_room
from inkling.evaluators.network.lateral import JoinEvaluation
from inkling.evaluators.network.maximal import maximal
from inkling.evaluators.network.partials import MatchContexts, Occurrences, stack
from inkling.evaluators.network.session import Session, SharingGroup
from inkling.evaluators.network.store import Store
from inkling.evaluators.stage.rows.batches import rows_passing
from inkling.kernels.columns import lists
from inkling.kernels.columns.canonical import canonical_order
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.patterns.maximal import maximal_parts
from inkling.logical.plan import EventPlan, Pattern, Per
from inkling.logical.recursion import branch_with
from inkling.logical.vectorized import evaluate
from inkling.model.batch import UNORDERED, EventBatch, Ints, MatchBatch
from inkling.model.keys import Column, codes_of
from inkling.physical.plan import EventStep

BYTES_PER_RESULT = 400
"""The memory of a result with a short lineage while it is made: its order, its columns and its ids."""


@dataclass(frozen=True, slots=True)
class Newest:
    """The slots that results of the recursion may fill, and the depth of the results of the last round."""

    slots: tuple[int, ...]
    depth: int


def depending_on(
    newest: Newest, evaluation: JoinEvaluation, pattern: Pattern, roots: MatchContexts, window: int | None
) -> Occurrences:
    """The matches that use a newest result: the branch is the first slot that a newest result fills.

    A repeated slot may hold older results and rows next to a newest one.
    """
    depth = evaluation.store.batch.depth
    assert depth is not None, "rows of a recursion have a depth"
    leaves = evaluation.leaves
    repeated = {slot.number for slot in evaluation.step.event.slots if slot.repeated}
    rows = {slot: rows_passing(evaluation.step.leaf(slot), evaluation.store.batch) for slot in newest.slots}
    is_new = {slot: depth[rows[slot]] == newest.depth for slot in newest.slots}
    found = []
    for place, slot in enumerate(newest.slots):
        for other in newest.slots[:place]:
            leaves.only(other, rows[other][~is_new[other]])
        leaves.only(slot, rows[slot] if slot in repeated else rows[slot][is_new[slot]])
        for other in newest.slots[place + 1 :]:
            leaves.only(other, rows[other])
        if np.any(is_new[slot]):
            some = evaluation.occurrences(branch_with(pattern, slot), roots, window=window)
            found.append(some.where(_using(newest, slot, evaluation.gather(some), depth)) if slot in repeated else some)
    if not found:
        slot = newest.slots[0]
        leaves.only(slot, rows[slot][:0])
        found.append(evaluation.occurrences(branch_with(pattern, slot), roots, window=window))
    return stack(found)


def _using(newest: Newest, slot: int, members: Gather, depth: Ints) -> np.ndarray:
    """The matches in which a newest result is among the events of a repeated slot."""
    n_using = np.zeros(len(members.offsets) - 1, np.int64)
    match = np.repeat(np.arange(len(n_using)), np.diff(members.offsets))
    np.add.at(n_using, match, (members.slots == slot) & (depth[members.rows] == newest.depth))
    return n_using > 0


@dataclass(frozen=True, slots=True)
class NetworkEvent:
    """Evaluates one event by joins."""

    step: EventStep
    context: ExpressionContext
    _groups: list[SharingGroup] = field(default_factory=list, compare=False, repr=False)
    _empty: dict[pa.DataType, MatchBatch] = field(default_factory=dict, compare=False, repr=False)

    def evaluate(
        self, batch: EventBatch, n_keys: int, until: int, newest: Newest | None = None, session: Session | None = None
    ) -> MatchBatch:
        """All results over the batch that are known by `until`; with `newest`, those that depend on such results.

        A session holds the work over the batch that other events of the stage have done already.
        """
        if session is None:
            if not self._groups:
                self._groups.append(SharingGroup((self.step,)))
            session = Session.of(self._groups[0], batch, n_keys)
        evaluation = JoinEvaluation.of(session, self.step, self.context)
        event, roots = self.step.event, evaluation.roots()
        window = evaluation.leaves.window_of(event.keep, evaluation.leaves.window_of(event.within, None))
        if newest is None:
            found = evaluation.occurrences(event.pattern, roots, window=window)
        else:
            found = depending_on(newest, evaluation, event.pattern, roots, window)
        fits = evaluation.leaves.lasts_at_most(found, found.origin, event.within)
        if any(maximal_parts(event.pattern)):  # also matches that are not known yet can be longer
            found = found.where(fits)
            found = maximal(evaluation, found.where(evaluation.passes(found, event.having)))
            fits = np.ones(len(found), bool)
        fits &= found.known <= until
        if event.keep is not None:
            fits &= found.known - found.start <= self.context.unit(event.keep)
        found = found.where(fits)
        if event.having and not any(maximal_parts(event.pattern)):
            found = found.where(evaluation.passes(found, event.having))
        if len(found):
            require_room(event.name, len(found), BYTES_PER_RESULT)
            return results_of(evaluation, found)
        kind = batch.ids.type
        if kind not in self._empty:
            self._empty[kind] = replace(results_of(evaluation, found), place_words=None)
        return self._empty[kind]


def all_differ(pattern: p.Pattern, batch: EventBatch) -> bool:
    """Whether no two matches have the same events, so that every match is a result of its own under PER MATCH.

    A list of events fills single events in one way. But an event that is joined with table facts has one row per fact,
    so two matches may consist of the same events.
    """
    one_row_per_event = not len(batch) or int(batch.event[-1]) == len(batch) - 1
    while isinstance(pattern, p.Narrowed):
        pattern = pattern.pattern
    parts = (pattern.left, pattern.right) if isinstance(pattern, p.LeftJoin) else (pattern,)
    return one_row_per_event and all(map(_single_events, parts))


def _single_events(pattern: p.Pattern) -> bool:
    match pattern:
        case p.Leaf():
            return True
        case p.Narrowed(pattern=inner):
            return _single_events(inner)
        case p.Sequence(parts=parts):
            return all(isinstance(part, p.Leaf | p.Absent | p.Deadline | p.StreamStart) for part in parts)
        case p.Conjunction(items=items) | p.Parallel(items=items):
            return all(map(_single_events, items))
        case p.Related(left=left, right=right):
            return _single_events(left) and _single_events(right)
        case _:
            return False


def results_of(evaluation: JoinEvaluation, found: Occurrences) -> MatchBatch:
    """CONSUME RESTART, then one result per identity that PER states, in (key, end, start) order of first appearance."""
    event, store, context = evaluation.step.event, evaluation.store, evaluation.context
    if store.batch.depth is not None and not event.schema.is_ordered:
        found = _without_places(found)
    order, tied = canonical_order(
        found.origin, store.n_keys, found.end, found.end_place, found.start, found.start_place
    )
    found = found.take(order)
    if event.restart:
        mask = lists.restart_mask(found.origin, found.start, found.start_place, found.end, found.end_place)
        found = found.where(mask)
    resolve = evaluation.gather(found)
    head = _values(event.head, resolve, len(found), context)
    lie_apart = event.per is Per.INTERVAL and not tied.any()
    if lie_apart or (event.per is Per.MATCH and all_differ(event.pattern, store.batch)):
        return _matches(event, store, found, head | _values(event.returns, resolve, len(found), context), resolve)
    identity, n_results = _identities(event.per, store, found, head, resolve)
    witness = _witnesses(evaluation, found, identity, n_results, resolve)
    end, end_place = _latest(identity, found, n_results)
    known = np.full(n_results, np.iinfo(np.int64).max)
    np.minimum.at(known, identity, found.known)
    chosen = replace(found.take(witness), end=end, end_place=end_place, known=known)
    resolve = evaluation.gather(chosen)
    values = {name: array.take(pa.array(witness)) for name, array in head.items()}
    return _matches(event, store, chosen, values | _values(event.returns, resolve, len(chosen), context), resolve)


def _without_places(found: Occurrences) -> Occurrences:
    """Matches of a recursion with the places that their results have as input of the next round: none."""
    return replace(found, start_place=np.full(len(found), -UNORDERED), end_place=np.full(len(found), UNORDERED))


def _witnesses(evaluation: JoinEvaluation, found: Occurrences, identity: Ints, n_results: int, resolve: Gather) -> Ints:
    """The match that supplies values and lineage of each result; in a recursion, one of the least depth."""
    store = evaluation.store
    candidates = np.arange(len(found))
    if store.batch.depth is not None:
        depth = _depths(store, resolve)
        least = np.full(n_results, np.iinfo(np.int64).max)
        np.minimum.at(least, identity, depth)
        candidates = np.flatnonzero(depth == least[identity])
        found, identity = found.take(candidates), identity[candidates]
        resolve = evaluation.gather(found)
    place = store.batch.event[resolve.rows]
    chosen = lists.choose_witness(
        identity, found.start, found.start_place, resolve.offsets, place, resolve.slots, n_results
    )
    return candidates[chosen]


def _depths(store: Store, resolve: Gather) -> Ints:
    """The depth of each match in its recursion: 0 if it depends on no result of its own event group."""
    assert store.batch.depth is not None
    depth = np.full(len(resolve.offsets) - 1, -1)
    match = np.repeat(np.arange(len(depth)), np.diff(resolve.offsets))
    np.maximum.at(depth, match, store.batch.depth[resolve.rows])
    return depth + 1


def _matches(
    event: EventPlan, store: Store, chosen: Occurrences, values: dict[str, pa.Array], resolve: Gather
) -> MatchBatch:
    return MatchBatch(
        event.name,
        chosen.origin,
        chosen.start,
        chosen.start_place,
        chosen.end,
        chosen.end_place,
        chosen.known,
        values,
        lineage_ids(store.batch, resolve.offsets, resolve.rows),
        store.batch.place_words,
        None if store.batch.depth is None else _depths(store, resolve),
    )


def _values(outputs: tuple[p.Output, ...], resolve: Gather, n: int, context: ExpressionContext) -> dict[str, pa.Array]:
    return {output.name: evaluate(output.expr, resolve, n, context) for output in outputs}


def _identities(
    per: Per, store: Store, found: Occurrences, head: dict[str, pa.Array], resolve: Gather
) -> tuple[Ints, int]:
    """A number per match; matches that are the same result share it. Numbers follow first appearance."""
    columns: list[Column] = [found.origin, *head.values()]
    match per:
        case Per.MATCH:
            prints = lists.fingerprints(resolve.offsets, store.batch.event[resolve.rows])
            columns += [print_.view(np.int64) for print_ in prints]
        case Per.INTERVAL:
            columns += [found.start, found.start_place, found.end, found.end_place]
        case Per.END:
            columns += [found.end, found.end_place]
        case Per.VALUES:
            pass
    return codes_of(columns, len(found.origin))


def _latest(identity: Ints, found: Occurrences, n: int) -> tuple[Ints, Ints]:
    """Latest end per result; matches come sorted by end within a key, so the last one wins."""
    end, place = np.zeros(n, np.int64), np.zeros(n, np.int64)
    end[identity], place[identity] = found.end, found.end_place
    return end, place
