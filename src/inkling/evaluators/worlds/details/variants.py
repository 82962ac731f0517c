"""Matches of chosen components, world by world, also in variants of the data without a single event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from inkling.evaluators.certain import run_plan
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.probabilities.combine import identities
from inkling.evaluators.worlds.probabilities.exact import enumerate_worlds
from inkling.evaluators.worlds.run import WorldData, restricted_to
from inkling.evaluators.worlds.streams.assignment import WeightType, WorldAssignment, world_rows
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.evaluators.worlds.streams.world_stream import WorldStream
from inkling.logical.plan import EventPlan
from inkling.logical.rewrites.in_worlds import WORLD
from inkling.model.batch import Ints, MatchBatch

MOST_WORLDS = 1024
"""The limit on sampled worlds that are examined; components that are enumerated are examined in all worlds."""


@dataclass(frozen=True, slots=True)
class Removal:
    """An event that is removed from all worlds of its component, by token; all its alternatives are removed."""

    component: int
    token: int


def event_tokens(stream: WorldStream) -> Ints:
    """The token of the event of each row, the same for all alternatives of an event."""
    if isinstance(stream, ProbableStream):
        return np.repeat(stream.group_tokens.view(np.int64), np.diff(stream.offsets))
    return stream.tokens.view(np.int64)


@dataclass(frozen=True, slots=True)
class Worlds:
    """Worlds of some components: their rows, and the probability of each world, or its share of the sample."""

    streams: Sequence[WorldStream]
    assignment: Sequence[WorldAssignment]
    weights: np.ndarray
    components: Ints | None  # per enumerated world: its component; None: sampled worlds span all components

    def of_component(self, component: int) -> Ints:
        """The worlds of one component."""
        if self.components is None:
            return np.arange(len(self.weights))
        return np.flatnonzero(self.components == component)


@dataclass(frozen=True, slots=True)
class WorldMatches:
    """The matches of one event, one row per match and world."""

    event: EventPlan
    matches: MatchBatch
    identity: np.ndarray  # per match: that of its result
    variant: Ints  # per match: 0 for the data as it is, n for the data without removal n - 1
    world: Ints
    weight: np.ndarray  # per match: the probability of its world, or the share of the sample
    worlds: Worlds


@dataclass(frozen=True, slots=True)
class EventComponents:
    """The component of each event, by token."""

    tokens: Ints
    components: Ints

    @classmethod
    def of(cls, data: WorldData) -> EventComponents:
        tokens = np.concatenate([stream.tokens.view(np.int64) for stream in data.streams])
        found, first = np.unique(tokens, return_index=True)
        return cls(found, np.concatenate(data.parts.of_rows)[first])

    def __call__(self, tokens: Ints) -> Ints:
        return self.components[np.searchsorted(self.tokens, tokens)]


def matches_in_worlds(
    data: WorldData,
    sampling: Sampling,
    chosen: np.ndarray,
    removals: Sequence[Removal] = (),
    most_worlds: int = MOST_WORLDS,
) -> Iterator[WorldMatches]:
    """The matches of all events in the worlds of the chosen components: enumerated where possible, else sampled."""
    for worlds in chosen_worlds(data, sampling, chosen, most_worlds):
        yield from _evaluated(data, worlds, removals)


def chosen_worlds(
    data: WorldData, sampling: Sampling, chosen: np.ndarray, most_worlds: int = MOST_WORLDS
) -> Iterator[Worlds]:
    """All worlds of the chosen components that are enumerated, then a sample of the worlds of the others."""
    countable = chosen & ~data.is_sampled
    if countable.any():
        lost = {component: found for component, found in data.choices.lost.items() if countable[component]}
        few = replace(data.choices, n_worlds=np.where(countable, data.choices.n_worlds, np.inf), lost=lost)
        found = enumerate_worlds(data.streams, data.parts, few, data.program.scale, WeightType.FLOAT)
        yield Worlds(data.streams, found.assignment, found.weights.astype(np.float64), found.components)
    sampled = chosen & data.is_sampled
    if sampled.any():
        streams, masks = data.restricted(sampled)
        n_worlds = min(most_worlds, sampling.n_worlds)
        seed = np.uint64(sampling.seed & (2**64 - 1))
        drawn = [stream.draw(seed, 0, n_worlds, data.program.scale) for stream in streams]
        assignment = [restricted_to(one, mask) for one, mask in zip(drawn, masks, strict=True)]
        yield Worlds(streams, assignment, np.full(n_worlds, 1 / n_worlds), None)


def _evaluated(data: WorldData, worlds: Worlds, removals: Sequence[Removal]) -> Iterator[WorldMatches]:
    program, n_worlds, places = data.program, len(worlds.weights), EventComponents.of(data)
    sources = {}
    for stream, one in zip(worlds.streams, worlds.assignment, strict=True):
        tokens = stream.tokens.view(np.int64)
        every = _with_variants(one, event_tokens(stream)[one.rows], places(tokens)[one.rows], removals, n_worlds)
        sources[stream.schema.name] = world_rows(stream.rows, stream.tokens, every, stream.time_columns, program.scale)
    found = run_plan(program.physical, sources, data.tables, program.context)
    for event in program.events:
        matches = found[event.name]
        number = matches.values[WORLD].to_numpy()
        world = number % n_worlds
        yield WorldMatches(
            event, matches, identities(event, matches), number // n_worlds, world, worlds.weights[world], worlds
        )


def _with_variants(
    assignment: WorldAssignment, tokens: Ints, components: Ints, removals: Sequence[Removal], n_worlds: int
) -> WorldAssignment:
    """The assigned rows, then for each removal the other rows of its component; `tokens` are per assigned row."""
    kept = [np.arange(len(assignment.rows))]
    kept += [np.flatnonzero((components == one.component) & (tokens != one.token)) for one in removals]
    every = np.concatenate(kept)
    variant = np.repeat(np.arange(len(kept)), [len(rows) for rows in kept])
    taken = assignment.take(every)
    return replace(taken, worlds=taken.worlds + variant * n_worlds)
