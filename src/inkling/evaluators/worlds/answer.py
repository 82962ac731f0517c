"""The answer over complete uncertain streams: estimates of all results, or an error where EXACT is impossible.

Components with few worlds are enumerated, the others are sampled. Results whose interval leaves open whether they reach
CONFIDENCE are sampled once more, with the rest of the budget (`Sampling.budget`). Lahar samples in this way what it has
no exact method for (Re et al., section 3.5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.analysis.uncertainty import streams_of
from inkling.errors import InputError
from inkling.evaluators.protocol import OnWorlds
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.probabilities.combine import Summed, joined_results
from inkling.evaluators.worlds.probabilities.estimate import Estimate, EventIds, exact_estimate, sampled_estimate
from inkling.evaluators.worlds.run import WorldData, components_with, tokens_behind
from inkling.evaluators.worlds.streams.assignment import WeightType
from inkling.evaluators.worlds.streams.lost import LossyStream
from inkling.evaluators.worlds.streams.world_stream import CertainStream
from inkling.io.normalize import ID
from inkling.logical.plan import Demand, EventPlan
from inkling.results import UNDECIDED


@dataclass(frozen=True, slots=True)
class WorldCounts:
    """How many parts of the data were enumerated and sampled, and in how many worlds."""

    n_enumerated: int = 0  # parts
    n_worlds_enumerated: int = 0
    n_sampled: int = 0  # parts
    n_worlds_sampled: int = 0  # per part
    n_further: int = 0  # worlds of the second sample, for undecided results

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
            self.n_enumerated + other.n_enumerated,
            self.n_worlds_enumerated + other.n_worlds_enumerated,
            self.n_sampled + other.n_sampled,
            max(self.n_worlds_sampled, other.n_worlds_sampled),
            max(self.n_further, other.n_further),
        )

    def __str__(self) -> str:
        parts = []
        if self.n_enumerated:
            parts.append(
                f"{_number(self.n_enumerated, 'part')} enumerated ({_number(self.n_worlds_enumerated, 'world')})"
            )
        if self.n_sampled:
            parts.append(f"{_number(self.n_sampled, 'part')} sampled in {self.n_worlds_sampled:,} worlds each")
        if self.n_further:
            parts.append(f"undecided results in {self.n_further:,} more")
        return "; ".join(parts) or "no worlds"


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def event_ids_of(data: WorldData, kind: pa.DataType) -> EventIds:
    """The ids of all events by token, as texts or numbers."""
    return EventIds.of(
        [stream.tokens.view(np.int64) for stream in data.streams],
        [stream.rows[ID].combine_chunks() for stream in data.streams],
        kind,
    )


def event_ids_by_event(data: WorldData) -> dict[str, EventIds]:
    """By event, the ids of the input events that its results name."""
    ids = data.program.id_types
    kinds = {kind: event_ids_of(data, kind) for kind in set(ids.values())}
    return {event.name: kinds[ids[event.name]] for event in data.program.events}


def estimates(
    data: WorldData, sampling: Sampling, on_worlds: OnWorlds | None = None
) -> tuple[dict[str, list[Estimate]], WorldCounts]:
    """By event, its estimates: first of enumerated components, then of sampled ones; and the numbers of worlds."""
    events = data.program.events
    enumerated = data.enumerated(WeightType.FLOAT)
    sampled_only = [event.name for event in events if event.demand is Demand.SAMPLED]
    n_worlds, delta = sampling.plan(events)
    found: dict[str, list[Estimate]] = {event.name: [] for event in events}
    for event in events:
        if enumerated and event.name not in sampled_only:
            found[event.name].append(exact_estimate(event, enumerated[event.name]))
    drawn = first_sample(data, sampling, 0, n_worlds, on_worlds)
    counts = WorldCounts.of(data, n_worlds if drawn else 0)
    if not drawn:
        return found, counts
    for event in events:
        found[event.name].append(sampled_estimate(event, drawn[event.name], n_worlds, delta))
    return _sampled_further(data, sampling, found, counts, n_worlds, delta, on_worlds)


def first_sample(
    data: WorldData, sampling: Sampling, first: int, n_worlds: int, on_worlds: OnWorlds | None = None
) -> dict[str, Summed]:
    """By event, sums over sampled worlds: of all components if the event demands SAMPLED, else of those not enumerated.

    Empty if nothing is to be sampled.
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


def _sampled_further(
    data: WorldData,
    sampling: Sampling,
    found: dict[str, list[Estimate]],
    counts: WorldCounts,
    n_worlds: int,
    delta: float,
    on_worlds: OnWorlds | None,
) -> tuple[dict[str, list[Estimate]], WorldCounts]:
    """Samples once more, in as many worlds as the budget allows, the results that are undecided about CONFIDENCE."""
    open_ones = {name: parts[-1].where(parts[-1].method == UNDECIDED) for name, parts in found.items() if parts}
    open_ones = {name: part for name, part in open_ones.items() if len(part.results)}
    if not open_ones or sampling.budget == 1:
        return found, counts
    tokens = tokens_behind(pa.chunked_array([part.results.lineage for part in open_ones.values()]).combine_chunks())
    more = (sampling.budget - 1) * n_worlds
    further = data.sampled(sampling, n_worlds, more, components_with(data, tokens), on_worlds)
    events = {event.name: event for event in data.program.events}
    for name in open_ones:
        found[name][-1:] = with_further_worlds(events[name], found[name][-1], further[name], n_worlds + more, delta)
    return found, replace(counts, n_further=more)


def with_further_worlds(
    event: EventPlan, first: Estimate, further: Summed, n_worlds: int, delta: float
) -> list[Estimate]:
    """The decided results of a first sample, and the undecided ones estimated from both samples, `n_worlds` in all."""
    is_open = first.method == UNDECIDED
    undecided = first.where(is_open).results
    wanted = np.isin(further.identity, undecided.identity)
    both = joined_results([undecided, further.take(np.flatnonzero(wanted))])
    return [first.where(~is_open), sampled_estimate(event, both, n_worlds, delta)]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an event cannot be exact: its place in the program, the hash of the key of the part, and the error."""

    event: int
    part: int
    error: InputError


def require_exact(data: WorldData, sampling: Sampling) -> None:
    """Raises the error of the first event that demands EXACT and has too many worlds."""
    if (found := rejection(data, sampling)) is not None:
        raise found.error


def rejection(data: WorldData, sampling: Sampling) -> Rejection | None:
    """The first event that demands EXACT, and the first component with too many worlds for it; None if all have few."""
    return next(_rejections(data, sampling), None)


def _rejections(data: WorldData, sampling: Sampling) -> Iterator[Rejection]:
    for number, event in enumerate(data.program.events):
        if event.demand is Demand.EXACT:
            for part, error in _problems(event, data, sampling):
                yield Rejection(number, int(data.parts.keys[part]), error)


def _problems(event: EventPlan, data: WorldData, sampling: Sampling) -> Iterator[tuple[int, InputError]]:
    behind = {stream.schema.name for stream in streams_of(event, data.program.part)}
    for number in np.flatnonzero(data.is_sampled).tolist():
        causes, where = _causes(data, number, behind)
        if not causes:
            continue
        notes = [f"{where}: {', '.join(causes)}"]
        choice = data.program.choices[event.name]
        if (why := choice.rejected_by(Evaluator.CHAIN) or choice.rejected_by(Evaluator.QUERY)) is not None:
            notes.append(f"the event is evaluated in possible worlds, because {why}")
        if not data.program.order_only and any("lost" in cause for cause in causes):
            notes.append("times of lost events cannot be enumerated, only their order")
        yield (
            number,
            InputError.of(
                "INK0615",
                f"`{event.name}` demands EXACT, but a part of the data has more than {sampling.exact_up_to:,} worlds",
                notes=tuple(notes),
                helps=(
                    "leave EXACT out to sample it",
                    "raise the limit (`--exact-up-to`), or make parts smaller with PARTITION BY and WITHIN",
                ),
            ),
        )


def _causes(data: WorldData, number: int, behind: set[str]) -> tuple[list[str], str]:
    """By stream, the number of choices in a component; and the key of the component, as texts for the error."""
    causes, where = [], "in all of the data"
    for stream, component in zip(data.streams, data.parts.of_rows, strict=True):
        rows = np.flatnonzero(component == number)
        if stream.schema.name not in behind or not len(rows):
            continue
        if data.program.key:
            values = [f"{name} = {stream.rows[name][int(rows[0])].as_py()!r}" for name in data.program.key]
            where = f"where {', '.join(values)}"
        if isinstance(stream, CertainStream):
            continue
        n = len(np.unique(stream.factors[rows][stream.factors[rows] >= 0]))
        many = "" if n == 1 else "s"
        kind = f"gap{many} with lost events" if isinstance(stream, LossyStream) else f"uncertain event{many}"
        if n:
            causes.append(f"{n} {kind} of {stream.schema.name}")
    return causes, where
