"""Puts rows of a stream into worlds when their time is decided, by the kind of its doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.worlds.live.lossy import release_numbered
from inkling.evaluators.worlds.live.waiting import Draws, Released, Waiting, between, divided, released
from inkling.evaluators.worlds.streams.certain import CertainStream
from inkling.evaluators.worlds.streams.imprecise import ImpreciseStream
from inkling.evaluators.worlds.streams.of import WorldStream
from inkling.evaluators.worlds.streams.placed import Placed
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.io.normalize import END, START
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue


def release(schema: StreamSchema, waiting: Waiting, old: int, new: int, draws: Draws) -> tuple[Waiting, Released]:
    """What happens in (old, new] in any world, and what must wait for longer."""
    match schema.doubt:
        case None:
            now, later = divided(waiting.rows, END, new)
            stream: WorldStream = CertainStream.of(schema, now)
            placed = stream.draw(draws.start, 0, draws.n_worlds, draws.scale)
            return replace(waiting, rows=later), released(stream, placed, stream.extents[1], draws)
        case ImpreciseTime():
            now, later = divided(waiting.rows, START, new)
            stream = ImpreciseStream.of(schema, now)
            placed = between(stream.draw(draws.start, 0, draws.n_worlds, draws.scale), old, new, draws.scale)
            still = now.filter(pa.array(now[END].to_numpy() > new))
            told = released(stream, placed, stream.extents[1], draws)
            return replace(waiting, rows=pa.concat_tables([still, later])), told
        case ProbableValue():
            now, later = divided(waiting.rows, START, new)
            alternatives = ProbableStream.of(schema, now)
            placed, chains = _followed(alternatives, waiting.chains, draws)
            until = _latest_end(alternatives)
            return replace(waiting, rows=later, chains=chains), released(alternatives, placed, until, draws)
        case LostEvents():
            return release_numbered(schema, schema.doubt, waiting, old, new, draws)


def _latest_end(stream: ProbableStream) -> Ints:
    """When the last of the alternatives of an event ends, per alternative."""
    if not len(stream.rows):
        return np.empty(0, np.int64)
    return np.repeat(np.maximum.reduceat(stream.rows[END].to_numpy(), stream.offsets[:-1]), np.diff(stream.offsets))


def _followed(stream: ProbableStream, known: Mapping[int, Hashes], draws: Draws) -> tuple[Placed, dict[int, Hashes]]:
    """Chains go on where they were; one that nothing is known of in any world is forgotten."""
    if not stream.is_markov:
        return stream.draw(draws.start, 0, draws.n_worlds, draws.scale), {}
    firsts = stream.offsets[stream.chains[:-1]]
    keys = [int(key) for key in stream.keys[firsts]]
    latest = np.zeros((len(keys), draws.n_worlds), np.uint64)
    for number, key in enumerate(keys):
        if key in known:
            latest[number] = known[key]
    placed = stream.draw_on(draws.start, 0, latest)
    after = dict(known)
    for number, key in enumerate(keys):
        after[key] = latest[number]
    return placed, {key: values for key, values in after.items() if values.any()}
