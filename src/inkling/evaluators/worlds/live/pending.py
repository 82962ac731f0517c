"""Results that are pending because further worlds may have them, and the ids of the events that they name.

A result is final when no world can add to it: after the latest time at which its events can happen, plus the time that
the event waits for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.worlds.probabilities.combine import Summed, identities, joined_results, summed
from inkling.evaluators.worlds.probabilities.estimate import EventIds, ids_as
from inkling.evaluators.worlds.streams.assignment import Weights
from inkling.logical.plan import EventPlan, Per
from inkling.logical.rewrites.in_worlds import WORLD
from inkling.model.batch import FOREVER, Ints, MatchBatch
from inkling.model.hashes import Hashes
from inkling.model.runs import changes

MOST_NAMES = 1_000_000
"""Without a limit on how far back results reach, the ids of so many latest events are kept; older ids become null."""

SCHEMA = pa.schema([pa.field("token", pa.int64()), pa.field("id", pa.string()), pa.field("until", pa.int64())])


@dataclass(frozen=True, slots=True)
class LiveEventIds:
    """Ids of events by token, sorted by token, and the latest time at which each event can happen."""

    table: pa.Table = field(default_factory=SCHEMA.empty_table)

    def with_events(self, tokens: Ints, ids: pa.Array | pa.ChunkedArray, until: Ints) -> LiveEventIds:
        if not len(tokens):
            return self
        new = pa.table([pa.array(tokens), ids.cast(pa.string()), pa.array(until)], schema=SCHEMA)
        every = pa.concat_tables([self.table, new]).combine_chunks()
        _, first = np.unique(every["token"].to_numpy(), return_index=True)
        return LiveEventIds(every.take(pa.array(first)).combine_chunks())

    def still_needed(self, since: int | None, open_ones: Iterable[Ints]) -> LiveEventIds:
        """Without events that ended before `since` and are in no pending result; for None, only the latest events."""
        until = self.table["until"].to_numpy()
        if since is not None:
            kept = until >= since
            for tokens in open_ones:
                kept |= np.isin(self.table["token"].to_numpy(), tokens)
        elif len(until) > MOST_NAMES:
            kept = until >= np.partition(until, len(until) - MOST_NAMES)[len(until) - MOST_NAMES]
        else:
            return self
        return self if kept.all() else LiveEventIds(self.table.filter(pa.array(kept)).combine_chunks())

    def until(self, tokens: Ints) -> Ints:
        """The latest time at which each event can happen; the least integer for unknown tokens."""
        known = self.table["token"].to_numpy()
        if not len(known):
            return np.full(len(tokens), np.iinfo(np.int64).min)
        place = np.minimum(np.searchsorted(known, tokens), len(known) - 1)
        found = known[place] == tokens
        return np.where(found, self.table["until"].to_numpy()[place], np.iinfo(np.int64).min)

    def names(self, kind: pa.DataType) -> EventIds:
        ids = self.table["id"].combine_chunks()
        return EventIds(self.table["token"].to_numpy(), ids_as(ids, kind))


@dataclass(frozen=True, slots=True)
class PendingState:
    """Results by identity, when each becomes final, and all pairs of a result and a world that has it."""

    results: Summed
    final_at: Ints  # per result: on the clock of the streams
    identity: Hashes  # of pairs
    world: Ints

    @property
    def tokens(self) -> Ints:
        """The tokens in the lineage of all results."""
        return np.unique(self.results.lineage.flatten().to_numpy())


def with_matches(
    event: EventPlan, pending: PendingState | None, matches: MatchBatch, names: LiveEventIds, wait: int, scale: int
) -> PendingState | None:
    """Pending results with the matches of a step; `wait` is how long after its end a result may be known."""
    if not len(matches):
        return pending
    found = summed(event, matches, None)
    settled = _final_at(event, found, names, wait, scale)
    identity, world = identities(event, matches), matches.values[WORLD].to_numpy()
    if pending is None:
        return PendingState(found, settled, identity, world)
    results = joined_results([pending.results, found])
    latest = np.full(len(results), np.iinfo(np.int64).min)
    for part, times in ((pending.results, pending.final_at), (found, settled)):
        place = np.searchsorted(results.identity, part.identity)
        np.maximum.at(latest, place, times)
    return PendingState(
        results, latest, np.concatenate([pending.identity, identity]), np.concatenate([pending.world, world])
    )


def split_final(pending: PendingState, decided: int) -> tuple[PendingState | None, Summed | None]:
    """The results that stay pending, and those that are final, with the number of worlds that have each."""
    done = pending.final_at <= decided
    if not done.any():
        return pending, None
    results = pending.results.take(np.flatnonzero(done))
    closed = np.isin(pending.identity, results.identity)
    n_worlds = _n_worlds(pending.identity[closed], pending.world[closed])
    final = replace(results, weight=n_worlds)
    if done.all():
        return None, final
    rest = pending.results.take(np.flatnonzero(~done))
    return PendingState(rest, pending.final_at[~done], pending.identity[~closed], pending.world[~closed]), final


def _n_worlds(identity: Hashes, world: Ints) -> Weights:
    """The number of worlds that have each result, in the order of identities; a pair may occur several times."""
    order = np.lexsort((world, identity))
    identity, world = identity[order], world[order]
    is_new = changes(identity)
    counts = is_new | changes(world)
    weights: Weights = np.add.reduceat(counts.astype(np.int64), np.flatnonzero(is_new))
    return weights


def _final_at(event: EventPlan, found: Summed, names: LiveEventIds, wait: int, scale: int) -> Ints:
    """The time after which no further world can have each result, on the clock of the streams."""
    if event.per is Per.VALUES or wait >= FOREVER:
        return np.full(len(found), FOREVER)
    latest = found.end // scale
    if event.per is Per.MATCH and len(found):
        offsets = found.lineage.offsets.to_numpy().astype(np.int64)
        until = names.until(found.lineage.values.to_numpy(zero_copy_only=False))
        owner = np.repeat(np.arange(len(found)), np.diff(offsets))
        latest = latest.copy()
        np.maximum.at(latest, owner, until[offsets[0] : offsets[-1]])
    return np.minimum(latest + wait, FOREVER)
