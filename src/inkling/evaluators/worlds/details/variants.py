"""Parts of the data looked at once more: their matches world by world, also without single events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from inkling.evaluators.certain import run_plan
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.worlds.alternatives import Precision
from inkling.evaluators.worlds.probabilities.combine import identities
from inkling.evaluators.worlds.probabilities.exact import enumerate_worlds
from inkling.evaluators.worlds.run import WorldData, only
from inkling.evaluators.worlds.streams.assignment import WorldAssignment, world_rows
from inkling.evaluators.worlds.streams.of import WorldStream
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.logical.plan import EventPlan
from inkling.logical.rewrites.in_worlds import WORLD
from inkling.model.batch import Ints, MatchBatch

MOST_WORLDS = 1024
"""How many sampled worlds are looked at again; parts that are enumerated are looked at in full."""


@dataclass(frozen=True, slots=True)
class Removal:
    """An event that is left out of all worlds of its part: by its token, which all alternatives share."""

    component: int
    token: int


def event_tokens(stream: WorldStream) -> Ints:
    """What the event of every row is called; alternatives are one event, though each may have an id of its own."""
    if isinstance(stream, ProbableStream):
        return np.repeat(stream.group_tokens.view(np.int64), np.diff(stream.offsets))
    return stream.tokens.view(np.int64)


@dataclass(frozen=True, slots=True)
class Worlds:
    """Worlds of some components: which rows stand in each, and how probable it is, or its share of a sample."""

    streams: Sequence[WorldStream]
    assignment: Sequence[WorldAssignment]
    weights: np.ndarray
    components: Ints | None  # of each world; None where each was sampled for all components at once

    def of_component(self, component: int) -> Ints:
        """The worlds of one component."""
        if self.components is None:
            return np.arange(len(self.weights))
        return np.flatnonzero(self.components == component)


@dataclass(frozen=True, slots=True)
class WorldMatches:
    """The matches of one event, one line per match and world.

    Variant 0 is the data as it is, variant n is without removal n - 1. `weight` is the probability of the world, or
    its share where worlds were sampled.
    """

    event: EventPlan
    matches: MatchBatch
    identity: np.ndarray
    variant: Ints
    world: Ints
    weight: np.ndarray
    worlds: Worlds


@dataclass(frozen=True, slots=True)
class EventComponents:
    """The component of every event, by its token."""

    tokens: Ints
    components: Ints

    @classmethod
    def of(cls, data: WorldData) -> EventComponents:
        tokens = np.concatenate([stream.tokens.view(np.int64) for stream in data.streams])
        found, first = np.unique(tokens, return_index=True)
        return cls(found, np.concatenate(data.parts.of_rows)[first])

    def __call__(self, tokens: Ints) -> Ints:
        return self.components[np.searchsorted(self.tokens, tokens)]


def seen_again(
    data: WorldData,
    sampling: Sampling,
    chosen: np.ndarray,
    removals: Sequence[Removal] = (),
    most_worlds: int = MOST_WORLDS,
) -> Iterator[WorldMatches]:
    """Every event in the worlds of the chosen components: those that can be enumerated in all, others in a sample."""
    for worlds in worlds_again(data, sampling, chosen, most_worlds):
        yield from _evaluated(data, worlds, removals)


def worlds_again(
    data: WorldData, sampling: Sampling, chosen: np.ndarray, most_worlds: int = MOST_WORLDS
) -> Iterator[Worlds]:
    """All worlds of the chosen components that have few, then a sample of the worlds of the others."""
    countable = chosen & ~data.is_sampled
    if countable.any():
        lost = {component: found for component, found in data.choices.lost.items() if countable[component]}
        few = replace(data.choices, n_worlds=np.where(countable, data.choices.n_worlds, np.inf), lost=lost)
        found = enumerate_worlds(data.streams, data.parts, few, data.program.scale, Precision.FLOAT)
        yield Worlds(data.streams, found.assignment, found.weights.astype(np.float64), found.components)
    sampled = chosen & data.is_sampled
    if sampled.any():
        streams, masks = data.restricted(sampled)
        n_worlds = min(most_worlds, sampling.n_worlds)
        seed = np.uint64(sampling.seed & (2**64 - 1))
        drawn = [stream.draw(seed, 0, n_worlds, data.program.scale) for stream in streams]
        assignment = [only(one, mask) for one, mask in zip(drawn, masks, strict=True)]
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
    """The assigned rows, then for every removal the other rows of its component; `tokens` are per assigned row."""
    kept = [np.arange(len(assignment.rows))]
    kept += [np.flatnonzero((components == one.component) & (tokens != one.token)) for one in removals]
    every = np.concatenate(kept)
    variant = np.repeat(np.arange(len(kept)), [len(rows) for rows in kept])
    return WorldAssignment(
        assignment.rows[every],
        assignment.worlds[every] + variant * n_worlds,
        None if assignment.times is None else assignment.times[every],
    )
