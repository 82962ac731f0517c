"""The first match that ends at each event, kept up to date one event at a time."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from inkling.kernels.runs import (
    Nodes,
    RunTables,
    add_start,
    all_still,
    line_up,
    move_list,
    run_lists,
    take_turns,
)

DONE = 0
NEED_NODES = 1
NEED_RUNS = 2
NEED_FOUND = 3


class Runs(NamedTuple):
    """Partial matches by key and pattern, the best first."""

    offset: npt.NDArray[np.int64]  # [key * patterns + pattern], and the end
    state: npt.NDArray[np.int32]
    node: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int32]


class Witnessed(NamedTuple):
    """Room for detections and the last node of their witness."""

    row: npt.NDArray[np.int64]
    pattern: npt.NDArray[np.int32]
    node: npt.NDArray[np.int64]


class Batch(NamedTuple):
    """Rows sorted by key, with what is known of their keys."""

    cells: npt.NDArray[np.int32]  # [group, row]
    events: npt.NDArray[np.int64]  # [row]: what to call its event
    segments: npt.NDArray[np.int64]  # the first row of each key, and the number of rows
    before: Runs
    slots: npt.NDArray[np.int64]  # [segment]: which key of `before` it goes on with, or -1


class Progress(NamedTuple):
    """How far a pass over the keys has come."""

    segment: int
    n_nodes: int
    n_runs: int
    n_found: int


@njit(cache=True, nogil=True)
def track(
    tables: RunTables, batch: Batch, progress: Progress, after: Runs, nodes: Nodes, found: Witnessed
) -> tuple[int, Progress]:
    """Advance every pattern over every key; the status and the progress made.

    When some room ends, the segment at hand is given back untouched.
    """
    n_patterns = tables.group.shape[0]
    n_nodes, n_runs, n_found = progress.n_nodes, progress.n_runs, progress.n_found
    # one place more than states, for the start of a new match
    runs = run_lists(tables.most_states + 1)
    side = 0
    moves = move_list(tables.most_moves)
    taken = np.zeros(tables.most_states, np.int64)
    turn = 0
    n_segments = batch.segments.shape[0] - 1
    for segment in range(progress.segment, n_segments):
        kept = Progress(segment, n_nodes, n_runs, n_found)
        for pattern in range(n_patterns):
            cell_base = tables.cell_base[pattern]
            row_base = tables.row_base[pattern]
            n_classes = tables.n_classes[pattern]
            group = tables.group[pattern]
            live = 0
            if batch.slots[segment] >= 0:
                place = batch.slots[segment] * n_patterns + pattern
                for run in range(batch.before.offset[place], batch.before.offset[place + 1]):
                    runs.state[side, live] = batch.before.state[run]
                    runs.node[side, live] = batch.before.node[run]
                    runs.rank[side, live] = batch.before.rank[run]
                    live += 1
            floor = n_nodes
            for row in range(batch.segments[segment], batch.segments[segment + 1]):
                cell = cell_base + batch.cells[group, row]
                symbol = row_base + tables.class_of_cell[cell]
                if tables.starts[cell] == 0 and all_still(tables.still, runs, side, live, symbol, n_classes):
                    continue
                if n_nodes + tables.most_states > nodes.event.shape[0]:
                    return NEED_NODES, kept
                live = add_start(runs, side, live)
                n_moves = line_up(tables, runs, side, live, symbol, n_classes, moves)
                turn += 1
                outcome = take_turns(
                    tables,
                    tables.state_base[pattern],
                    moves,
                    n_moves,
                    runs,
                    side,
                    taken,
                    turn,
                    batch.events[row],
                    nodes,
                    n_nodes,
                )
                live, n_nodes = outcome.n_runs, outcome.n_nodes
                side = 1 - side
                if outcome.detected:
                    if n_found == found.row.shape[0]:
                        return NEED_FOUND, kept
                    found.row[n_found] = row
                    found.pattern[n_found] = pattern
                    found.node[n_found] = outcome.witness
                    n_found += 1
                    floor = n_nodes
                    if tables.restart[pattern]:
                        live = 0
                if live == 0:
                    n_nodes = floor  # nothing holds the nodes made since the last detection
            if n_runs + live > after.state.shape[0]:
                return NEED_RUNS, kept
            for run in range(live):
                after.state[n_runs] = runs.state[side, run]
                after.node[n_runs] = runs.node[side, run]
                after.rank[n_runs] = runs.rank[side, run]
                n_runs += 1
            after.offset[segment * n_patterns + pattern + 1] = n_runs
    return DONE, Progress(n_segments, n_nodes, n_runs, n_found)
