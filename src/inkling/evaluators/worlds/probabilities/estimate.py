"""From sums over worlds to results in the public columns: probability, method, error, CONFIDENCE and TOP, ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.sampling import interval
from inkling.evaluators.worlds.probabilities.combine import Summed
from inkling.logical.plan import EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import Ints
from inkling.model.time import Clock
from inkling.model.types import Type
from inkling.results import (
    EXACT,
    SAMPLED,
    UNDECIDED,
    Matches,
    may_reach,
    most_probable,
    public_table,
    reaches,
    result_schema,
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Results with probabilities; the method is UNDECIDED where the error leaves open whether CONFIDENCE is reached."""

    results: Summed
    probability: np.ndarray
    error: np.ndarray
    method: np.ndarray  # EXACT, SAMPLED or UNDECIDED

    def where(self, mask: np.ndarray) -> Estimate:
        rows = np.flatnonzero(mask)
        return Estimate(self.results.take(rows), self.probability[rows], self.error[rows], self.method[rows])

    def matches(self, event: EventPlan, lineage: pa.ListArray, scale: int) -> Matches:
        """The results as matches on the clock of the streams; `lineage` holds ids."""
        results = self.results
        return Matches(
            results.start // scale,
            results.end // scale,
            results.detected_at // scale,
            _on_clock(event, results, scale),
            lineage,
            self.probability,
            self.error,
            self.method,
        )


def exact_estimate(event: EventPlan, results: Summed) -> Estimate:
    """Probabilities from all worlds, without error."""
    probability = np.clip(results.weight.astype(np.float64), 0.0, 1.0)
    n = len(results)
    found = Estimate(results, probability, np.zeros(n), np.full(n, EXACT, object))
    reached = may_reach(probability, found.error, event.confidence)
    return found if reached.all() else found.where(reached)


def sampled_estimate(event: EventPlan, results: Summed, n_worlds: int, delta: float) -> Estimate:
    """Probabilities estimated from `n_worlds` sampled worlds; results that surely miss CONFIDENCE are left out."""
    hits = results.weight.astype(np.int64)
    low, high = interval(hits, n_worlds, delta)
    share = hits / n_worlds
    error = np.maximum(share - low, high - share)
    method = np.full(len(results), SAMPLED, object)
    found = Estimate(results, share, error, method)
    if event.confidence is None:
        return found
    method[~reaches(low, event.confidence)] = UNDECIDED
    possible = reaches(high, event.confidence)
    return found if possible.all() else found.where(possible)


@dataclass(frozen=True, slots=True)
class EventIds:
    """Ids of events, sorted by token; null for lost events."""

    tokens: Ints
    ids: pa.Array

    @classmethod
    def of(cls, tokens: Sequence[Ints], ids: Sequence[pa.Array], kind: pa.DataType) -> EventIds:
        every = np.concatenate([np.empty(0, np.int64), *tokens])
        called = pa.chunked_array([ids_as(one, kind) for one in ids], kind).combine_chunks()
        found, first = np.unique(every, return_index=True)
        return cls(found, called.take(pa.array(first)))

    def lineage(self, lineage: pa.ListArray) -> pa.ListArray:
        """Lists of tokens as lists of ids; null for unknown tokens."""
        tokens = lineage.values.to_numpy(zero_copy_only=False)
        place = np.searchsorted(self.tokens, tokens)
        unknown = np.append(self.tokens, 0)[place] != tokens
        unknown |= place == len(self.tokens)
        return pa.ListArray.from_arrays(lineage.offsets, self.ids.take(pa.array(place, mask=unknown)))


def ids_as(ids: pa.Array, kind: pa.DataType) -> pa.Array:
    """Ids of one type; null for ids of another type, which no result with ids of this type names."""
    if ids.type == kind or pa.types.is_string(kind) or pa.types.is_null(ids.type):
        return ids.cast(kind)
    if not pa.types.is_string(ids.type):
        return pa.nulls(len(ids), kind)
    try:
        return ids.cast(kind)
    except pa.ArrowInvalid:
        plain = pc.fill_null(pc.match_substring_regex(ids, r"^-?[0-9]+$"), False)
        return pc.if_else(plain, ids, pa.scalar(None, ids.type)).cast(kind)


def estimate_table(event: EventPlan, parts: Sequence[Estimate], names: EventIds, scale: int, clock: Clock) -> pa.Table:
    """The results of one event in the public columns."""
    if not parts:
        return result_schema(event, names.ids.type, clock).empty_table()
    matches = [part.matches(event, names.lineage(part.results.lineage), scale) for part in parts]
    found = pa.concat_tables([public_table(event, some, clock) for some in matches])
    return most_probable(found, event.top) if event.top is not None else found


def _on_clock(event: EventPlan, results: Summed, scale: int) -> dict[str, pa.ChunkedArray]:
    """The values of head and RETURN, with times and durations on the clock of the streams."""
    values = {output.name: results.values[output.name] for output in (*event.head, *event.returns)}
    if scale > 1:
        for output in (*event.head, *event.returns):
            if output.type in (Type.TIME, Type.DURATION):
                ticks = values[output.name].cast(ARROW_TYPES[output.type], safe=False).cast(pa.float64(), safe=False)
                values[output.name] = pc.floor(pc.divide(ticks, float(scale))).cast(pa.int64())
    return values
