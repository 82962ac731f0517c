"""Arrays that the tracking kernel writes to, made larger when it asks for more."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from inkling.automata.columns import Columns
from inkling.automata.rows import Rows
from inkling.automata.state import AutomatonState
from inkling.kernels.witness import NEED_FOUND, NEED_NODES, NEED_RUNS, Nodes, Progress, Runs, Witnessed


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """Space for the nodes, runs and detections of one batch, and how much of it is in use."""

    runs: Runs
    nodes: Nodes
    found: Witnessed
    progress: Progress

    @classmethod
    def for_rows(cls, state: AutomatonState, rows: Rows, n_states: int) -> "Room":
        """Room that is enough when few rows matter; the nodes of the state come first."""
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
        """Only what was written."""
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
