"""One pair of keys during the forward pass: its state, its arrays, and room in them."""

from typing import NamedTuple

import numpy as np
from numba import njit

from inkling.kernels.phase import phase
from inkling.kernels.relation.blocks import Blocks, PointMoves
from inkling.kernels.relation.keys import N_FIELDS, N_LOST, N_REALS, OPENS_NOW, Key
from inkling.kernels.relation.rules import CAP, N_PLACES, PairQuery
from inkling.kernels.relation.stretches import can_stretch, tables_of

NOTE, NUMBER, ENOUGH, LAST, IS_CERTAIN, N_X, N_Y, X_LO, X_HI, SIDE, N_NOTES, N_NUMBERS = range(12)
"""State of a pair: note and number while it is deterministic, the number that is enough, the largest number set aside;
whether it is deterministic, pending lost points of each key plus one, the first and last valid row of blocks,
which of the two arrays of masses is current, and how many notes and numbers there are."""
BUDGET, TIME_0, UNTIL, IS_BEFORE_ALL, PAIR, IS_BEGUN, IS_QUICK, N_COUNTS = range(12, 20)
"""Also the remaining operations, the first recorded time, the time up to which points are known, whether lost points
precede all recorded ones, the pair, whether its pass has begun, and whether tables can process recorded points."""
HERE, ALONG_0, N_ON = range(3)
"""Positions on the axis: of the pass, and of the first recorded point."""


class KeyPairs(NamedTuple):
    """Pairs of keys with their options, and the results."""

    one: np.ndarray
    other: np.ndarray
    until: np.ndarray  # the time up to which points are known
    knows_left: np.ndarray  # all points of the left key are known
    unopened: np.ndarray  # number of later right segments to assume; negative if all are known
    lower: np.ndarray  # [pair, number]
    upper: np.ndarray
    status: np.ndarray


class PairPass(NamedTuple):
    """The state of the pass over a pair, with names of SimpMatch: keys, query, two arrays of masses, scratch arrays."""

    left: Key  # A
    right: Key  # B
    query: PairQuery  # Q_A A – C – Q_B B
    tables: PointMoves  # of deterministic stretches
    at: np.ndarray  # [NOTE … IS_QUICK]
    on: np.ndarray  # [HERE, ALONG_0]
    masses: np.ndarray  # [side, block, note, number]
    rows: np.ndarray  # [LO … NEXT_HI, x]
    moves: PointMoves  # [block, note]
    room: np.ndarray  # as long as a block
    total: np.ndarray  # distribution of the number set aside
    low: np.ndarray  # distribution of the number of segments that certainly qualify since then
    high: np.ndarray  # distribution of the number that may qualify


@njit(cache=True, error_model="numpy")
def new_pass(left, right, rules, labels):
    """Initial, short arrays; `with_room` makes them longer."""
    query = PairQuery(rules, np.zeros(4, np.int64), labels)
    n_notes = (rules[CAP] + 1) * rules[N_PLACES]
    at = np.zeros(N_COUNTS, np.int64)
    at[N_NOTES], at[IS_QUICK] = n_notes, can_stretch(rules)
    return PairPass(
        Key(left, np.zeros(N_FIELDS, np.int64), np.zeros(N_REALS), np.zeros((5, 8), np.int64), np.zeros((3, 8))),
        Key(right, np.zeros(N_FIELDS, np.int64), np.zeros(N_REALS), np.zeros((5, 8), np.int64), np.zeros((3, 8))),
        query, tables_of(query, n_notes), at, np.zeros(N_ON), np.zeros((2, 256)), np.zeros((4, 8), np.int64),
        PointMoves(np.zeros(max(64, n_notes), np.int64), np.zeros(max(64, n_notes), np.int64)),
        np.zeros(16), np.zeros(16), np.zeros(16), np.zeros(16),
    )  # fmt: skip


@phase
def blocks_of(pair):
    at = pair.at
    return Blocks(
        pair.masses[at[SIDE]], pair.rows, pair.left.table, pair.right.table, at[N_X], at[N_Y], at[N_NOTES],
        at[N_NUMBERS], at[X_LO], at[X_HI],
    )  # fmt: skip


@phase
def sizes(pair):
    """The pending lost points of each key plus one, including those that become pending now."""
    a, b, at = pair.left.state, pair.right.state, pair.at
    return a[N_LOST] + 1 if a[OPENS_NOW] else at[N_X], b[N_LOST] + 1 if b[OPENS_NOW] else at[N_Y]


@phase
def has_room(pair):
    n_x, n_y = sizes(pair)
    block = pair.at[N_NOTES] * pair.at[N_NUMBERS]
    return (
        pair.room.shape[0] >= block
        and pair.masses.shape[1] >= n_x * n_y * block
        and pair.moves.left.shape[0] >= n_x * n_y * pair.at[N_NOTES]
        and pair.left.table.shape[1] >= n_x
        and pair.right.table.shape[1] >= n_y
    )


@njit(cache=True, error_model="numpy")
def with_room(pair):
    """The same state with arrays that are long enough for the pending points."""
    n_x, n_y = sizes(pair)
    one, other, n_notes, n_numbers = pair.left, pair.right, pair.at[N_NOTES], pair.at[N_NUMBERS]
    n_moves, block = n_x * n_y * n_notes, n_notes * n_numbers
    return PairPass(
        Key(one.points, one.state, one.reals, _width(one.table, n_x), _width(one.weights, n_x)),
        Key(other.points, other.state, other.reals, _width(other.table, n_y), _width(other.weights, n_y)),
        pair.query, pair.tables, pair.at, pair.on, _width(pair.masses, n_x * n_y * block), _width(pair.rows, n_x),
        PointMoves(_length(pair.moves.left, n_moves), _length(pair.moves.right, n_moves)),
        _length(pair.room, block), _length(pair.total, n_numbers), _length(pair.low, n_numbers),
        _length(pair.high, n_numbers),
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _length(array, n):
    if array.shape[0] >= n:
        return array
    longer = np.zeros(max(n, 2 * array.shape[0]), array.dtype)
    for i in range(array.shape[0]):
        longer[i] = array[i]
    return longer


@njit(cache=True, error_model="numpy")
def _width(array, n):
    if array.shape[1] >= n:
        return array
    wider = np.zeros((array.shape[0], max(n, 2 * array.shape[1])), array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            wider[i, j] = array[i, j]
    return wider
