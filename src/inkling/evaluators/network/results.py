"""From matches to results: CONSUME, then one result per identity that PER asks for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.matches.gather import Gather
from inkling.evaluators.matches.lineage import lineage_ids
from inkling.evaluators.network.arena import Arena
from inkling.evaluators.network.partials import Occurrences
from inkling.evaluators.network.store import Store
from inkling.kernels import lists
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import EventPlan, Output, Per
from inkling.logical.vectorized import evaluate
from inkling.model.batch import Ints, MatchBatch


def results_of(
    event: EventPlan,
    store: Store,
    found: Occurrences,
    arena: Arena,
    gather: Callable[[Occurrences], Gather],
    around: Surroundings,
) -> MatchBatch:
    """One result per identity, in (key, end, start) order of first appearance."""
    key = found.origin
    order = np.lexsort((found.start_place, found.start, found.end_place, found.end, key))
    found = found.take(order)
    if event.restart:
        mask = lists.restart_mask(found.origin, found.start, found.start_place, found.end, found.end_place)
        found = found.where(mask)
    offsets, rows, slots = arena.unroll(found.tail)
    resolve = gather(found)
    head = _values(event.head, resolve, len(found), around)
    identity, n_results = _identities(event.per, store, found, head, offsets, rows)
    place = store.batch.event[rows]
    witness = lists.choose_witness(identity, found.start, found.start_place, offsets, place, slots, n_results)
    start, start_place = found.start[witness], found.start_place[witness]
    end, end_place = _latest(identity, found, n_results)
    known = np.full(n_results, np.iinfo(np.int64).max)
    np.minimum.at(known, identity, found.known)
    chosen = found.take(witness)
    returned = _values(event.returns, gather(chosen), len(chosen), around)
    values = {name: array.take(pa.array(witness)) for name, array in head.items()} | returned
    return MatchBatch(
        event.name,
        chosen.origin,
        start,
        start_place,
        end,
        end_place,
        known,
        values,
        lineage_ids(store.batch, *arena.unroll(chosen.tail)[:2]),
        store.batch.place_words,
    )


def _values(outputs: tuple[Output, ...], resolve: Gather, n: int, around: Surroundings) -> dict[str, pa.Array]:
    return {output.name: evaluate(output.expr, resolve, n, around) for output in outputs}


def _identities(
    per: Per, store: Store, found: Occurrences, head: dict[str, pa.Array], offsets: Ints, rows: Ints
) -> tuple[Ints, int]:
    """A number per match; matches that are the same result share it. Numbers follow first appearance."""
    columns: list[Ints] = [found.origin]
    columns += [_codes(array) for array in head.values()]
    match per:
        case Per.MATCH:
            columns += [print_.view(np.int64) for print_ in lists.fingerprints(offsets, store.batch.event[rows])]
        case Per.INTERVAL:
            columns += [found.start, found.start_place, found.end, found.end_place]
        case Per.END:
            columns += [found.end, found.end_place]
        case Per.VALUES:
            pass
    return _number(columns)


def _number(columns: list[Ints]) -> tuple[Ints, int]:
    n = len(columns[0])
    if n == 0:
        return np.empty(0, np.int64), 0
    order = np.lexsort(columns[::-1])
    new = np.zeros(n, bool)
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    group = np.empty(n, np.int64)
    group[order] = np.cumsum(new)
    _, first, by_appearance = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[by_appearance], len(first)


def _codes(array: pa.Array) -> Ints:
    codes = pc.dictionary_encode(array, null_encoding="encode").indices
    return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)


def _latest(identity: Ints, found: Occurrences, n: int) -> tuple[Ints, Ints]:
    """Latest end per result; matches come sorted by end within a key, so the last one wins."""
    end, place = np.zeros(n, np.int64), np.zeros(n, np.int64)
    end[identity], place[identity] = found.end, found.end_place
    return end, place
