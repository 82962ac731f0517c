"""Runs of symbolic automata, event by event, with the first match that ends at each event (its witness).

Ntoulias, Alevizos, Artikis, Akasiadis, Koumparos: Online fleet monitoring with scalable event recognition and
forecasting (Wayeb), section 3.1: symbolic automata; here with the events of the match.

Each key and pattern has a list of runs (partial matches), the best first: a state, and the events so far. Runs in one
state have the same future, so only the best is kept. A run is better if its events are earlier, compared from the first
on; if it continues rather than ends; if its slots are smaller. This order survives when both runs are extended, so the
list stays sorted: better runs move first, and the first run that reaches a state takes it.

Events of runs form trees that share beginnings: a node is an event with its slots and the node before it.

The loop is in one file, because Numba recompiles a function only if its own file changes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

DONE = 0
NEED_NODES = 1
NEED_RUNS = 2
NEED_FOUND = 3

NO_NODE = -1
NO_MARK = -1

# Fields of a run: runs of one rank have the same events, runs with one node also the same slots.
STATE, NODE, RANK = 0, 1, 2
# Fields of a move; ORDER sorts moves of runs of one rank.
RUN, MARK, TARGET, ORDER = 0, 1, 2, 3


class RunTables(NamedTuple):
    """The automata of all patterns, one after the other; state 0 of each is its start."""

    group: npt.NDArray[np.int32]  # [pattern]: which row of the cells it reads
    cell_base: npt.NDArray[np.int64]  # [pattern]: where its cells begin in the next two
    class_of_cell: npt.NDArray[np.int32]
    starts: npt.NDArray[np.uint8]  # [cell]: whether a match can start with it
    n_classes: npt.NDArray[np.int64]  # [pattern]
    row_base: npt.NDArray[np.int64]  # [pattern]: where its states and classes begin in the next two
    still: npt.NDArray[np.uint8]  # [state, class]: whether the only move is to stay and skip the event
    edge_start: npt.NDArray[np.int64]  # [state, class]: the first edge, and the end
    edge_mark: npt.NDArray[np.int32]  # for each state and class ascending, then those without mark
    edge_target: npt.NDArray[np.int32]
    state_base: npt.NDArray[np.int64]  # [pattern]: where its states begin in the next two
    final: npt.NDArray[np.uint8]
    lasting: npt.NDArray[np.uint8]  # whether a run in this state can still move
    restart: npt.NDArray[np.uint8]  # [pattern]
    mark_size: npt.NDArray[np.int64]  # [mark]: how many slots it fills
    most_states: int  # of any pattern
    most_moves: int  # that one event can allow in any pattern


class Nodes(NamedTuple):
    """Events of partial matches; the node before has a smaller number."""

    event: npt.NDArray[np.int64]
    mark: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]  # the first event of the list
    size: npt.NDArray[np.int64]  # slots filled by the list


class Runs(NamedTuple):
    """Partial matches by key and pattern, the best first."""

    offset: npt.NDArray[np.int64]  # [key * patterns + pattern], and the end
    state: npt.NDArray[np.int32]
    node: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int32]


class Witnessed(NamedTuple):
    """Arrays for detections: row, pattern, and last node of the witness."""

    row: npt.NDArray[np.int64]
    pattern: npt.NDArray[np.int32]
    node: npt.NDArray[np.int64]


class Batch(NamedTuple):
    """Rows sorted by key, and the runs of their keys before the batch."""

    cells: npt.NDArray[np.int32]  # [group, row]
    events: npt.NDArray[np.int64]  # [row]: number of its event in lineages
    segments: npt.NDArray[np.int64]  # the first row of each key, and the number of rows
    before: Runs
    begin: npt.NDArray[np.int64]  # [key * patterns + pattern]: first run in `before`
    end: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]  # [segment]: number of the key in `before`, or -1


class Progress(NamedTuple):
    """The progress of a pass over keys: the next segment, and how much of the arrays is used."""

    segment: int
    n_nodes: int
    n_runs: int
    n_found: int


class Outcome(NamedTuple):
    """The effect of an event on the runs of a key."""

    n_runs: int
    n_nodes: int
    detected: bool
    witness: int


@njit(cache=True, nogil=True)
def track(
    tables: RunTables, batch: Batch, progress: Progress, after: Runs, nodes: Nodes, found: Witnessed
) -> tuple[int, Progress]:
    """Advances all patterns over all keys; returns a status and the progress.

    If an array is full, the current segment is not processed, so that the caller can resume with it.
    """
    n_patterns = tables.group.shape[0]
    n_nodes, n_runs, n_found = progress.n_nodes, progress.n_runs, progress.n_found
    # two lists, read and written alternately, with room for the start of a new match
    runs = np.empty((2, 3, tables.most_states + 1), np.int64)
    side = 0
    moves = np.empty((4, tables.most_moves), np.int64)
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
            live = _load(batch, segment, n_patterns, pattern, runs[side])
            floor = n_nodes
            for row in range(batch.segments[segment], batch.segments[segment + 1]):
                cell = cell_base + batch.cells[group, row]
                symbol = row_base + tables.class_of_cell[cell]
                if tables.starts[cell] == 0 and _all_still(tables.still, runs, side, live, symbol, n_classes):
                    continue
                if n_nodes + tables.most_states > nodes.event.shape[0]:
                    return NEED_NODES, kept
                live = _add_start(runs, side, live)
                n_moves = _line_up(tables, runs, side, live, symbol, n_classes, moves)
                turn += 1
                base, event = tables.state_base[pattern], batch.events[row]
                outcome = _take_turns(tables, base, moves, n_moves, runs, side, taken, turn, nodes, n_nodes, event)
                side = 1 - side
                live, n_nodes = outcome.n_runs, outcome.n_nodes
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
                    n_nodes = floor  # no run refers to the nodes since the last detection
            if n_runs + live > after.state.shape[0]:
                return NEED_RUNS, kept
            for run in range(live):
                after.state[n_runs] = runs[side, STATE, run]
                after.node[n_runs] = runs[side, NODE, run]
                after.rank[n_runs] = runs[side, RANK, run]
                n_runs += 1
            after.offset[segment * n_patterns + pattern + 1] = n_runs
    return DONE, Progress(n_segments, n_nodes, n_runs, n_found)


@njit(cache=True, nogil=True)
def _load(batch: Batch, segment: int, n_patterns: int, pattern: int, runs: npt.NDArray[np.int64]) -> int:
    """Loads the runs of the key of a segment; returns their number."""
    if batch.slots[segment] < 0:
        return 0
    place = batch.slots[segment] * n_patterns + pattern
    begin, end = batch.begin[place], batch.end[place]
    for run in range(begin, end):
        runs[STATE, run - begin] = batch.before.state[run]
        runs[NODE, run - begin] = batch.before.node[run]
        runs[RANK, run - begin] = batch.before.rank[run]
    return end - begin


@njit(cache=True, nogil=True)
def _all_still(
    still: npt.NDArray[np.uint8], runs: npt.NDArray[np.int64], side: int, n_runs: int, symbol: int, n_classes: int
) -> bool:
    """Whether all runs only stay and skip the event."""
    for run in range(n_runs):  # noqa: SIM110 - Numba knows no generator expressions
        if still[symbol + runs[side, STATE, run] * n_classes] == 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _add_start(runs: npt.NDArray[np.int64], side: int, n_runs: int) -> int:
    """Adds the start of a match: a run without events, which is worse than all others."""
    runs[side, STATE, n_runs] = 0
    runs[side, NODE, n_runs] = NO_NODE
    runs[side, RANK, n_runs] = 0
    if n_runs > 0:
        worse = runs[side, NODE, n_runs - 1] != NO_NODE
        runs[side, RANK, n_runs] = runs[side, RANK, n_runs - 1] + worse
    return n_runs + 1


@njit(cache=True, nogil=True)
def _line_up(
    tables: RunTables,
    runs: npt.NDArray[np.int64],
    side: int,
    n_runs: int,
    symbol: int,
    n_classes: int,
    moves: npt.NDArray[np.int64],
) -> int:
    """Lists the moves of all runs, sorted by rank, those with a mark first, then by list of events, then by mark."""
    n_marks = tables.mark_size.shape[0]
    n_moves = 0
    first_of_rank = 0
    first_with_list = 0
    for run in range(n_runs):
        if run > 0:
            if runs[side, RANK, run] != runs[side, RANK, run - 1]:
                first_of_rank = n_moves
            if runs[side, NODE, run] != runs[side, NODE, run - 1]:
                first_with_list = run
        place = symbol + runs[side, STATE, run] * n_classes
        for edge in range(tables.edge_start[place], tables.edge_start[place + 1]):
            mark = tables.edge_mark[edge]
            order = first_with_list * n_marks + mark
            if mark == NO_MARK:
                order = n_runs * n_marks + first_with_list
            at = n_moves
            while at > first_of_rank and moves[ORDER, at - 1] > order:
                for column in range(4):
                    moves[column, at] = moves[column, at - 1]
                at -= 1
            moves[RUN, at] = run
            moves[MARK, at] = mark
            moves[TARGET, at] = tables.edge_target[edge]
            moves[ORDER, at] = order
            n_moves += 1
    return n_moves


@njit(cache=True, nogil=True)
def _take_turns(
    tables: RunTables,
    state_base: int,
    moves: npt.NDArray[np.int64],
    n_moves: int,
    runs: npt.NDArray[np.int64],
    side: int,
    taken: npt.NDArray[np.int64],  # [state]: the last turn in which a run reached it
    turn: int,
    nodes: Nodes,
    n_nodes: int,
    event: int,
) -> Outcome:
    """Makes the moves whose target is not taken; the first one to a final state is the witness."""
    other = 1 - side
    n_runs = 0
    detected = False
    witness = NO_NODE
    made, made_of, made_mark = NO_NODE, NO_NODE, NO_MARK
    last_rank, last_skips = -1, False
    for move in range(n_moves):
        target = moves[TARGET, move]
        if taken[target] == turn:
            continue
        taken[target] = turn
        lasting = tables.lasting[state_base + target]
        if detected and not lasting:
            continue
        run, mark = moves[RUN, move], moves[MARK, move]
        skips = mark == NO_MARK
        node = runs[side, NODE, run]
        if not skips:
            if mark != made_mark or node != made_of:
                made, made_of, made_mark = n_nodes, node, mark
                n_nodes += 1
                _write_node(nodes, made, event, mark, node, tables.mark_size[mark])
            node = made
        if tables.final[state_base + target] and not detected:
            detected = True
            witness = node
        if lasting:
            runs[other, STATE, n_runs] = target
            runs[other, NODE, n_runs] = node
            runs[other, RANK, n_runs] = 0
            if n_runs > 0:
                worse = runs[side, RANK, run] != last_rank or skips != last_skips
                runs[other, RANK, n_runs] = runs[other, RANK, n_runs - 1] + worse
            last_rank, last_skips = runs[side, RANK, run], skips
            n_runs += 1
    return Outcome(n_runs, n_nodes, detected, witness)


@njit(cache=True, nogil=True)
def _write_node(nodes: Nodes, made: int, event: int, mark: int, parent: int, size: int) -> None:
    nodes.event[made] = event
    nodes.mark[made] = mark
    nodes.parent[made] = parent
    if parent == NO_NODE:
        nodes.first[made] = event
        nodes.size[made] = size
    else:
        nodes.first[made] = nodes.first[parent]
        nodes.size[made] = nodes.size[parent] + size
