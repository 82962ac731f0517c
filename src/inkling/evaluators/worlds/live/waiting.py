"""Rows of one stream on their way into worlds: they wait until their time is decided, then stand in every world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.worlds.streams.assignment import WorldAssignment, world_rows
from inkling.evaluators.worlds.streams.of import WorldStream
from inkling.model.batch import FOREVER, Ints
from inkling.model.roles import NO_ROLES, Roles
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.physical.streams import time_of


@dataclass(frozen=True, slots=True)
class Draws:
    """The worlds of a stream, and the tables that describe lost events in them."""

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
class WaitingState:
    """The state of a stream: rows that some world has not ingested yet, and the last values of the rows before them."""

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
    schemas: Mapping[str, StreamSchema], waiting: Mapping[str, WaitingState], old: int, new: int, n_rows: int
) -> list[int]:
    """Times from `old`, which is left out, to `new`, between which about so many rows begin to matter."""
    if new <= old:
        return []
    times = [one.rows[time_of(schemas[name])].to_numpy() for name, one in waiting.items()]
    due = np.sort(np.concatenate([np.empty(0, np.int64), *times]))
    due = due[(due > old) & (due < new)]
    return [*np.unique(due[:: max(1, n_rows)][1:]).tolist(), new]


def released(stream: WorldStream, assignment: WorldAssignment, until: Ints, draws: Draws) -> Released:
    """Rows that are assignment in worlds; `until` is how late each row of the stream can happen."""
    rows = world_rows(stream.rows, stream.tokens, assignment, stream.time_columns, draws.scale)
    used = np.unique(assignment.rows)
    return Released(rows, stream.tokens.view(np.int64)[used], stream.rows.take(pa.array(used)), until[used])


def between(assignment: WorldAssignment, old: int, new: int, scale: int) -> WorldAssignment:
    """What is assignment after `old` and up to `new`."""
    assert assignment.times is not None
    after = assignment.times > scaled(old, scale)
    kept = np.flatnonzero(after & (assignment.times <= scaled(new, scale)))
    return WorldAssignment(assignment.rows[kept], assignment.worlds[kept], assignment.times[kept])


def scaled(time: int, scale: int) -> int:
    """The last moment of a time on a sub-tick clock."""
    return time if abs(time) >= FOREVER else time * scale + scale - 1


def divided(rows: pa.Table, column: str, time: int) -> tuple[pa.Table, pa.Table]:
    """Rows up to a time, and later ones."""
    due = rows[column].to_numpy() <= time
    return rows.filter(pa.array(due)).combine_chunks(), rows.filter(pa.array(~due))
