"""Markov chains of automaton states, one per unit (Lahar, section 3.1.2, regular expressions on Markov chains).

They answer regular queries, and extended regular queries (section 3.2) before the units are combined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from inkling.analysis.query.chain_automaton import ChainAutomaton
from inkling.analysis.query.query import Query
from inkling.evaluators.hashes import Hashes
from inkling.evaluators.query.answers import Answers
from inkling.evaluators.query.automaton.transitions import SymbolTables, chain_tables
from inkling.evaluators.query.probable_events import NOTHING, Mask, Numbers, ProbableEvents, changes, ranges
from inkling.evaluators.query.units import Groundings, units_of
from inkling.kernels.query.forward import (
    NEVER,
    UNSTARTED,
    Ends,
    Groups,
    PassOptions,
    Rows,
    StateAfter,
    StateBefore,
    forward,
)
from inkling.kernels.query.forward import Steps as KernelSteps
from inkling.model.batch import Ints
from inkling.model.uncertainty import TOLERANCE

COMPILED = SimpleNamespace(forward=forward)


@dataclass(frozen=True, slots=True)
class ForwardState:
    """Where units stand: entries held[u]:held[u + 1] of unit u, one per value that its stream may have now.

    Units of which nothing has been seen are left out.
    """

    units: Hashes  # in order
    held: Ints
    value: Hashes
    mass: Numbers  # [entry, state]
    begun: Ints  # [entry, state of runs]


@dataclass(frozen=True, slots=True)
class UnitSteps:
    """Groups by unit and time: unit u has steps units[u]:units[u + 1], step i the groups of steps[i]:steps[i + 1]."""

    names: Hashes
    units: Ints
    steps: Ints
    groups: Ints
    time: Ints  # of each step

    @property
    def unit(self) -> Ints:
        """Of each step."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.units))

    @classmethod
    def of(cls, events: ProbableEvents, units: Groundings, read: Mask) -> UnitSteps:
        """Of the streams that some stage reads."""
        groups = np.flatnonzero(read[events.stream])
        unit, time = units.unit[events.stream[groups]], events.time[groups]
        order = np.lexsort((events.stream[groups], time, unit))
        groups, unit, time = groups[order], unit[order], time[order]
        new_unit = changes(unit)
        new_step = new_unit | changes(time)
        first = np.flatnonzero(new_step)
        begins = np.flatnonzero(new_unit[first]) if len(first) else first
        return cls(unit[new_unit], np.append(begins, len(first)), np.append(first, len(groups)), groups, time[first])


@dataclass(frozen=True, slots=True)
class Regular:
    """The first stages of a query for all values of some variables on which they are independent."""

    query: Query
    n_stages: int
    variables: tuple[str, ...]
    automaton: ChainAutomaton
    ever: bool = False
    kernels: SimpleNamespace = field(default_factory=lambda: COMPILED)

    @classmethod
    def of(cls, query: Query, n_stages: int, variables: Sequence[str], *, ever: bool = False) -> Regular:
        """Raises `TooManyStates` or `TooManySymbols`."""
        chosen = tuple(variables)
        return cls(query, n_stages, chosen, ChainAutomaton.of(query, n_stages, chosen), ever)

    def start(self) -> ForwardState:
        none = np.empty(0, np.uint64)
        return ForwardState(
            none,
            np.zeros(1, np.int64),
            none,
            np.empty((0, self.automaton.n_states)),
            np.empty((0, self.automaton.n_runs), np.int64),
        )

    def advance(
        self,
        state: ForwardState,
        events: ProbableEvents,
        predicates: Ints,
        tables: Mapping[str, pa.Table] | None = None,
    ) -> tuple[ForwardState, Answers]:
        """Ingest complete times, later than all before."""
        units = units_of(self.query, self.variables, events, self.n_stages)
        predicates = predicates & masks_of(units)[events.stream[events.group]]
        symbols = chain_tables(self.automaton, predicates)
        steps = UnitSteps.of(events, units, np.asarray(units.reads.any(axis=0)))
        return forward_answers(
            state, events, steps, symbols, symbols.symbols(predicates), ever=self.ever, kernels=self.kernels
        )


def masks_of(units: Groundings) -> Ints:
    """Per stream, the bits of predicate masks that count there."""
    masks = np.zeros(units.reads.shape[1], np.int64)
    for stage, read in enumerate(units.reads):
        masks |= np.where(read, 3 << (2 * stage), 0)
    return masks


def forward_answers(
    state: ForwardState,
    events: ProbableEvents,
    steps: UnitSteps,
    tables: SymbolTables,
    symbol: Ints,
    *,
    ever: bool,
    kernels: SimpleNamespace = COMPILED,
) -> tuple[ForwardState, Answers]:
    """Propagate the probabilities of states over the steps of all units."""
    n = len(steps.time)
    chained = events.markov[events.stream]
    is_markov = bool(chained[steps.groups].any() or (state.value != NOTHING).any())
    weight = np.where(chained[events.group], 0, events.chance) if is_markov else events.chance
    ends = Ends(
        np.zeros(n, events.chance.dtype),
        np.full(n, NEVER),
        np.full(n, -1),
        weight if is_markov else weight[:0],
        np.zeros((0, len(tables.delta)), events.chance.dtype),
    )
    moves = KernelSteps(steps.units, steps.steps, steps.groups, steps.time)
    longest = _longest(events, steps, chained)
    after = forward_pass(
        _with_rows(state), steps.names, events, moves, chained, tables, symbol, ends, longest,
        RunSizes(1, len(tables.final)), is_markov=is_markov, ever=ever, restart=False, kernels=kernels,
    )  # fmt: skip
    seen = np.flatnonzero(ends.start < NEVER)
    found = Answers.exactly(steps.names[steps.unit[seen]], steps.time[seen], ends.chance[seen], ends.start[seen])
    return _without_rows(after), replace(found, weight=weight)


@dataclass(frozen=True, slots=True)
class RunSizes:
    """How many runs are carried beside the chances: rows of them, and states of runs."""

    n_rows: int
    n_runs: int


def forward_pass(
    state: ForwardState,
    names: Hashes,
    events: ProbableEvents,
    steps: KernelSteps,
    chained: Mask,
    tables: SymbolTables,
    symbol: Ints,
    ends: Ends,
    longest: Ints,
    runs: RunSizes,
    *,
    is_markov: bool,
    ever: bool,
    restart: bool,
    kernels: SimpleNamespace,
) -> ForwardState:
    """Propagate the probabilities of states over the steps of units, and write down where matches end.

    `chained` are the groups of streams whose values count, `longest` the most values that a group of each unit leads
    to. Without `is_markov`, all entries have the value of no event.
    """
    here, counts, held, held_value, held_mass, held_begun = held_by(
        state, names, lambda n: _fresh(n, events, tables, runs)
    )
    none = np.zeros(len(events.value), np.int64)
    codes, value, given, held_code = np.empty(0, np.uint64), none, none, np.zeros(len(held_value), np.int64)
    if is_markov:
        codes, (value, given, held_code) = coded([events.value, events.given, held_value])
    room = np.append(0, np.cumsum(np.maximum(counts, longest) + 1))
    kept_mass, kept_begun = _fresh(int(room[-1]), events, tables, runs)
    kept = StateAfter(
        room[:-1], np.zeros(len(names), np.int64), np.zeros(int(room[-1]), np.int64), kept_mass, kept_begun
    )  # fmt: skip
    kernels.forward(
        steps,
        Groups(events.offsets[:-1], events.offsets[1:], events.rest, events.anew, chained),
        Rows(symbol, events.chance, value, given, events.row),
        tables.moving,
        StateBefore(held, held_code, held_mass, held_begun),
        kept,
        ends,
        PassOptions(len(codes), 0 if events.is_exact else float(TOLERANCE) / 2, ever, restart),
    )
    used = ranges(room[:-1], kept.n_entries)
    values = np.append(codes, NOTHING)[kept.value[used]]
    return merged(state, here, names, kept.n_entries, values, kept.mass[used], kept.begun[used])


def _with_rows(state: ForwardState) -> ForwardState:
    """Starts of runs as the kernel takes them: one row for all states, whose first run has not begun."""
    begun = state.begun[:, None, :].copy()
    begun[:, 0, 0] = UNSTARTED
    return replace(state, begun=begun)


def _without_rows(state: ForwardState) -> ForwardState:
    begun = state.begun[:, 0, :].copy()
    begun[:, 0] = NEVER
    return replace(state, begun=begun)


def coded(columns: Sequence[Hashes]) -> tuple[Hashes, list[Ints]]:
    """All values but NOTHING, and each column as their numbers, in which NOTHING comes last."""
    encoded = pa.array(np.concatenate([np.array([NOTHING]), *columns])).dictionary_encode()
    found = encoded.dictionary.to_numpy()[1:]
    numbers = encoded.indices.to_numpy().astype(np.int64)[1:] - 1
    numbers[numbers < 0] = len(found)
    return found, np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


def held_by(
    state: ForwardState, names: Hashes, fresh: Callable[[int], tuple[Numbers, Ints]]
) -> tuple[Ints, Ints, Ints, Hashes, Numbers, Ints]:
    """Where known ones of some units are; of all: how many entries, where these begin, values, masses and starts."""
    known, here = known_units(state, names)
    counts = np.ones(len(names), np.int64)
    counts[known] = np.diff(state.held)[here]
    held = np.append(0, np.cumsum(counts))
    value = np.full(held[-1], NOTHING)
    mass, begun = fresh(int(held[-1]))
    entries, places = ranges(state.held[here], counts[known]), ranges(held[:-1][known], counts[known])
    value[places], mass[places], begun[places] = state.value[entries], state.mass[entries], state.begun[entries]
    return here, counts, held, value, mass, begun


def known_units(state: ForwardState, names: Hashes) -> tuple[Ints, Ints]:
    """Which of some units are known, and where."""
    place = np.searchsorted(state.units, names)
    inside = place < len(state.units)
    known = np.flatnonzero(inside)[state.units[place[inside]] == names[inside]]
    return known, place[known]


def _fresh(n: int, events: ProbableEvents, tables: SymbolTables, runs: RunSizes) -> tuple[Numbers, Ints]:
    """Entries that have seen nothing."""
    mass = np.zeros((n, len(tables.delta)), events.chance.dtype)
    mass[:, 0] = 1
    begun = np.full((n, runs.n_rows, runs.n_runs), NEVER)
    begun[:, 0, 0] = UNSTARTED
    return mass, begun


def _longest(events: ProbableEvents, steps: UnitSteps, chained: Mask) -> Ints:
    """The most values that a group of each unit leads to."""
    sizes = np.where(chained, np.diff(events.offsets), 0)[steps.groups]
    if not len(sizes):
        return np.zeros(0, np.int64)
    return np.maximum.reduceat(np.maximum.reduceat(sizes, steps.steps[:-1]), steps.units[:-1])


def merged(
    state: ForwardState, here: Ints, names: Hashes, counts: Ints, value: Hashes, mass: Numbers, begun: Ints
) -> ForwardState:
    """Old units that were not touched, and those that were, in order of their names."""
    old = np.ones(len(state.units), bool)
    old[here] = False
    left = np.flatnonzero(old)
    old_counts = np.diff(state.held)[left]
    entries = ranges(state.held[left], old_counts)
    units = np.concatenate([state.units[left], names])
    sizes = np.concatenate([old_counts, counts])
    order = np.argsort(units)
    first = np.append(0, np.cumsum(sizes))[:-1]
    taken = ranges(first[order], sizes[order])
    return ForwardState(
        units[order],
        np.append(0, np.cumsum(sizes[order])),
        np.concatenate([state.value[entries], value])[taken],
        np.concatenate([state.mass[entries], mass])[taken],
        np.concatenate([state.begun[entries], begun])[taken],
    )
