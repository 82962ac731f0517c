"""Results that more worlds may still have: they are told when no world can add to them any more."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.worlds.alternatives import Weights
from inkling.evaluators.worlds.combine import Summed, identities, summed, together
from inkling.evaluators.worlds.live.names import LiveNames
from inkling.logical.in_worlds import WORLD
from inkling.logical.plan import EventPlan, Per
from inkling.model.batch import FOREVER, Ints, MatchBatch


@dataclass(frozen=True, slots=True)
class Pending:
    """Results by identity, when each is settled, and every pair of a result and a world that has it."""

    results: Summed
    settled: Ints  # per result
    identity: Hashes  # of pairs
    world: Ints

    @property
    def tokens(self) -> Ints:
        """The events that results rest on."""
        return np.unique(self.results.lineage.flatten().to_numpy())


def with_matches(
    event: EventPlan, pending: Pending | None, matches: MatchBatch, names: LiveNames, wait: int, scale: int
) -> Pending | None:
    """The pending results and those of some more worlds; `wait` is how long after its end a result may be known."""
    if not len(matches):
        return pending
    found = summed(event, matches, None)
    settled = _settled(event, found, names, wait, scale)
    identity, world = identities(event, matches), matches.values[WORLD].to_numpy()
    if pending is None:
        return Pending(found, settled, identity, world)
    results = together([pending.results, found])
    latest = np.full(len(results), np.iinfo(np.int64).min)
    for part, times in ((pending.results, pending.settled), (found, settled)):
        place = np.searchsorted(results.identity, part.identity)
        np.maximum.at(latest, place, times)
    return Pending(
        results,
        latest,
        np.concatenate([pending.identity, identity]),
        np.concatenate([pending.world, world]),
    )


def settled_by(pending: Pending, decided: int) -> tuple[Pending | None, Summed | None]:
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
    return Pending(rest, pending.settled[~done], pending.identity[~closed], pending.world[~closed]), final


def _n_worlds(identity: Hashes, world: Ints) -> Weights:
    """How many worlds have each result, in the order of identities; several stages may have told of the same pair."""
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
