"""Matches of many worlds added up: one row per result, with the total weight of the worlds that have it.

The probability of a result is the sum over the worlds that have it (Re et al., Lahar, section 2.3). A result is known
by a hash of 64 bits over its key, its head and what PER states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.worlds.streams.assignment import ALTERNATIVE, Weights
from inkling.kernels.columns.hashing import hashed_lists
from inkling.logical.plan import EventPlan, Per
from inkling.logical.rewrites.in_worlds import WORLD, key_output
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints, MatchBatch
from inkling.model.hashes import Hashes, combined, hashes_of
from inkling.model.runs import changes


@dataclass(frozen=True, slots=True)
class Summed:
    """Results sorted by identity, on the clock of the worlds."""

    identity: Hashes
    world: Ints  # the first world that has the result
    weight: Weights  # the sum of the probabilities of its worlds, or their number
    start: Ints  # the earliest in any world
    end: Ints  # the latest in any world
    detected_at: Ints  # the latest in any world
    values: pa.Table  # of the first world that has the result
    lineage: pa.ListArray  # tokens, of the first world that has the result

    def __len__(self) -> int:
        return len(self.identity)

    def take(self, rows: Ints) -> Summed:
        chosen = pa.array(rows)
        return Summed(
            self.identity[rows],
            self.world[rows],
            self.weight[rows],
            self.start[rows],
            self.end[rows],
            self.detected_at[rows],
            self.values.take(chosen),
            self.lineage.take(chosen),
        )


def summed(event: EventPlan, matches: MatchBatch, weights: Weights | None) -> Summed:
    """Matches of some worlds as results; `weights` are by world, None: each world counts 1."""
    world = matches.values[WORLD].to_numpy()
    identity = identities(event, matches)
    order = np.lexsort((world, identity))
    again = ~(changes(identity[order]) | changes(world[order]))
    weight: Weights = np.ones(len(order), np.int64) if weights is None else weights[world]
    weight[order[again]] = 0
    every = Summed(
        identity,
        world,
        weight,
        matches.start,
        matches.end,
        matches.detected_at,
        values_of(event, matches.values, len(matches)),
        matches.lineage,
    )
    return _grouped(every, order)


def values_of(event: EventPlan, values: Mapping[str, pa.Array], n: int) -> pa.Table:
    """The values of head and RETURN of some results; a table without them needs a column all the same."""
    columns = {output.name: values[output.name] for output in (*event.head, *event.returns)}
    return pa.table(columns or {"@": pa.nulls(n)})


def nothing(event: EventPlan) -> Summed:
    columns = {output.name: pa.nulls(0, ARROW_TYPES[output.type]) for output in (*event.head, *event.returns)}
    none = np.empty(0, np.int64)
    lineage = pa.array([], pa.list_(pa.int64()))
    values = pa.table(columns or {"@": pa.nulls(0)})
    return Summed(none.view(np.uint64), none, none, none, none, none, values, lineage)


def joined_results(parts: Sequence[Summed]) -> Summed:
    """Adds up sums over different worlds."""
    if len(parts) == 1:
        return parts[0]

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    return merged(
        Summed(
            column("identity"),
            column("world"),
            column("weight"),
            column("start"),
            column("end"),
            column("detected_at"),
            pa.concat_tables([part.values for part in parts]),
            pa.chunked_array([part.lineage for part in parts]).combine_chunks(),
        )
    )


def merged(every: Summed) -> Summed:
    """Adds up rows with the same identity, which are sums over different worlds."""
    return _grouped(every, np.lexsort((every.world, every.identity)))


def _grouped(every: Summed, order: Ints) -> Summed:
    """One row per identity; `order` sorts by identity and world."""
    identity = every.identity[order]
    first = np.flatnonzero(changes(identity))
    chosen = pa.array(order[first])
    return Summed(
        identity[first],
        every.world[order[first]],
        _reduced(np.add, every.weight[order], first),
        _reduced(np.minimum, every.start[order], first),
        _reduced(np.maximum, every.end[order], first),
        _reduced(np.maximum, every.detected_at[order], first),
        every.values.take(chosen),
        every.lineage.take(chosen),
    )


def identities(event: EventPlan, matches: MatchBatch) -> Hashes:
    """The identity of the result of each match: a hash of key, head, and what PER states; the same in all worlds."""
    n = len(matches)
    names = [*(key_output(place) for place in range(len(event.partition))), *(output.name for output in event.head)]
    parts = [hashes_of(_plain(matches.values[name])) for name in names]
    if event.per is Per.MATCH:
        offsets = matches.lineage.offsets.to_numpy()
        tokens = matches.lineage.values.cast(pa.int64(), safe=False).fill_null(0).to_numpy(zero_copy_only=False)
        parts.append(hashed_lists(offsets, tokens.view(np.uint64) | ALTERNATIVE))
    if event.per in (Per.INTERVAL, Per.END):
        parts += [_times(matches.end), _places(matches, matches.end_place)]
    if event.per is Per.INTERVAL:
        parts += [_times(matches.start), _places(matches, matches.start_place)]
    return combined(np.full(n, len(parts) + 1, np.uint64), *parts)


def _times(times: Ints) -> Hashes:
    return times.view(np.uint64)


def _places(matches: MatchBatch, places: Ints) -> Hashes:
    return hashes_of(_plain(matches.places(places)))


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _reduced(operation: np.ufunc, column: np.ndarray, first: Ints) -> np.ndarray:
    return operation.reduceat(column, first) if len(first) else column[:0]
