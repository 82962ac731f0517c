"""From matches to results: CONSUME, then one result per identity that PER asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.matches.gather import Gather, lineage_ids
from inkling.evaluators.network.partials import Arena, Occurrences
from inkling.evaluators.network.store import Store
from inkling.kernels.columns import lists
from inkling.kernels.columns.canonical import canonical_order
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, Output, Per
from inkling.logical.vectorized import evaluate
from inkling.model.batch import UNORDERED, EventBatch, Ints, MatchBatch
from inkling.model.keys import Column, codes_of


def all_differ(pattern: p.Pattern, batch: EventBatch) -> bool:
    """Whether no two matches have the same events.

    A sequence of single events is followed in one way by any events; but two rows may stand for one event, one for
    each fact that a table supplies.
    """
    one_row_per_event = not len(batch) or int(batch.event[-1]) == len(batch) - 1
    return one_row_per_event and _single_events(pattern)


def _single_events(pattern: p.Pattern) -> bool:
    match pattern:
        case p.Leaf():
            return True
        case p.Narrowed(pattern=inner):
            return _single_events(inner)
        case p.Sequence(parts=parts):
            return all(isinstance(part, p.Leaf | p.Absent | p.Deadline | p.StreamStart) for part in parts)
        case _:
            return False


def results_of(
    event: EventPlan,
    store: Store,
    found: Occurrences,
    arena: Arena,
    gather: Callable[[Occurrences], Gather],
    context: ExpressionContext,
) -> MatchBatch:
    """One result per identity, in (key, end, start) order of first appearance."""
    if store.batch.depth is not None and not event.schema.is_ordered:
        found = _as_seen_again(found)
    order, _ = canonical_order(found.origin, store.n_keys, found.end, found.end_place, found.start, found.start_place)
    found = found.take(order)
    if event.restart:
        mask = lists.restart_mask(found.origin, found.start, found.start_place, found.end, found.end_place)
        found = found.where(mask)
    resolve = gather(found)
    head = _values(event.head, resolve, len(found), context)
    if event.per is Per.MATCH and all_differ(event.pattern, store.batch):
        return _matches(event, store, found, head | _values(event.returns, resolve, len(found), context), resolve)
    identity, n_results = _identities(event.per, store, found, head, resolve)
    witness = _witnesses(store, found, identity, n_results, resolve, gather)
    end, end_place = _latest(identity, found, n_results)
    known = np.full(n_results, np.iinfo(np.int64).max)
    np.minimum.at(known, identity, found.known)
    chosen = replace(found.take(witness), end=end, end_place=end_place, known=known)
    resolve = gather(chosen)
    values = {name: array.take(pa.array(witness)) for name, array in head.items()}
    return _matches(event, store, chosen, values | _values(event.returns, resolve, len(chosen), context), resolve)


def _as_seen_again(found: Occurrences) -> Occurrences:
    """Matches of a recursion with the borders that their results will have when they are read again."""
    return replace(found, start_place=np.full(len(found), -UNORDERED), end_place=np.full(len(found), UNORDERED))


def _witnesses(
    store: Store,
    found: Occurrences,
    identity: Ints,
    n_results: int,
    resolve: Gather,
    gather: Callable[[Occurrences], Gather],
) -> Ints:
    """The match that speaks for each result; in a recursion, one of those that depend on it the least."""
    candidates = np.arange(len(found))
    if store.batch.depth is not None:
        depth = _depths(store, resolve)
        least = np.full(n_results, np.iinfo(np.int64).max)
        np.minimum.at(least, identity, depth)
        candidates = np.flatnonzero(depth == least[identity])
        found, identity = found.take(candidates), identity[candidates]
        resolve = gather(found)
    place = store.batch.event[resolve.rows]
    chosen = lists.choose_witness(
        identity, found.start, found.start_place, resolve.offsets, place, resolve.slots, n_results
    )
    return candidates[chosen]


def _depths(store: Store, resolve: Gather) -> Ints:
    """Through how many results of its own recursion each match depends on something else."""
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


def _values(outputs: tuple[Output, ...], resolve: Gather, n: int, context: ExpressionContext) -> dict[str, pa.Array]:
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
