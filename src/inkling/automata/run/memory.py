"""Runs of many keys in growing pools, so that the cost of a step does not depend on keys without rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from inkling.automata.run.rows import AutomatonRows, Columns, frozen
from inkling.automata.run.state import AutomatonState
from inkling.kernels.automaton.lineage import number_reachable
from inkling.kernels.automaton.runs import enter_runs
from inkling.kernels.automaton.witness import NEED_FOUND, NEED_NODES, NEED_RUNS, Nodes, Progress, Runs, Witnessed


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """Arrays for the nodes, runs and detections of one batch, and how much of them is in use."""

    runs: Runs
    nodes: Nodes
    found: Witnessed
    progress: Progress

    @classmethod
    def for_rows(cls, state: AutomatonState, rows: AutomatonRows, n_states: int) -> "Room":
        """Arrays of a guessed size, with the nodes of the state at the beginning."""
        n_old = len(state.nodes.event)
        guess = rows.n_rows // 8 + 2 * n_states + 64
        offset = np.zeros((len(rows.segments) - 1) * state.n_patterns + 1, dtype=np.int64)
        runs = Runs(offset, np.empty(guess, np.int32), np.empty(guess, np.int64), np.empty(guess, np.int32))
        nodes = resized(state.nodes, n_old + guess)
        found = Witnessed(np.empty(guess, np.int64), np.empty(guess, np.int32), np.empty(guess, np.int64))
        return cls(runs, nodes, found, Progress(0, n_old, 0, 0))

    def wider(self, status: int, progress: Progress) -> "Room":
        """Twice the room of what ran out, with what was written so far."""
        if status == NEED_NODES:
            return replace(self, nodes=resized(self.nodes, 2 * len(self.nodes.event)), progress=progress)
        if status == NEED_RUNS:
            return replace(self, runs=with_room(self.runs, 2 * len(self.runs.state)), progress=progress)
        if status == NEED_FOUND:
            return replace(self, found=resized(self.found, 2 * len(self.found.row)), progress=progress)
        raise AssertionError(f"the kernel returned {status=}")

    def filled(self, progress: Progress) -> "Room":
        """The used part of the arrays."""
        return Room(
            with_room(self.runs, progress.n_runs),
            resized(self.nodes, progress.n_nodes),
            resized(self.found, progress.n_found),
            progress,
        )


def with_room(runs: Runs, size: int) -> Runs:
    return Runs._make((runs.offset, *(_column(column, size) for column in runs[1:])))


def resized(columns: Columns, size: int) -> Columns:
    return columns._make(_column(column, size) for column in columns)


def _column(column: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    if size <= len(column):
        return column[:size]
    wider = np.empty(size, dtype=column.dtype)
    wider[: len(column)] = column
    return wider


Ints = npt.NDArray[np.int64]

SPARE = 4096
"""The number of unused runs and events in the pools before they are cleared."""


class RunMemory:
    """Runs and their events in pools that grow until `compact` removes unused entries.

    Keys are small numbers; the runs of a key and pattern are `begin` to `end` - 1.
    """

    __slots__ = ("_n_kept", "begin", "end", "fingerprint", "n_keys", "n_nodes", "n_patterns", "n_runs", "nodes", "runs")

    def __init__(self, state: AutomatonState) -> None:
        self.fingerprint, self.n_patterns = state.fingerprint, state.n_patterns
        self.begin = np.zeros(0, np.int64)
        self.end = np.zeros(0, np.int64)
        self.n_keys = state.n_keys  # with open runs
        self._make_room(int(state.key[-1]) + 1 if state.n_keys else 0)
        places = (state.key[:, None] * self.n_patterns + np.arange(self.n_patterns)).reshape(-1)
        self.begin[places], self.end[places] = state.runs.offset[:-1], state.runs.offset[1:]
        self.n_runs, self.n_nodes = len(state.runs.state), len(state.nodes.event)
        self.runs = Runs._make(column.copy() for column in state.runs)
        self.nodes = Nodes._make(column.copy() for column in state.nodes)
        self._n_kept = self.n_runs + self.n_nodes

    def _make_room(self, n_keys: int) -> None:
        held = len(self.begin) // self.n_patterns
        if n_keys > held:
            size = max(n_keys, 2 * held, 64) * self.n_patterns
            self.begin, self.end = _with_zeros(self.begin, size), _with_zeros(self.end, size)

    def room(self, codes: Ints, n_rows: int, most_states: int) -> "OpenRoom":
        """Free space behind the pools for a step over some keys; it is part of the memory only after `keep`."""
        self._make_room(int(codes.max()) + 1 if len(codes) else 0)
        guess = n_rows // 8 + 2 * most_states + 16
        # doubled, so that growing has constant amortized cost
        if self.n_nodes + guess > len(self.nodes.event):
            self.nodes = resized(self.nodes, 2 * self.n_nodes + guess)
        if self.n_runs + guess > len(self.runs.state):
            self.runs = with_room(self.runs, 2 * self.n_runs + guess)
        offset = np.empty(len(codes) * self.n_patterns + 1, np.int64)
        offset[0] = self.n_runs
        found = Witnessed(np.empty(guess, np.int64), np.empty(guess, np.int32), np.empty(guess, np.int64))
        return OpenRoom(self.runs._replace(offset=offset), self.nodes, found, Progress(0, self.n_nodes, self.n_runs, 0))

    def keep(self, codes: Ints, room: "OpenRoom") -> None:
        """Stores what a step wrote for some keys."""
        self.runs, self.nodes = room.runs, room.nodes
        self.n_runs, self.n_nodes = room.progress.n_runs, room.progress.n_nodes
        self.n_keys += enter_runs(self.begin, self.end, frozen(codes), room.runs.offset, self.n_patterns)

    @property
    def is_loose(self) -> bool:
        """Whether more than half of the pools may be unused."""
        return self.n_runs + self.n_nodes > 2 * self._n_kept + SPARE

    def compact(self) -> Ints:
        """Removes unused entries; returns the remaining events, ascending, which are renumbered by position."""
        count = self.end - self.begin
        self.end = np.cumsum(count)
        places = np.repeat(self.begin - (self.end - count), count) + np.arange(int(self.end[-1]) if len(count) else 0)
        self.begin = self.end - count
        state, node, rank = (column[places] for column in self.runs[1:])
        number = number_reachable(frozen(self.nodes.parent[: self.n_nodes]), frozen(node))
        kept = number >= 0
        renumbered = np.append(number, -1)
        nodes = Nodes._make(column[: self.n_nodes][kept] for column in self.nodes)
        events, event = np.unique(nodes.event, return_inverse=True)
        self.nodes = nodes._replace(
            event=event, first=np.searchsorted(events, nodes.first), parent=renumbered[nodes.parent]
        )
        self.runs = Runs(self.runs.offset, state, renumbered[node], rank)
        self.n_runs, self.n_nodes = len(state), len(event)
        self._n_kept = self.n_runs + self.n_nodes
        return np.asarray(events, dtype=np.int64)

    def live_keys(self) -> Ints:
        """The keys with open runs, ascending."""
        return np.flatnonzero((self.end > self.begin).reshape(-1, self.n_patterns).any(axis=1))

    def rename(self, codes: Ints) -> None:
        """Renumbers keys by their rank in `codes`, which are all keys with runs, ascending."""
        self._make_room(int(codes[-1]) + 1 if len(codes) else 0)
        places = _places(codes, self.n_patterns)
        self.begin, self.end = self.begin[places], self.end[places]

    def state(self) -> AutomatonState:
        """The memory as an immutable state."""
        shape = (-1, self.n_patterns)
        begins, counts = self.begin.reshape(shape), (self.end - self.begin).reshape(shape)
        runs = Runs._make((self.runs.offset, *(column[: self.n_runs] for column in self.runs[1:])))
        nodes = Nodes._make(column[: self.n_nodes] for column in self.nodes)
        key = np.arange(len(begins))
        return AutomatonState.assembled(self.fingerprint, self.n_patterns, key, begins, counts, runs, nodes)


@dataclass(slots=True, eq=False)
class OpenRoom:
    """Pools to which a step appends, and its progress."""

    runs: Runs
    nodes: Nodes
    found: Witnessed
    progress: Progress

    def widen(self, status: int, progress: Progress) -> None:
        """Twice the room of what ran out, with what was written so far."""
        self.progress = progress
        if status == NEED_NODES:
            self.nodes = resized(self.nodes, 2 * len(self.nodes.event))
        elif status == NEED_RUNS:
            self.runs = with_room(self.runs, 2 * len(self.runs.state))
        elif status == NEED_FOUND:
            self.found = resized(self.found, 2 * len(self.found.row))
        else:
            raise AssertionError(f"the kernel returned {status=}")


def _places(codes: Ints, n_patterns: int) -> Ints:
    return (codes[:, None] * n_patterns + np.arange(n_patterns)).reshape(-1)


def _with_zeros(column: Ints, size: int) -> Ints:
    wider = np.zeros(size, np.int64)
    wider[: len(column)] = column
    return wider
