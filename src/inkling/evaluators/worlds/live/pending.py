"""Results that more worlds may still have: they are emitted when no world can add to them any more.

What tokens stand for while results may still mention them: the id of the event, and how late it can happen.

Puts rows of a stream into worlds when their time is decided, by the kind of its uncertainty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.worlds.alternatives import Weights
from inkling.evaluators.worlds.live.lossy import release_numbered
from inkling.evaluators.worlds.live.waiting import Draws, Released, WaitingState, between, divided, released
from inkling.evaluators.worlds.probabilities.combine import Summed, identities, joined_results, summed
from inkling.evaluators.worlds.probabilities.estimate import EventIds, called_as
from inkling.evaluators.worlds.streams.assignment import WorldAssignment
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.of import CertainStream, WorldStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.io.normalize import END, START
from inkling.logical.plan import EventPlan, Per
from inkling.logical.rewrites.in_worlds import WORLD
from inkling.model.batch import FOREVER, Ints, MatchBatch
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue

MOST_NAMES = 1_000_000
"""Where nothing limits how far back a result reaches, so many events are remembered by name; older ones lose it."""

SCHEMA = pa.schema([pa.field("token", pa.int64()), pa.field("id", pa.string()), pa.field("until", pa.int64())])


@dataclass(frozen=True, slots=True)
class LiveNames:
    """One line per token, in the order of the tokens."""

    table: pa.Table = field(default_factory=SCHEMA.empty_table)

    def with_events(self, tokens: Ints, ids: pa.Array | pa.ChunkedArray, until: Ints) -> LiveNames:
        if not len(tokens):
            return self
        new = pa.table([pa.array(tokens), ids.cast(pa.string()), pa.array(until)], schema=SCHEMA)
        every = pa.concat_tables([self.table, new]).combine_chunks()
        _, first = np.unique(every["token"].to_numpy(), return_index=True)
        return LiveNames(every.take(pa.array(first)).combine_chunks())

    def still_needed(self, since: int | None, open_ones: Iterable[Ints]) -> LiveNames:
        """The names of open results, and of events that did not end before `since`; without such a time, the latest."""
        until = self.table["until"].to_numpy()
        if since is not None:
            kept = until >= since
            for tokens in open_ones:
                kept |= np.isin(self.table["token"].to_numpy(), tokens)
        elif len(until) > MOST_NAMES:
            kept = until >= np.partition(until, len(until) - MOST_NAMES)[len(until) - MOST_NAMES]
        else:
            return self
        return self if kept.all() else LiveNames(self.table.filter(pa.array(kept)).combine_chunks())

    def until(self, tokens: Ints) -> Ints:
        """The latest time at which each event can happen; long ago for those that were forgotten."""
        known = self.table["token"].to_numpy()
        if not len(known):
            return np.full(len(tokens), np.iinfo(np.int64).min)
        place = np.minimum(np.searchsorted(known, tokens), len(known) - 1)
        found = known[place] == tokens
        return np.where(found, self.table["until"].to_numpy()[place], np.iinfo(np.int64).min)

    def names(self, kind: pa.DataType) -> EventIds:
        ids = self.table["id"].combine_chunks()
        return EventIds(self.table["token"].to_numpy(), called_as(ids, kind))


@dataclass(frozen=True, slots=True)
class PendingState:
    """Results by identity, when each is settled, and every pair of a result and a world that has it."""

    results: Summed
    settled: Ints  # per result
    identity: Hashes  # of pairs
    world: Ints

    @property
    def tokens(self) -> Ints:
        """The events that results depend on."""
        return np.unique(self.results.lineage.flatten().to_numpy())


def with_matches(
    event: EventPlan, pending: PendingState | None, matches: MatchBatch, names: LiveNames, wait: int, scale: int
) -> PendingState | None:
    """The pending results and those of some more worlds; `wait` is how long after its end a result may be known."""
    if not len(matches):
        return pending
    found = summed(event, matches, None)
    settled = _settled(event, found, names, wait, scale)
    identity, world = identities(event, matches), matches.values[WORLD].to_numpy()
    if pending is None:
        return PendingState(found, settled, identity, world)
    results = joined_results([pending.results, found])
    latest = np.full(len(results), np.iinfo(np.int64).min)
    for part, times in ((pending.results, pending.settled), (found, settled)):
        place = np.searchsorted(results.identity, part.identity)
        np.maximum.at(latest, place, times)
    return PendingState(
        results, latest, np.concatenate([pending.identity, identity]), np.concatenate([pending.world, world])
    )


def settled_by(pending: PendingState, decided: int) -> tuple[PendingState | None, Summed | None]:
    """What no world can add to any more, with the number of worlds that have it; the rest stays pending."""
    done = pending.settled <= decided
    if not done.any():
        return pending, None
    results = pending.results.take(np.flatnonzero(done))
    closed = np.isin(pending.identity, results.identity)
    n_worlds = _n_worlds(pending.identity[closed], pending.world[closed])
    final = replace(results, weight=n_worlds)
    if done.all():
        return None, final
    rest = pending.results.take(np.flatnonzero(~done))
    return PendingState(rest, pending.settled[~done], pending.identity[~closed], pending.world[~closed]), final


def _n_worlds(identity: Hashes, world: Ints) -> Weights:
    """How many worlds have each result, in the order of identities; several stages may have reported the same pair."""
    order = np.lexsort((world, identity))
    identity, world = identity[order], world[order]
    is_new = np.append(True, identity[1:] != identity[:-1])
    counts = is_new | np.append(True, world[1:] != world[:-1])
    weights: Weights = np.add.reduceat(counts.astype(np.int64), np.flatnonzero(is_new))
    return weights


def _settled(event: EventPlan, found: Summed, names: LiveNames, wait: int, scale: int) -> Ints:
    """The time from which on no world can have the result any more, on the streams' clock."""
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


def release(
    schema: StreamSchema, waiting: WaitingState, old: int, new: int, draws: Draws
) -> tuple[WaitingState, Released]:
    """What happens in (old, new] in any world, and what must wait for longer."""
    match schema.uncertainty:
        case None:
            now, later = divided(waiting.rows, END, new)
            stream: WorldStream = CertainStream.of(schema, now)
            assignment = stream.draw(draws.start, 0, draws.n_worlds, draws.scale)
            return replace(waiting, rows=later), released(stream, assignment, stream.extents[1], draws)
        case ImpreciseTime():
            now, later = divided(waiting.rows, START, new)
            stream = ImpreciseStream.of(schema, now)
            assignment = between(stream.draw(draws.start, 0, draws.n_worlds, draws.scale), old, new, draws.scale)
            still = now.filter(pa.array(now[END].to_numpy() > new))
            ready = released(stream, assignment, stream.extents[1], draws)
            return replace(waiting, rows=pa.concat_tables([still, later])), ready
        case ProbableValue():
            now, later = divided(waiting.rows, START, new)
            alternatives = ProbableStream.of(schema, now)
            assignment, chains = _followed(alternatives, waiting.chains, draws)
            until = _latest_end(alternatives)
            return replace(waiting, rows=later, chains=chains), released(alternatives, assignment, until, draws)
        case LostEvents():
            return release_numbered(schema, schema.uncertainty, waiting, old, new, draws)


def _latest_end(stream: ProbableStream) -> Ints:
    """When the last of the alternatives of an event ends, per alternative."""
    if not len(stream.rows):
        return np.empty(0, np.int64)
    return np.repeat(np.maximum.reduceat(stream.rows[END].to_numpy(), stream.offsets[:-1]), np.diff(stream.offsets))


def _followed(
    stream: ProbableStream, known: Mapping[int, Hashes], draws: Draws
) -> tuple[WorldAssignment, dict[int, Hashes]]:
    """Chains continue where they were; one that nothing is known of in any world is forgotten."""
    if not stream.is_markov:
        return stream.draw(draws.start, 0, draws.n_worlds, draws.scale), {}
    firsts = stream.offsets[stream.chains[:-1]]
    keys = [int(key) for key in stream.keys[firsts]]
    latest = np.zeros((len(keys), draws.n_worlds), np.uint64)
    for number, key in enumerate(keys):
        if key in known:
            latest[number] = known[key]
    assignment = stream.draw_on(draws.start, 0, latest)
    after = dict(known)
    for number, key in enumerate(keys):
        after[key] = latest[number]
    return assignment, {key: values for key, values in after.items() if values.any()}
