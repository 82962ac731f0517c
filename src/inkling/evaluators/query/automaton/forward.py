"""Streams that are followed each for itself: where an automaton may be after each time, key by key."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from inkling.evaluators.hashes import Hashes
from inkling.evaluators.query.automaton.regular import ChainState, coded, held_by, merged
from inkling.evaluators.query.automaton.transitions import LetterTables
from inkling.evaluators.query.grounding import NOTHING, NULL_KEY, Ground, Mask, Numbers, ranges
from inkling.kernels.probable_patterns import NEVER, UNSTARTED, follow_alone
from inkling.model.batch import Ints
from inkling.model.weights import TOLERANCE

COMPILED = SimpleNamespace(follow_alone=follow_alone)


@dataclass(frozen=True, slots=True)
class Runs:
    """How many runs are carried beside the chances: rows of them, and states of runs."""

    n_rows: int
    n_runs: int


NO_RUNS = Runs(1, 1)


@dataclass(frozen=True, slots=True)
class Walked:
    """What is known of each group: the chance that a match ends there, its earliest start, the row it ends with."""

    after: ChainState
    out: Numbers
    start: Ints  # NEVER where none can end
    last: Ints
    belief: Numbers  # [group, state], if that was asked for


def nothing_seen(n_states: int, runs: Runs) -> ChainState:
    none = np.empty(0, np.uint64)
    begun = np.empty((0, runs.n_rows, runs.n_runs), np.int64)
    return ChainState(none, np.zeros(1, np.int64), none, np.empty((0, n_states)), begun)


def whole_keys(ground: Ground) -> Mask:
    """Which streams have all of their key; those that have not belong to no partition."""
    missing = [codes == NULL_KEY for codes in ground.keys.values()]
    return ~np.logical_or.reduce(missing) if missing else np.ones(ground.n_streams, bool)


def walked(
    state: ChainState,
    ground: Ground,
    tables: LetterTables,
    letter: Ints,
    runs: Runs,
    *,
    restart: bool = False,
    ever: bool = False,
    tells: bool = False,
    kernels: SimpleNamespace = COMPILED,
) -> Walked:
    """Carry the chances of states over the groups of all streams, each of which has its own."""
    names = ground.name
    here, counts, held, held_value, held_mass, held_begun = held_by(
        state, names, lambda n: _fresh(n, ground, tables, runs)
    )
    codes, value, given, held_code = _values(ground, held_value)
    first = np.searchsorted(ground.stream, np.arange(ground.n_streams + 1))
    room = np.append(0, np.cumsum(np.maximum(counts, _longest(ground, first)) + 1))
    kept_count, kept_value = np.zeros(len(names), np.int64), np.zeros(int(room[-1]), np.int64)
    kept_mass, kept_begun = _fresh(int(room[-1]), ground, tables, runs)
    n = ground.n_groups
    out, start, last = np.zeros(n, ground.chance.dtype), np.full(n, NEVER), np.full(n, -1)
    belief = np.zeros((n if tells else 0, len(tables.delta)), ground.chance.dtype)
    kernels.follow_alone(
        first, ground.offsets[:-1], ground.offsets[1:], ground.anew, ground.time, letter, value, given, ground.chance,
        ground.row, 0 if ground.is_exact else float(TOLERANCE) / 2, *tables.moving, restart, ever, len(codes), held,
        held_code, held_mass, held_begun, room[:-1], kept_count, kept_value, kept_mass, kept_begun, out, start, last,
        tells, belief,
    )  # fmt: skip
    kept = ranges(room[:-1], kept_count)
    values = np.append(codes, NOTHING)[kept_value[kept]]
    after = merged(state, here, names, kept_count, values, kept_mass[kept], kept_begun[kept])
    return Walked(after, out, start, last, belief)


def _values(ground: Ground, held: Hashes) -> tuple[Hashes, Ints, Ints, Ints]:
    """All values but NOTHING, and as numbers those of rows, those before them, and those that entries have."""
    if not ground.markov.any():
        none = np.zeros(len(ground.value), np.int64)
        return np.empty(0, np.uint64), none, none, np.zeros(len(held), np.int64)
    codes, (value, given, now) = coded([ground.value, ground.given, held])
    return codes, value, given, now


def _longest(ground: Ground, first: Ints) -> Ints:
    """The most values that a group of each stream leads to."""
    if not ground.n_groups:
        return np.zeros(0, np.int64)
    return np.maximum.reduceat(np.diff(ground.offsets), first[:-1])


def _fresh(n: int, ground: Ground, tables: LetterTables, runs: Runs) -> tuple[Numbers, Ints]:
    """Entries that have seen nothing."""
    mass = np.zeros((n, len(tables.delta)), ground.chance.dtype)
    mass[:, 0] = 1
    begun = np.full((n, runs.n_rows, runs.n_runs), NEVER)
    begun[:, 0, 0] = UNSTARTED
    return mass, begun
