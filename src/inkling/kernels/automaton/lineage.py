"""Lists of events as trees that share common beginnings: expansion to lists, and renumbering of used nodes."""

import numpy as np
import numpy.typing as npt
from numba import njit

from inkling.kernels.automaton.witness import NO_NODE, Nodes


@njit(cache=True, nogil=True)
def write_lineage(
    nodes: Nodes,
    ends: npt.NDArray[np.int64],  # last node of each list
    offsets: npt.NDArray[np.int64],  # where each list goes, and the end
    mark_start: npt.NDArray[np.int64],  # [mark]: its first slot, and the end
    mark_slot: npt.NDArray[np.int32],
    events: npt.NDArray[np.int64],  # written
    slots: npt.NDArray[np.int32],  # written
) -> None:
    """Expands lists of events from first to last, with one entry per slot that an event fills."""
    for index in range(ends.shape[0]):
        at = offsets[index + 1]
        node = ends[index]
        while node != NO_NODE:
            mark = nodes.mark[node]
            for place in range(mark_start[mark + 1] - 1, mark_start[mark] - 1, -1):
                at -= 1
                events[at] = nodes.event[node]
                slots[at] = mark_slot[place]
            node = nodes.parent[node]


@njit(cache=True, nogil=True)
def number_reachable(parent: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """New numbers for the nodes that are in some list, in the old order, and -1 for others."""
    n_nodes = parent.shape[0]
    number = np.full(n_nodes, -1, np.int64)
    for index in range(ends.shape[0]):
        if ends[index] != NO_NODE:
            number[ends[index]] = 0
    for node in range(n_nodes - 1, -1, -1):
        if number[node] == 0 and parent[node] != NO_NODE:
            number[parent[node]] = 0
    n_kept = 0
    for node in range(n_nodes):
        if number[node] == 0:
            number[node] = n_kept
            n_kept += 1
    return number


@njit(cache=True, nogil=True)
def place_events(nodes: Nodes, first_node: int, n_nodes: int, n_before: int, n_rows: int) -> npt.NDArray[np.int64]:
    """The rows that new nodes refer to; row numbers from `n_before` on are replaced in nodes by ranks of used rows."""
    place = np.full(n_rows, -1, np.int64)
    for node in range(first_node, n_nodes):
        place[nodes.event[node] - n_before] = 0
    n_used = 0
    for row in range(n_rows):
        if place[row] == 0:
            place[row] = n_used
            n_used += 1
    for node in range(first_node, n_nodes):
        nodes.event[node] = n_before + place[nodes.event[node] - n_before]
        if nodes.first[node] >= n_before:
            nodes.first[node] = n_before + place[nodes.first[node] - n_before]
    used = np.empty(n_used, np.int64)
    for row in range(n_rows):
        if place[row] >= 0:
            used[place[row]] = row
    return used
