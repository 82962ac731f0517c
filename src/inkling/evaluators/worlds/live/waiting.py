"""Rows of one stream on their way into worlds: they wait until their time is decided, then stand in every world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.worlds.streams.of import WorldStream
from inkling.evaluators.worlds.streams.placed import Placed, world_rows
from inkling.model.batch import FOREVER, Ints
from inkling.model.roles import NO_ROLES, Roles
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.physical.streams import time_of


@dataclass(frozen=True, slots=True)
class Draws:
    """Which worlds there are, and what tells of lost events in them."""

    seed: int
    n_worlds: int
    scale: int
    clock: Clock = Clock.TICKS
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    compared: frozenset[str] = frozenset()  # streams of which nothing but keys is asked for

    @property
    def start(self) -> np.uint64:
        return np.uint64(self.seed & (2**64 - 1))


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


def released(stream: WorldStream, placed: Placed, until: Ints, draws: Draws) -> Released:
    """Rows that are placed in worlds; `until` is how late each row of the stream can happen."""
    rows = world_rows(stream.rows, stream.tokens, placed, stream.time_columns, draws.scale)
    used = np.unique(placed.rows)
    return Released(rows, stream.tokens.view(np.int64)[used], stream.rows.take(pa.array(used)), until[used])


def between(placed: Placed, old: int, new: int, scale: int) -> Placed:
    """What is placed after `old` and up to `new`."""
    assert placed.times is not None
    after = placed.times > scaled(old, scale)
    kept = np.flatnonzero(after & (placed.times <= scaled(new, scale)))
    return Placed(placed.rows[kept], placed.worlds[kept], placed.times[kept])


def scaled(time: int, scale: int) -> int:
    """The last moment of a time on a finer clock."""
    return time if abs(time) >= FOREVER else time * scale + scale - 1


def divided(rows: pa.Table, column: str, time: int) -> tuple[pa.Table, pa.Table]:
    """Rows up to a time, and later ones."""
    due = rows[column].to_numpy() <= time
    return rows.filter(pa.array(due)).combine_chunks(), rows.filter(pa.array(~due))
