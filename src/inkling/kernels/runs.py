"""Partial matches that move through an automaton together, the best of them first.

Two partial matches in one state have the same future, so only the better one is kept. What makes one better
(earlier events, from the first on; going on rather than ending; smaller slots) survives when both are
extended. So a list of runs stays sorted by letting better runs move first: whoever comes first to a state
takes it.

Events of partial matches form trees that share their beginnings: a node is an event with the slots it fills
and the node before it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

NO_NODE = -1
NO_MARK = -1


class RunTables(NamedTuple):
    """The automata of all patterns, one after the other; state 0 of each is its start."""

    group: npt.NDArray[np.int32]  # [pattern]: which row of the cells it reads
    cell_base: npt.NDArray[np.int64]  # [pattern]: where its cells begin in the next two
    class_of_cell: npt.NDArray[np.int32]
    starts: npt.NDArray[np.uint8]  # [cell]: whether a match can start with it
    n_classes: npt.NDArray[np.int64]  # [pattern]
    row_base: npt.NDArray[np.int64]  # [pattern]: where its states and classes begin in the next two
    still: npt.NDArray[np.uint8]  # [state, class]: whether all that can happen is to stay and skip the event
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


class RunLists(NamedTuple):
    """Two lists of runs of one key and pattern, the best first: one to read, one to write, by turns."""

    state: npt.NDArray[np.int32]  # [side, run]
    node: npt.NDArray[np.int64]  # equal for runs with the same events in the same slots
    rank: npt.NDArray[np.int32]  # equal for runs with the same events


class MoveList(NamedTuple):
    """What runs can do with one event, the best first."""

    run: npt.NDArray[np.int32]
    mark: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    order: npt.NDArray[np.int64]  # among moves of one rank


class Outcome(NamedTuple):
    """What came of an event."""

    n_runs: int
    n_nodes: int
    detected: bool
    witness: int


@njit(cache=True, nogil=True)
def run_lists(room: int) -> RunLists:
    shape = (2, room)
    return RunLists(np.empty(shape, np.int32), np.empty(shape, np.int64), np.empty(shape, np.int32))


@njit(cache=True, nogil=True)
def move_list(room: int) -> MoveList:
    return MoveList(
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int64)
    )


@njit(cache=True, nogil=True, inline="always")
def all_still(still: npt.NDArray[np.uint8], runs: RunLists, side: int, n_runs: int, symbol: int, n_classes: int) -> bool:
    """Whether no run does anything but wait."""
    for run in range(n_runs):
        if still[symbol + runs.state[side, run] * n_classes] == 0:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def add_start(runs: RunLists, side: int, n_runs: int) -> int:
    """Let a match start: a run with the empty list, which is worse than all others."""
    runs.state[side, n_runs] = 0
    runs.node[side, n_runs] = NO_NODE
    runs.rank[side, n_runs] = 0
    if n_runs > 0:
        runs.rank[side, n_runs] = runs.rank[side, n_runs - 1] + (runs.node[side, n_runs - 1] != NO_NODE)
    return n_runs + 1


@njit(cache=True, nogil=True, inline="always")
def line_up(
    tables: RunTables, runs: RunLists, side: int, n_runs: int, symbol: int, n_classes: int, moves: MoveList
) -> int:
    """List the moves of all runs by rank, those with a mark first, then by list of events, then by mark."""
    n_moves = 0
    first_of_rank = 0
    first_with_list = 0
    for run in range(n_runs):
        if run > 0:
            if runs.rank[side, run] != runs.rank[side, run - 1]:
                first_of_rank = n_moves
            if runs.node[side, run] != runs.node[side, run - 1]:
                first_with_list = run
        place = symbol + runs.state[side, run] * n_classes
        for edge in range(tables.edge_start[place], tables.edge_start[place + 1]):
            mark = tables.edge_mark[edge]
            order = (first_with_list << 32) + mark
            if mark == NO_MARK:
                order += 1 << 62
            at = n_moves
            while at > first_of_rank and moves.order[at - 1] > order:
                moves.order[at] = moves.order[at - 1]
                moves.run[at] = moves.run[at - 1]
                moves.mark[at] = moves.mark[at - 1]
                moves.target[at] = moves.target[at - 1]
                at -= 1
            moves.order[at] = order
            moves.run[at] = run
            moves.mark[at] = mark
            moves.target[at] = tables.edge_target[edge]
            n_moves += 1
    return n_moves


@njit(cache=True, nogil=True, inline="always")
def take_turns(
    tables: RunTables,
    state_base: int,
    moves: MoveList,
    n_moves: int,
    runs: RunLists,
    side: int,
    taken: npt.NDArray[np.int64],  # [state]: the last turn in which some run came to it
    turn: int,
    event: int,
    nodes: Nodes,
    n_nodes: int,
) -> Outcome:
    """Make the moves whose target is still free; the first that ends in a final state is the witness."""
    n_runs = 0
    detected = False
    witness = NO_NODE
    made, made_of, made_mark = NO_NODE, NO_NODE, NO_MARK
    last_rank, last_skips = -1, False
    for move in range(n_moves):
        target = moves.target[move]
        if taken[target] == turn:
            continue
        taken[target] = turn
        lasting = tables.lasting[state_base + target]
        if detected and not lasting:
            continue
        run, mark = moves.run[move], moves.mark[move]
        skips = mark == NO_MARK
        held = runs.node[side, run]
        if not skips:
            if mark != made_mark or held != made_of:
                made, made_of, made_mark = n_nodes, held, mark
                n_nodes += 1
                write_node(nodes, made, event, mark, held, tables.mark_size[mark])
            held = made
        if tables.final[state_base + target] and not detected:
            detected = True
            witness = held
        if lasting:
            runs.state[1 - side, n_runs] = target
            runs.node[1 - side, n_runs] = held
            runs.rank[1 - side, n_runs] = 0
            if n_runs > 0:
                worse = runs.rank[side, run] != last_rank or skips != last_skips
                runs.rank[1 - side, n_runs] = runs.rank[1 - side, n_runs - 1] + worse
            last_rank, last_skips = runs.rank[side, run], skips
            n_runs += 1
    return Outcome(n_runs, n_nodes, detected, witness)


@njit(cache=True, nogil=True, inline="always")
def write_node(nodes: Nodes, made: int, event: int, mark: int, parent: int, size: int) -> None:
    nodes.event[made] = event
    nodes.mark[made] = mark
    nodes.parent[made] = parent
    if parent == NO_NODE:
        nodes.first[made] = event
        nodes.size[made] = size
    else:
        nodes.first[made] = nodes.first[parent]
        nodes.size[made] = nodes.size[parent] + size
