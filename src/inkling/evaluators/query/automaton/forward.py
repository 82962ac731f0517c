"""The forward algorithm on automaton states: the distribution over states after each time (Lahar, section 3.1.2).

Each grounding of the query is a Markov chain of its own. If a grounding reads a Markovian stream, the value of that
stream belongs to the state: the state then has one entry per possible value. Otherwise it has one entry, NO_EVENT.

    P[value d', state s'] = Σ over d and s with δ(s, symbol(d')) = s' of P[d' | d] · P[value d, state s]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from inkling.evaluators.query.automaton.transitions import SymbolTables
from inkling.evaluators.query.probable_events import NO_EVENT, NULL_KEY, Numbers, ProbableEvents
from inkling.evaluators.stage.rows.keys import is_among
from inkling.kernels.query.forward import (
    NEVER,
    UNSTARTED,
    Ends,
    Groups,
    PassOptions,
    Rows,
    StateAfter,
    StateBefore,
    Steps,
    forward,
)
from inkling.model.batch import Ints, Mask
from inkling.model.hashes import Hashes
from inkling.model.runs import ranges
from inkling.model.uncertainty import TOLERANCE

COMPILED = SimpleNamespace(forward=forward)


@dataclass(frozen=True, slots=True)
class RunSizes:
    """The size of the table of earliest starts: its rows (one, or one per state with CONSUME RESTART) and columns."""

    n_rows: int
    n_runs: int  # states of the nondeterministic automaton


NO_RUNS = RunSizes(1, 1)


@dataclass(frozen=True, slots=True)
class ForwardState:
    """The state of all groundings that have read an event: grounding g has the entries held[g]:held[g + 1]."""

    groundings: Hashes  # ascending
    held: Ints
    value: Hashes  # of each entry: the value of the Markovian stream, or NO_EVENT
    mass: Numbers  # [entry, state]: joint probability of value and state
    begun: Ints  # [entry, row, state of runs]: the earliest start of a match, NEVER where there is none

    @classmethod
    def empty(cls, n_states: int, runs: RunSizes) -> ForwardState:
        none = np.empty(0, np.uint64)
        begun = np.empty((0, runs.n_rows, runs.n_runs), np.int64)
        return cls(none, np.zeros(1, np.int64), none, np.empty((0, n_states)), begun)

    @property
    def n_states(self) -> int:
        """How many entries there are."""
        return len(self.value)

    @property
    def known(self) -> Hashes:
        return self.groundings

    def only(self, groundings: Hashes) -> ForwardState:
        """The state of some groundings, given in ascending order."""
        return self._take(np.flatnonzero(is_among(self.groundings, groundings)))

    def merged(self, other: ForwardState, replaced: Hashes | None = None) -> ForwardState:
        """The state of all groundings of two states; of `replaced`, by default those of `other`, only the latter."""
        gone = other.groundings if replaced is None else replaced
        mine = self._take(np.flatnonzero(~np.isin(self.groundings, gone)))
        both = ForwardState(
            np.concatenate([mine.groundings, other.groundings]),
            np.append(mine.held, mine.held[-1] + other.held[1:]),
            *(np.concatenate([getattr(mine, name), getattr(other, name)]) for name in ("value", "mass", "begun")),
        )
        return both._take(np.argsort(both.groundings))

    def without_idle(self, tables: SymbolTables) -> ForwardState:
        """Without groundings that continue like those that have read no event: idle, and without open runs."""
        alone = np.flatnonzero(np.diff(self.held) == 1)
        entry = self.held[:-1][alone]
        is_idle = (self.value[entry] == NO_EVENT) & (self.mass[entry][:, ~tables.idle] == 0).all(axis=1)
        is_idle &= self.mass[entry].sum(axis=1) == 1
        is_idle &= (self.begun[entry][:, :, tables.open] == NEVER).all(axis=(1, 2))
        return self._take(np.setdiff1d(np.arange(len(self.groundings)), alone[is_idle])) if is_idle.any() else self

    def _take(self, chosen: Ints) -> ForwardState:
        counts = np.diff(self.held)[chosen]
        entries = ranges(self.held[chosen], counts)
        held = np.append(0, np.cumsum(counts))
        return ForwardState(self.groundings[chosen], held, self.value[entries], self.mass[entries], self.begun[entries])


@dataclass(frozen=True, slots=True)
class ForwardByKey:
    """Per group: the probability that a match ends there, its earliest start, the row that it ends with."""

    after: ForwardState
    out: Numbers
    start: Ints  # NEVER where none can end
    last: Ints
    belief: Numbers  # [group, state] with `keeps_belief`: the distribution over states afterwards


def forward_by_key(
    state: ForwardState,
    events: ProbableEvents,
    tables: SymbolTables,
    symbol: Ints,
    runs: RunSizes,
    *,
    restart: bool = False,
    ever: bool = False,
    keeps_belief: bool = False,
    kernels: SimpleNamespace = COMPILED,
) -> ForwardByKey:
    """One forward pass per stream: every stream is a grounding, and its groups are the steps."""
    first = np.searchsorted(events.stream, np.arange(events.n_streams + 1))
    n = events.n_groups
    ends = Ends(
        np.zeros(n, events.chance.dtype),
        np.full(n, NEVER),
        np.full(n, -1),
        np.zeros(0, events.chance.dtype),
        np.zeros((n if keeps_belief else 0, len(tables.delta)), events.chance.dtype),
    )
    steps = Steps(first, np.arange(n + 1), np.arange(n), events.time)
    most_values = np.maximum.reduceat(np.diff(events.offsets), first[:-1]) if n else np.zeros(0, np.int64)
    # rows of independent streams are treated like those of Markovian ones, because one of them is reported
    after = forward_pass(
        state, events.name, events, steps, np.ones(n, bool), tables, symbol, ends, most_values, runs,
        is_markov=bool(events.markov.any()), ever=ever, restart=restart, kernels=kernels,
    )  # fmt: skip
    return ForwardByKey(after, ends.chance, ends.start, ends.last, ends.belief)


def has_whole_key(events: ProbableEvents) -> Mask:
    """Which streams have no null in their key; the others belong to no partition."""
    missing = [codes == NULL_KEY for codes in events.keys.values()]
    return ~np.logical_or.reduce(missing) if missing else np.ones(events.n_streams, bool)


def forward_pass(
    state: ForwardState,
    names: Hashes,
    events: ProbableEvents,
    steps: Steps,
    chained: Mask,
    tables: SymbolTables,
    symbol: Ints,
    ends: Ends,
    most_values: Ints,
    runs: RunSizes,
    *,
    is_markov: bool,
    ever: bool,
    restart: bool,
    kernels: SimpleNamespace,
) -> ForwardState:
    """The state after the steps of the groundings `names`; `ends` receives where matches end.

    `chained` marks the groups whose values belong to the state, `most_values` is the largest number of values that one
    group of each grounding has. Without `is_markov`, all entries have the value NO_EVENT.
    """
    before = _state_before(state, names, events, tables, runs)
    none = np.zeros(len(events.value), np.int64)
    codes, value, given, held_code = np.empty(0, np.uint64), none, none, np.zeros(len(before.value), np.int64)
    if is_markov:
        codes, (value, given, held_code) = _coded([events.value, events.given, before.value])
    room = np.append(0, np.cumsum(np.maximum(np.diff(before.held), most_values) + 1))
    n_entries, values = np.zeros(len(names), np.int64), np.zeros(int(room[-1]), np.int64)
    kept = StateAfter(room[:-1], n_entries, values, *_fresh(int(room[-1]), events, tables, runs))
    kernels.forward(
        steps,
        Groups(events.offsets[:-1], events.offsets[1:], events.rest, events.anew, chained),
        Rows(symbol, events.chance, value, given, events.row),
        tables.transitions,
        StateBefore(before.held, held_code, before.mass, before.begun),
        kept,
        ends,
        PassOptions(len(codes), 0 if events.is_exact else float(TOLERANCE) / 2, ever, restart),
    )
    used = ranges(room[:-1], n_entries)
    values = np.append(codes, NO_EVENT)[kept.value[used]]
    held = np.append(0, np.cumsum(n_entries))
    after = ForwardState(names, held, values, kept.mass[used], kept.begun[used])
    return state.merged(after.without_idle(tables), names)


def _state_before(
    state: ForwardState, names: Hashes, events: ProbableEvents, tables: SymbolTables, runs: RunSizes
) -> ForwardState:
    """The state of some groundings in the order of `names`; new ones have one entry, in the initial state."""
    place = np.searchsorted(state.groundings, names)
    inside = place < len(state.groundings)
    known = np.flatnonzero(inside)[state.groundings[place[inside]] == names[inside]]
    counts = np.ones(len(names), np.int64)
    counts[known] = np.diff(state.held)[place[known]]
    held = np.append(0, np.cumsum(counts))
    value = np.full(held[-1], NO_EVENT)
    mass, begun = _fresh(int(held[-1]), events, tables, runs)
    old, new = ranges(state.held[place[known]], counts[known]), ranges(held[:-1][known], counts[known])
    value[new], mass[new], begun[new] = state.value[old], state.mass[old], state.begun[old]
    return ForwardState(names, held, value, mass, begun)


def _coded(columns: Sequence[Hashes]) -> tuple[Hashes, list[Ints]]:
    """The distinct values except NO_EVENT, and each column as their numbers, in which NO_EVENT comes last."""
    encoded = pa.array(np.concatenate([np.array([NO_EVENT]), *columns])).dictionary_encode()
    found = encoded.dictionary.to_numpy()[1:]
    numbers = encoded.indices.to_numpy().astype(np.int64)[1:] - 1
    numbers[numbers < 0] = len(found)
    return found, np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


def _fresh(n: int, events: ProbableEvents, tables: SymbolTables, runs: RunSizes) -> tuple[Numbers, Ints]:
    """Masses and earliest starts of entries that have read no event."""
    mass = np.zeros((n, len(tables.delta)), events.chance.dtype)
    mass[:, 0] = 1
    begun = np.full((n, runs.n_rows, runs.n_runs), NEVER)
    begun[:, 0, 0] = UNSTARTED
    return mass, begun
