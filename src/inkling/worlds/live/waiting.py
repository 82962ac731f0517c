"""Rows of one stream on their way into worlds: they wait until their time is decided, then stand in every world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.hashes import Hashes, key_hashes
from inkling.evaluators.lost.numbered import EVEN, ODD, roles_of
from inkling.io.normalize import END, START
from inkling.live.clocks import NO_ROLES, Roles
from inkling.model.batch import FOREVER, Ints
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue
from inkling.worlds.streams.certain import CertainStream
from inkling.worlds.streams.imprecise import ImpreciseStream
from inkling.worlds.streams.lost import LossyStream
from inkling.worlds.streams.of import WorldStream
from inkling.worlds.streams.placed import OWN_TIME, Placed, world_rows
from inkling.worlds.streams.probable import ProbableStream


@dataclass(frozen=True, slots=True)
class Draws:
    """Which worlds there are."""

    seed: int
    n_worlds: int
    scale: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that some world may still have to see, and what must be known of those before them."""

    rows: pa.Table
    chains: Mapping[int, Hashes] = field(default_factory=dict)  # with GIVEN: latest value in every world, by key
    roles: Roles = NO_ROLES


@dataclass(frozen=True, slots=True)
class Released:
    """Rows of worlds, and what their tokens stand for."""

    rows: pa.Table
    tokens: Ints
    events: pa.Table  # one row per token
    until: Ints  # the latest time at which each can happen


def time_of(schema: StreamSchema) -> str:
    """The column that says from when on a row matters: the first tick of imprecise times, the start of alternatives."""
    return START if isinstance(schema.doubt, ImpreciseTime | ProbableValue) else END


def roles_said(schema: StreamSchema, rows: pa.Table) -> Roles | None:
    """What rows call events with even and with odd numbers; None where these have no roles."""
    doubt = schema.doubt
    if not isinstance(doubt, LostEvents) or doubt.role is None:
        return None
    even, odd = roles_of(rows.filter(rows[doubt.number].is_valid()), doubt)
    return None if even is None else str(even), None if odd is None else str(odd)


def frontier(schema: StreamSchema, waiting: Waiting, watermark: int) -> int:
    """Up to which time all worlds are known: what was lost shows with the next number that comes."""
    doubt, rows = schema.doubt, waiting.rows
    if not isinstance(doubt, LostEvents) or watermark >= FOREVER or not len(rows):
        return watermark
    known = rows.filter(pa.array(rows[END].to_numpy() <= watermark))
    if not len(known):
        return watermark
    time = known[END].to_numpy()
    if doubt.role is not None and None in waiting.roles:
        earliest = np.minimum(time, time if doubt.bounds is None else _known(known, doubt.bounds[0]))
        return min(watermark, int(earliest.min()) - 1)  # nobody knows yet what lost events are called
    key, number = key_hashes(schema, known), known[doubt.number].to_numpy()
    order = np.lexsort((number, key))
    last = order[np.append(np.flatnonzero(np.diff(key[order]) != 0), len(order) - 1)]
    is_open = ~_is_complete(doubt, known.take(pa.array(last)), watermark)
    # what follows an event may follow it at once
    fronts: list[int] = (time[last[is_open]] - 1).tolist()
    return min([watermark, *fronts])


def portions(
    schemas: Mapping[str, StreamSchema], waiting: Mapping[str, Waiting], old: int, new: int, n_rows: int
) -> list[int]:
    """Times from `old`, which is left out, to `new`, between which about so many rows begin to matter."""
    if new <= old:
        return []
    times = [one.rows[time_of(schemas[name])].to_numpy() for name, one in waiting.items()]
    due = np.sort(np.concatenate([np.empty(0, np.int64), *times]))
    due = due[(due > old) & (due < new)]
    return [*np.unique(due[:: max(1, n_rows)][1:]).tolist(), new]


def _is_complete(doubt: LostEvents, last: pa.Table, time: int) -> NDArray[np.bool_]:
    """Whether the key of each of these rows, which are the last of theirs, has no further events after a time."""
    if doubt.count is None:
        return np.zeros(len(last), bool)
    count, number = _known(last, doubt.count), last[doubt.number].to_numpy()
    until = np.full(len(last), FOREVER) if doubt.bounds is None else _known(last, doubt.bounds[1])
    return np.asarray((number >= count) | ((count < FOREVER) & (until <= time)), bool)


def _known(rows: pa.Table, name: str) -> Ints:
    return np.asarray(rows[name].fill_null(FOREVER).to_numpy(), np.int64)


def release(
    schema: StreamSchema, waiting: Waiting, old: int, new: int, watermark: int, draws: Draws
) -> tuple[Waiting, Released]:
    """What happens in (old, new] in any world, and what must wait for longer; rows up to `watermark` are complete."""
    match schema.doubt:
        case None:
            now, later = _divided(waiting.rows, END, new)
            stream: WorldStream = CertainStream.of(schema, now)
            placed = stream.draw(_seed(draws), 0, draws.n_worlds, draws.scale)
            return replace(waiting, rows=later), _released(stream, placed, stream.extents[1], draws)
        case ImpreciseTime():
            now, later = _divided(waiting.rows, START, new)
            stream = ImpreciseStream.of(schema, now)
            placed = _between(stream.draw(_seed(draws), 0, draws.n_worlds, draws.scale), old, new, draws.scale)
            still = now.filter(pa.array(now[END].to_numpy() > new))
            released = _released(stream, placed, stream.extents[1], draws)
            return replace(waiting, rows=pa.concat_tables([still, later])), released
        case ProbableValue():
            now, later = _divided(waiting.rows, START, new)
            alternatives = ProbableStream.of(schema, now)
            placed, chains = _followed(alternatives, waiting.chains, draws)
            until = _latest_end(alternatives)
            return replace(waiting, rows=later, chains=chains), _released(alternatives, placed, until, draws)
        case LostEvents():
            return _release_numbered(schema, schema.doubt, waiting, (old, new, watermark), draws)


def _latest_end(stream: ProbableStream) -> Ints:
    """When the last of the alternatives of an event ends, per alternative."""
    if not len(stream.rows):
        return np.empty(0, np.int64)
    return np.repeat(np.maximum.reduceat(stream.rows[END].to_numpy(), stream.offsets[:-1]), np.diff(stream.offsets))


def _followed(stream: ProbableStream, known: Mapping[int, Hashes], draws: Draws) -> tuple[Placed, dict[int, Hashes]]:
    """Chains go on where they were; one that nothing is known of in any world is forgotten."""
    if not stream.is_markov:
        return stream.draw(_seed(draws), 0, draws.n_worlds, draws.scale), {}
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
    schema: StreamSchema, doubt: LostEvents, waiting: Waiting, times: tuple[int, int, int], draws: Draws
) -> tuple[Waiting, Released]:
    """Recorded events of the time, and lost ones in the worlds where they fall into it; the last of a key stays."""
    old, new, watermark = times
    complete, later = _divided(waiting.rows, END, watermark)
    near = _bordering(schema, doubt, complete, new)
    later = pa.concat_tables([later, complete.filter(pa.array(~near))])
    stream = LossyStream.of(schema, _with_roles(complete.filter(pa.array(near)), doubt, waiting.roles), old)
    placed = stream.draw(_seed(draws), 0, draws.n_worlds, draws.scale)
    assert placed.times is not None
    own = placed.times == OWN_TIME
    at = np.where(own, stream.rows[END].to_numpy()[placed.rows] * draws.scale, placed.times)
    placed = _between(Placed(placed.rows, placed.worlds, at), old, new, draws.scale)
    recorded = stream.rows.slice(0, stream.n_recorded).select(waiting.rows.column_names)
    key, time = key_hashes(schema, recorded), recorded[END].to_numpy()
    followed = np.append((np.diff(key) == 0) & (time[1:] <= new), False) if len(key) else np.empty(0, bool)
    done = (time <= new) & (followed | _is_complete(doubt, recorded, new))
    still = recorded.filter(pa.array(~done))
    released = _released(stream, placed, stream.extents[1], draws)
    return replace(waiting, rows=pa.concat_tables([still, later])), released


def _bordering(schema: StreamSchema, doubt: LostEvents, rows: pa.Table, time: int) -> NDArray[np.bool_]:
    """Rows up to a time and the next one of each key, before which events may have been lost."""
    key, number, times = key_hashes(schema, rows), rows[doubt.number].to_numpy(), rows[END].to_numpy()
    order = np.lexsort((number, key))
    past = times[order] <= time
    starts = np.append(True, np.diff(key[order]) != 0)[: len(order)]
    near = np.zeros(len(order), bool)
    near[order] = past | starts | np.append(False, past[:-1])[: len(order)]
    return near


def _with_roles(rows: pa.Table, doubt: LostEvents, roles: Roles) -> pa.Table:
    if doubt.role is None:
        return rows
    kind = rows.schema.field(doubt.role).type
    for name, role in zip((EVEN, ODD), roles, strict=True):
        rows = rows.append_column(name, pa.array([role] * len(rows), kind))
    return rows


def _released(stream: WorldStream, placed: Placed, until: Ints, draws: Draws) -> Released:
    rows = world_rows(stream.rows, stream.tokens, placed, stream.time_columns, draws.scale)
    used = np.unique(placed.rows)
    return Released(rows, stream.tokens.view(np.int64)[used], stream.rows.take(pa.array(used)), until[used])


def _between(placed: Placed, old: int, new: int, scale: int) -> Placed:
    """What is placed after `old` and up to `new`."""
    assert placed.times is not None
    after = placed.times > scaled(old, scale)
    kept = np.flatnonzero(after & (placed.times <= scaled(new, scale)))
    return Placed(placed.rows[kept], placed.worlds[kept], placed.times[kept])


def scaled(time: int, scale: int) -> int:
    """The last moment of a time on a finer clock."""
    return time if abs(time) >= FOREVER else time * scale + scale - 1


def _divided(rows: pa.Table, column: str, time: int) -> tuple[pa.Table, pa.Table]:
    due = rows[column].to_numpy() <= time
    return rows.filter(pa.array(due)).combine_chunks(), rows.filter(pa.array(~due))


def _seed(draws: Draws) -> np.uint64:
    return np.uint64(draws.seed & (2**64 - 1))
