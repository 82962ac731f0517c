"""Worlds of some streams only: these are drawn, and all else is answered exactly in each of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pyarrow as pa

from inkling.evaluators.query.answers import Answers, joined
from inkling.evaluators.query.probable_events import NO_EVENT, ProbableEvents
from inkling.evaluators.query.sets.sampled import WorldSampler
from inkling.evaluators.query.sets.universal import Universal
from inkling.kernels.worlds.draws import draw_paths
from inkling.model.batch import Ints
from inkling.model.hashes import combined


def partly_sampled(
    universal: Universal,
    events: ProbableEvents,
    predicates: Ints,
    tables: Mapping[str, pa.Table],
    sources: Collection[str],
    sampling: WorldSampler,
) -> Answers:
    """The mean over drawn worlds of the streams of `sources`; it varies no more than that over whole worlds does."""
    groups = np.flatnonzero(np.isin(events.source[events.stream], [events.sources.index(name) for name in sources]))
    worlds, counts = np.unique(_drawn(events, groups, sampling), axis=1, return_counts=True)
    parts = []
    for world, count in zip(worlds.T, counts.tolist(), strict=True):
        found = answers_in(
            universal, events, predicates, tables, dict(zip(groups.tolist(), world.tolist(), strict=True))
        )
        share = found.chance * count / sampling.n_worlds
        parts.append(Answers(found.grounding, found.time, share, found.start, found.error))
    return _summed(joined(parts), sampling.epsilon)


def answers_in(
    universal: Universal,
    events: ProbableEvents,
    predicates: Ints,
    tables: Mapping[str, pa.Table],
    chosen: Mapping[int, int],
) -> Answers:
    """The answers where some groups are known to have a row, or none (-1)."""
    kept = np.ones(len(events.row), bool)
    fixed = np.zeros(events.n_streams, bool)
    for group, row in chosen.items():
        kept[events.offsets[group] : events.offsets[group + 1]] = False
        fixed[events.stream[group]] = True
        if row >= 0:
            kept[row] = True
    is_fixed = fixed[events.stream[events.group]]
    sizes = np.add.reduceat(kept, events.offsets[:-1]) if events.n_groups else np.empty(0, np.int64)
    some = sizes > 0
    one = events.chance.dtype.type(1) if not events.is_exact else 1
    less = ProbableEvents(
        events.sources,
        events.source,
        events.name,
        events.markov & ~fixed,
        events.keys,
        events.stream[some],
        events.time[some],
        (events.anew | fixed[events.stream])[some],
        np.concatenate([[0], np.cumsum(sizes[some])]),
        np.where(is_fixed, one, events.chance)[kept],
        events.value[kept],
        np.where(is_fixed, NO_EVENT, events.given)[kept],
        events.row[kept],
    )
    return universal.advance(universal.start(), less, predicates[kept], tables)[1]


def _drawn(events: ProbableEvents, groups: Ints, sampling: WorldSampler) -> Ints:
    """The row of every group in every world, -1 for none; groups of a stream stand together, in order of time."""
    stream = events.stream[groups]
    chains = np.append(np.flatnonzero(np.append(True, stream[1:] != stream[:-1])), len(groups))
    sizes = np.diff(events.offsets)[groups]
    rows = np.concatenate([np.arange(events.offsets[one], events.offsets[one + 1]) for one in groups.tolist()])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    given = events.given[rows]
    tokens = combined(events.name[stream], events.time[groups].view(np.uint64))
    latest = np.zeros((len(chains) - 1, sampling.n_worlds), np.uint64)
    chosen = draw_paths(
        np.uint64(sampling.seed),
        tokens,
        chains,
        offsets,
        events.anew[groups],
        given,
        events.value[rows],
        _cumulated(np.repeat(np.arange(len(groups)), sizes), given, events.chance[rows].astype(np.float64)),
        0,
        sampling.n_worlds,
        latest,
    )
    return np.where(chosen < 0, -1, rows[chosen])


def _cumulated(group: Ints, given: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Sums of chances from the first row of a group with the same value before; what is nearly 1 is 1."""
    begins = np.append(True, (group[1:] != group[:-1]) | (given[1:] != given[:-1]))
    total = np.cumsum(chance)
    before = (total - chance)[begins]
    shares = total - before[np.cumsum(begins) - 1]
    return np.where(shares > 1 - 1e-9, 1.0, shares)


def _summed(answers: Answers, epsilon: float) -> Answers:
    keys = [*zip(answers.grounding.tolist(), answers.time.tolist(), strict=True)]
    place = {key: at for at, key in enumerate(sorted({*keys}))}
    at = np.array([place[key] for key in keys], np.int64)
    chance = np.zeros(len(place), answers.chance.dtype)
    np.add.at(chance, at, answers.chance)
    start = np.full(len(place), np.iinfo(np.int64).max)
    np.minimum.at(start, at, answers.start)
    unit = np.array([unit for unit, _ in place], np.uint64)
    time = np.array([time for _, time in place], np.int64)
    return Answers(unit, time, chance, start, np.full(len(place), epsilon))
