"""Sampled worlds as bit vectors: for every partial match, the worlds in which it is live (Lahar, section 3.5).

The generic algorithm of the paper draws n worlds and reports the share of those in which the query is true at t. Its
error is at most epsilon with probability 1 - delta, per time, for n = ln(2 / delta) / (2 · epsilon²) (Hoeffding). Here,
bit w of a bit vector belongs to world w, so that a step is a few operations on words of 64 bits:

    matches that stay:   live & ~(worlds with a candidate)         new matches:   live & (worlds with an accepted one)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from inkling.evaluators.query.probable_events import NO_EVENT
from inkling.evaluators.query.sets.live_sets import Completed, LiveSets
from inkling.evaluators.query.sets.steps import GroundingStep, StreamMove, StreamOutcome
from inkling.evaluators.query.sets.successors import PartialMatch, Roles, Successors
from inkling.evaluators.sampling import Sampling
from inkling.kernels.query.sampled_worlds import NEVER, drawn, marked, stepped, weight_of
from inkling.kernels.worlds.draws import uniforms
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes, combined

Draw = Callable[[StreamMove, Sequence[StreamOutcome], Mapping[int, range], Hashes], Ints]
"""Draws the outcome of a move in each world: from the move, its outcomes, their ranges by value before, and the value
before in each world."""


@dataclass(frozen=True, slots=True)
class WorldSampler:
    """Draws worlds; a draw depends on seed, stream, time and world only, not on the worker or the order of rows."""

    n_worlds: int = 448
    epsilon: float = 0.05
    seed: int = 0

    @classmethod
    def of(cls, asked: Sampling) -> WorldSampler:
        """The sampler that the settings of a run ask for."""
        return cls(asked.n_worlds, asked.epsilon, asked.seed)

    def draw(
        self, move: StreamMove, outcomes: Sequence[StreamOutcome], after: Mapping[int, range], before: Hashes
    ) -> Ints:
        chances = np.array([float(one.chance) for one in outcomes])
        offsets = [0, *(some.stop for some in after.values())]
        shares = [np.cumsum(chances[some.start : some.stop]) for some in after.values()]
        given = np.array([*after], np.uint64)
        seed, token = np.uint64(self.seed), np.uint64(move.token)
        return drawn(seed, token, given, np.array(offsets), np.concatenate(shares), before)


@dataclass(frozen=True, slots=True)
class SampledWorlds:
    """Partial matches in sampled worlds. `scale` is the probability of all of these worlds together."""

    entries: tuple[PartialMatch, ...]
    chains: tuple[int, ...]
    live: Hashes  # [entry, word]
    starts: Ints  # [entry, world]
    values: Hashes  # [chain, world]
    over: Hashes  # [word]: worlds that already had their first match, where only that counts
    weights: NDArray[np.float64]  # of each world
    scale: float

    @property
    def n_worlds(self) -> int:
        return len(self.weights)


def sampled_at_first(weights: NDArray[np.float64]) -> SampledWorlds:
    n = len(weights)
    words = -(-n // 64)
    none = np.empty((0, words), np.uint64), np.empty((0, n), np.int64), np.empty((0, n), np.uint64)
    return SampledWorlds((), (), *none, np.zeros(words, np.uint64), weights, 1.0)


def sampled_from(sets: LiveSets, sampling: WorldSampler, grounding: int, time: int) -> SampledWorlds:
    """Worlds drawn from an exact distribution; the draw does not depend on the order of its states."""
    n = sampling.n_worlds
    at_first = sampled_at_first(np.full(n, 1.0 / n))
    order = np.array(sorted(range(sets.n_states), key=_naming(sets)))
    mass = sets.mass[order].astype(np.float64)
    total = float(mass.sum())
    shares = np.cumsum(mass if total > 0 else np.ones(len(mass)))
    token = combined(np.array([grounding], np.uint64), np.array([time]).view(np.uint64))
    draws = uniforms(np.uint64(sampling.seed), token, 0, n)[0]
    chosen = order[np.minimum(np.searchsorted(shares / shares[-1], draws, side="right"), len(order) - 1)]
    starts = np.ascontiguousarray(sets.starts[chosen].T)
    return replace(
        at_first,
        entries=sets.entries,
        chains=sets.chains,
        live=_packed(starts != NEVER),
        starts=starts,
        values=np.array(sets.held, np.uint64)[sets.values[chosen].T],
        scale=total,
    )


def _naming(sets: LiveSets) -> Callable[[int], tuple[list[str], list[tuple[int, int]]]]:
    names = [repr(entry) for entry in sets.entries]
    by_name = sorted(range(len(names)), key=names.__getitem__)
    by_chain = sorted(range(len(sets.chains)), key=sets.chains.__getitem__)
    live, values = sets.starts != NEVER, sets.values

    def name(state: int) -> tuple[list[str], list[tuple[int, int]]]:
        here = [names[entry] for entry in by_name if live[state, entry]]
        held = [(sets.chains[k], sets.held[values[state, k]]) for k in by_chain if values[state, k]]
        return here, held

    return name


def sampled_after(
    worlds: SampledWorlds, step: GroundingStep, successors: Successors, draw: Draw, *, once: bool = False
) -> tuple[SampledWorlds, Completed]:
    """The worlds after a step, and the probability that a match ends, as a share of worlds."""
    every = [outcome.roles for move in step.moves for some in move.outcomes.values() for outcome in some]
    effects = successors.effects(worlds.entries, every)
    events: dict[Roles, int] = {roles: number for number, roles in enumerate(effects)}
    masks = np.zeros((len(events), len(worlds.over)), np.uint64)
    values = dict(zip(worlds.chains, worlds.values, strict=True))
    for move in step.moves:
        values |= _drawn(move, events, masks, values, worlds.n_worlds, draw)
    entries = dict.fromkeys(worlds.entries)
    entries |= dict.fromkeys(entry for one in effects.values() for _, entry in one.made)
    number: dict[PartialMatch | None, int] = {entry: at for at, entry in enumerate(entries)}
    number[None] = -1
    takes = [(event, number[entry]) for roles, event in events.items() for entry in effects[roles].taken]
    makes = [(event, number[one], number[made]) for roles, event in events.items() for one, made in effects[roles].made]
    ends = [(event, number[one]) for roles, event in events.items() for one in effects[roles].done]
    n_new = len(entries) - len(worlds.entries)
    live, starts, done, done_starts = stepped(
        np.concatenate([worlds.live, np.zeros((n_new, len(worlds.over)), np.uint64)]),
        np.concatenate([worlds.starts, np.full((n_new, worlds.n_worlds), NEVER)]),
        step.time,
        _packed(np.ones(worlds.n_worlds, bool)),
        masks,
        np.array(takes, np.int64).reshape(-1, 2),
        np.array(makes, np.int64).reshape(-1, 3),
        np.array(ends, np.int64).reshape(-1, 2),
    )
    counted = done & ~worlds.over if once else done
    kept = live.any(axis=1)
    known = {chain: held for chain, held in values.items() if held.any()}
    after = replace(
        worlds,
        entries=tuple(entry for entry, is_live in zip(entries, kept.tolist(), strict=True) if is_live),
        chains=tuple(known),
        live=live[kept],
        starts=starts[kept],
        values=np.array([*known.values()], np.uint64).reshape(-1, worlds.n_worlds),
        over=worlds.over | done if once else worlds.over,
    )
    return after, Completed(weight_of(counted, worlds.weights) * worlds.scale, int(done_starts.min()))


def _drawn(
    move: StreamMove, events: Mapping[Roles, int], masks: Hashes, values: Mapping[int, Hashes], n: int, draw: Draw
) -> dict[int, Hashes]:
    """Mark in `masks` the event of each world; returns the new values of a Markovian stream."""
    after: dict[int, range] = {}
    outcomes: list[StreamOutcome] = []
    for given, some in move.outcomes.items():
        after[given] = range(len(outcomes), len(outcomes) + len(some))
        outcomes += some
    nothing = np.full(n, NO_EVENT)
    before = nothing if move.anew or move.stream is None else values.get(move.stream, nothing)
    chosen = draw(move, outcomes, after, before)
    marked(chosen, np.array([events[one.roles] if one.roles else -1 for one in outcomes]), masks)
    if move.stream is None:
        return {}
    reached = np.array([*(one.value for one in outcomes), int(NO_EVENT)], np.uint64)
    return {move.stream: reached[chosen]}


def _packed(worlds: NDArray[np.bool_]) -> Hashes:
    n = worlds.shape[-1]
    padded = np.zeros((*worlds.shape[:-1], -(-n // 64) * 64), bool)
    padded[..., :n] = worlds
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64)
