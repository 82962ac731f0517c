"""The answer of a program over complete uncertain streams: every result with its probability and how it was found.

What a run over uncertain streams depends on: how many worlds were enumerated, and how many were sampled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from inkling.evaluators.protocol import OnWorlds
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.alternatives import Precision
from inkling.evaluators.worlds.probabilities.combine import Summed, joined_results
from inkling.evaluators.worlds.probabilities.estimate import Estimate, EventIds, exact_estimate, sampled_estimate
from inkling.evaluators.worlds.run import WorldData, components_with, tokens_behind
from inkling.io.normalize import ID
from inkling.logical.plan import Demand, EventPlan
from inkling.results import UNDECIDED

if TYPE_CHECKING:
    from inkling.evaluators.worlds.run import WorldData


@dataclass(frozen=True, slots=True)
class WorldCounts:
    """Parts of the data whose worlds were all counted, and parts whose worlds were sampled."""

    n_counted: int = 0  # parts
    n_worlds_counted: int = 0
    n_sampled: int = 0  # parts
    n_worlds_sampled: int = 0  # per part
    n_further: int = 0  # worlds, for results that were undecided

    @classmethod
    def of(cls, data: WorldData, n_worlds: int) -> WorldCounts:
        n_sampled = int(np.count_nonzero(data.is_sampled))
        finite = data.choices.n_worlds[~data.is_sampled]
        return cls(data.parts.count - n_sampled, int(finite.sum()), n_sampled if n_worlds else 0, n_worlds)

    @classmethod
    def merged(cls, counts: Iterable[WorldCounts]) -> WorldCounts:
        return reduce(cls._and, counts, cls())

    def _and(self, other: WorldCounts) -> WorldCounts:
        return WorldCounts(
            self.n_counted + other.n_counted,
            self.n_worlds_counted + other.n_worlds_counted,
            self.n_sampled + other.n_sampled,
            max(self.n_worlds_sampled, other.n_worlds_sampled),
            max(self.n_further, other.n_further),
        )

    def __str__(self) -> str:
        parts = []
        if self.n_counted:
            parts.append(f"{_number(self.n_counted, 'part')} enumerated ({_number(self.n_worlds_counted, 'world')})")
        if self.n_sampled:
            parts.append(f"{_number(self.n_sampled, 'part')} sampled in {self.n_worlds_sampled:,} worlds each")
        if self.n_further:
            parts.append(f"undecided results in {self.n_further:,} more")
        return "; ".join(parts) or "no worlds"


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def names_of(data: WorldData, kind: pa.DataType) -> EventIds:
    """The ids of all events, as texts or numbers of one kind."""
    return EventIds.of(
        [stream.tokens.view(np.int64) for stream in data.streams],
        [stream.rows[ID].combine_chunks() for stream in data.streams],
        kind,
    )


def names_by_event(data: WorldData) -> dict[str, EventIds]:
    """The names of the input events of each event."""
    ids = data.program.id_types
    kinds = {kind: names_of(data, kind) for kind in set(ids.values())}
    return {event.name: kinds[ids[event.name]] for event in data.program.events}


def estimates(
    data: WorldData, sampling: Sampling, on_worlds: OnWorlds | None = None
) -> tuple[dict[str, list[Estimate]], WorldCounts]:
    """Estimates per event: those that were enumerated, then those that were sampled."""
    events = data.program.events
    counted = data.counted(Precision.FLOAT)
    sampled_only = [event.name for event in events if event.demand is Demand.SAMPLED]
    n_worlds, delta = sampling.plan(events)
    found: dict[str, list[Estimate]] = {event.name: [] for event in events}
    for event in events:
        if counted and event.name not in sampled_only:
            found[event.name].append(exact_estimate(event, counted[event.name]))
    drawn = first_look(data, sampling, 0, n_worlds, on_worlds)
    account = WorldCounts.of(data, n_worlds if drawn else 0)
    if not drawn:
        return found, account
    for event in events:
        found[event.name].append(sampled_estimate(event, drawn[event.name], n_worlds, delta))
    return _decided(data, sampling, found, account, n_worlds, delta, on_worlds)


def first_look(
    data: WorldData, sampling: Sampling, first: int, n_worlds: int, on_worlds: OnWorlds | None = None
) -> dict[str, Summed]:
    """Sums over some worlds per event: of all parts if it demands SAMPLED, else of those with too many worlds to count.

    Nothing where nothing is to be sampled.
    """
    sampled_only = [event.name for event in data.program.events if event.demand is Demand.SAMPLED]
    chosen = np.ones(data.parts.count, bool) if sampled_only else data.is_sampled
    if not chosen.any():
        return {}
    drawn = data.sampled(sampling, first, n_worlds, chosen, on_worlds)
    if sampled_only and not data.is_sampled.all():
        others = data.sampled(sampling, first, n_worlds, data.is_sampled) if data.is_sampled.any() else {}
        drawn = {
            name: drawn[name] if name in sampled_only else others.get(name, drawn[name].take(_NONE)) for name in drawn
        }
    return drawn


_NONE = np.empty(0, np.int64)


def _decided(
    data: WorldData,
    sampling: Sampling,
    found: dict[str, list[Estimate]],
    account: WorldCounts,
    n_worlds: int,
    delta: float,
    on_worlds: OnWorlds | None,
) -> tuple[dict[str, list[Estimate]], WorldCounts]:
    """Results that are undecided about CONFIDENCE, looked at once more in as many worlds as the budget allows."""
    open_ones = {name: parts[-1].where(parts[-1].method == UNDECIDED) for name, parts in found.items() if parts}
    open_ones = {name: part for name, part in open_ones.items() if len(part.results)}
    if not open_ones or sampling.budget == 1:
        return found, account
    tokens = tokens_behind(pa.chunked_array([part.results.lineage for part in open_ones.values()]).combine_chunks())
    more = (sampling.budget - 1) * n_worlds
    further = data.sampled(sampling, n_worlds, more, components_with(data, tokens), on_worlds)
    events = {event.name: event for event in data.program.events}
    for name in open_ones:
        found[name][-1:] = settled(events[name], found[name][-1], further[name], n_worlds + more, delta)
    return found, replace(account, n_further=more)


def settled(event: EventPlan, first: Estimate, further: Summed, n_worlds: int, delta: float) -> list[Estimate]:
    """What was decided at first, and the rest judged by further worlds as well, `n_worlds` in all."""
    is_open = first.method == UNDECIDED
    undecided = first.where(is_open).results
    wanted = np.isin(further.identity, undecided.identity)
    both = joined_results([undecided, further.take(np.flatnonzero(wanted))])
    return [first.where(~is_open), sampled_estimate(event, both, n_worlds, delta)]
