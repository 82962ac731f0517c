"""Rows of one stream on their way into worlds: they wait until their time is decided, then stand in every world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes
from inkling.io.normalize import END, START
from inkling.model.batch import FOREVER, Ints
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue
from inkling.worlds.streams.certain import CertainStream
from inkling.worlds.streams.imprecise import ImpreciseStream
from inkling.worlds.streams.lost import LossyStream
from inkling.worlds.streams.of import WorldStream
from inkling.worlds.streams.placed import OWN_TIME, Placed, key_hashes, world_rows
from inkling.worlds.streams.probable import ProbableStream


@dataclass(frozen=True, slots=True)
class Draws:
    """Which worlds there are."""

    seed: int
    n_worlds: int
    scale: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that some world may still have to see, and with GIVEN the latest value of every chain in every world."""

    rows: pa.Table
    chains: Mapping[int, Hashes] = field(default_factory=dict)  # by the hash of their key


@dataclass(frozen=True, slots=True)
class Released:
    """Rows of worlds, and what their tokens stand for."""

    rows: pa.Table
    tokens: Ints
    events: pa.Table  # one row per token
    until: Ints  # the latest time at which each can happen


def time_of(schema: StreamSchema) -> str:
    """The column that says when a row begins to matter: imprecise times are decided from their first tick on."""
    return START if isinstance(schema.doubt, ImpreciseTime) else END


def frontier(schema: StreamSchema, waiting: pa.Table, watermark: int) -> int:
    """Up to which time all worlds are known: what was lost shows with the next number that comes."""
    doubt = schema.doubt
    if not isinstance(doubt, LostEvents) or watermark >= FOREVER or not len(waiting):
        return watermark
    known = waiting.filter(pa.array(waiting[END].to_numpy() <= watermark))
    if not len(known):
        return watermark
    key, time = key_hashes(schema, known), known[END].to_numpy()
    number = known[doubt.number].to_numpy()
    order = np.lexsort((number, key))
    last = order[np.append(np.flatnonzero(np.diff(key[order]) != 0), len(order) - 1)]
    is_open = np.ones(len(last), bool)
    if doubt.count is not None:
        is_open = number[last] < known[doubt.count].fill_null(np.iinfo(np.int64).max).to_numpy()[last]
        if doubt.bounds is not None:
            # the rest of a key whose count is known lies between its last event and its bound
            is_open &= False
    return min([watermark, *time[last[is_open]].tolist()])


def release(schema: StreamSchema, waiting: Waiting, old: int, new: int, draws: Draws) -> tuple[Waiting, Released]:
    """What happens in (old, new] in any world, and what must wait for longer."""
    match schema.doubt:
        case None:
            now, later = _divided(waiting.rows, new)
            stream: WorldStream = CertainStream.of(schema, now)
            placed = stream.draw(_seed(draws), 0, draws.n_worlds, draws.scale)
            return replace(waiting, rows=later), _released(stream, placed, draws)
        case ImpreciseTime():
            stream = ImpreciseStream.of(schema, waiting.rows)
            placed = _between(stream.draw(_seed(draws), 0, draws.n_worlds, draws.scale), old, new, draws.scale)
            kept = waiting.rows.filter(pa.array(waiting.rows[END].to_numpy() > new))
            return replace(waiting, rows=kept), _released(stream, placed, draws)
        case ProbableValue(given=given):
            now, later = _divided(waiting.rows, new)
            alternatives = ProbableStream.of(schema, now)
            if not given:
                placed = alternatives.draw(_seed(draws), 0, draws.n_worlds, draws.scale)
                return replace(waiting, rows=later), _released(alternatives, placed, draws)
            placed, chains = _followed(alternatives, waiting.chains, draws)
            return Waiting(later, chains), _released(alternatives, placed, draws)
        case LostEvents():
            return _release_numbered(schema, waiting, old, new, draws)


def _followed(stream: ProbableStream, known: Mapping[int, Hashes], draws: Draws) -> tuple[Placed, dict[int, Hashes]]:
    """Chains go on where they were; one that nothing is known of in any world is forgotten."""
    firsts = stream.offsets[stream.chains[:-1]]
    keys = [int(key) for key in stream.keys[firsts]]
    latest = np.zeros((len(keys), draws.n_worlds), np.uint64)
    for number, key in enumerate(keys):
        if key in known:
            latest[number] = known[key]
    placed = stream.draw_on(_seed(draws), 0, latest)
    after = dict(known)
    for number, key in enumerate(keys):
        after[key] = latest[number]
    return placed, {key: values for key, values in after.items() if values.any()}


def _release_numbered(
    schema: StreamSchema, waiting: Waiting, old: int, new: int, draws: Draws
) -> tuple[Waiting, Released]:
    """Recorded events of the time, and lost ones in the worlds where they fall into it; the last of a key stays."""
    stream = LossyStream.of(schema, waiting.rows, old)
    placed = stream.draw(_seed(draws), 0, draws.n_worlds, draws.scale)
    assert placed.times is not None
    own = placed.times == OWN_TIME
    times = np.where(own, stream.rows[END].to_numpy()[placed.rows] * draws.scale, placed.times)
    placed = _between(Placed(placed.rows, placed.worlds, times), old, new, draws.scale)
    recorded = stream.rows.slice(0, stream.n_recorded)
    key, time = key_hashes(schema, recorded), recorded[END].to_numpy()
    followed = np.append((np.diff(key) == 0) & (time[1:] <= new), False) if len(key) else np.empty(0, bool)
    kept = recorded.filter(pa.array((time > new) | ~followed))
    return replace(waiting, rows=kept), _released(stream, placed, draws)


def _released(stream: WorldStream, placed: Placed, draws: Draws) -> Released:
    rows = world_rows(stream.rows, stream.tokens, placed, stream.time_columns, draws.scale)
    return Released(rows, stream.tokens.view(np.int64), stream.rows, stream.extents[1])


def _between(placed: Placed, old: int, new: int, scale: int) -> Placed:
    """What is placed after `old` and up to `new`."""
    assert placed.times is not None
    after = placed.times > scaled(old, scale)
    kept = np.flatnonzero(after & (placed.times <= scaled(new, scale)))
    return Placed(placed.rows[kept], placed.worlds[kept], placed.times[kept])


def scaled(time: int, scale: int) -> int:
    """The last moment of a time on a finer clock."""
    return time if abs(time) >= FOREVER else time * scale + scale - 1


def _divided(rows: pa.Table, time: int) -> tuple[pa.Table, pa.Table]:
    due = rows[END].to_numpy() <= time
    return rows.filter(pa.array(due)).combine_chunks(), rows.filter(pa.array(~due))


def _seed(draws: Draws) -> np.uint64:
    return np.uint64(draws.seed & (2**64 - 1))
