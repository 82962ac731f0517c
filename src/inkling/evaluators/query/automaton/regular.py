"""Chains of automaton states, one per unit: regular queries, and extended regular ones before units are combined."""

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
from inkling.evaluators.query.automaton.transitions import LetterTables, chain_tables
from inkling.evaluators.query.grounding import NOTHING, Ground, Mask, Numbers, changes, ranges
from inkling.evaluators.query.units import Units, units_of
from inkling.kernels.probable_chains import NEVER, follow_independent, follow_markov
from inkling.model.batch import Ints
from inkling.model.weights import TOLERANCE

COMPILED = SimpleNamespace(follow_independent=follow_independent, follow_markov=follow_markov)


@dataclass(frozen=True, slots=True)
class ChainState:
    """Where units stand: entries held[u]:held[u + 1] of unit u, one per value that its stream may have now.

    Units of which nothing has been seen are left out.
    """

    units: Hashes  # in order
    held: Ints
    value: Hashes
    mass: Numbers  # [entry, state]
    begun: Ints  # [entry, state of runs]


@dataclass(frozen=True, slots=True)
class Steps:
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
    def of(cls, ground: Ground, units: Units, read: Mask) -> Steps:
        """Of the streams that some stage reads."""
        groups = np.flatnonzero(read[ground.stream])
        unit, time = units.unit[ground.stream[groups]], ground.time[groups]
        order = np.lexsort((ground.stream[groups], time, unit))
        groups, unit, time = groups[order], unit[order], time[order]
        new_unit = changes(unit)
        new_step = new_unit | changes(time)
        first = np.flatnonzero(new_step)
        begins = np.flatnonzero(new_unit[first]) if len(first) else first
        return cls(
            unit[new_unit],
            np.append(begins, len(first)),
            np.append(first, len(groups)),
            groups,
            time[first],
        )


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

    def start(self) -> ChainState:
        none = np.empty(0, np.uint64)
        return ChainState(
            none,
            np.zeros(1, np.int64),
            none,
            np.empty((0, self.automaton.n_states)),
            np.empty((0, self.automaton.n_runs), np.int64),
        )

    def advance(
        self, state: ChainState, ground: Ground, words: Ints, tables: Mapping[str, pa.Table] | None = None
    ) -> tuple[ChainState, Answers]:
        """Take in complete times, later than all before."""
        units = units_of(self.query, self.variables, ground, self.n_stages)
        words = words & masks_of(units)[ground.stream[ground.group]]
        letters = chain_tables(self.automaton, words)
        steps = Steps.of(ground, units, np.asarray(units.reads.any(axis=0)))
        return follow(state, ground, steps, letters, letters.letters(words), ever=self.ever, kernels=self.kernels)


def masks_of(units: Units) -> Ints:
    """Per stream, the bits of words that count there."""
    masks = np.zeros(units.reads.shape[1], np.int64)
    for stage, read in enumerate(units.reads):
        masks |= np.where(read, 3 << (2 * stage), 0)
    return masks


def follow(
    state: ChainState,
    ground: Ground,
    steps: Steps,
    tables: LetterTables,
    letter: Ints,
    *,
    ever: bool,
    kernels: SimpleNamespace = COMPILED,
) -> tuple[ChainState, Answers]:
    """Carry the chances of states over the steps of all units."""
    out = np.zeros(len(steps.time), ground.chance.dtype)
    start = np.full(len(steps.time), NEVER)
    weight = ground.chance
    chained = ground.markov[ground.stream]
    if chained[steps.groups].any() or (state.value != NOTHING).any():
        weight = np.where(chained[ground.group], 0, ground.chance)
        after = _markov(state, ground, steps, tables, letter, chained, ever, kernels, out, start, weight)
    else:
        after = _independent(state, ground, steps, tables, letter, ever, kernels, out, start)
    seen = np.flatnonzero(start < NEVER)
    found = Answers.exactly(steps.names[steps.unit[seen]], steps.time[seen], out[seen], start[seen])
    return after, replace(found, weight=weight)


def _independent(
    state: ChainState,
    ground: Ground,
    steps: Steps,
    tables: LetterTables,
    letter: Ints,
    ever: bool,
    kernels: SimpleNamespace,
    out: Numbers,
    start: Ints,
) -> ChainState:
    known, here = known_units(state, steps.names)
    mass, begun = _fresh(len(steps.names), ground, tables)
    mass[known], begun[known] = state.mass[state.held[here]], state.begun[state.held[here]]
    kernels.follow_independent(
        steps.units, steps.steps, steps.groups, ground.offsets[:-1], ground.offsets[1:], letter, ground.chance,
        ground.rest, steps.time, tables.union, *tables.moving, ever, mass, begun, out, start,
    )  # fmt: skip
    counts = np.ones(len(steps.names), np.int64)
    return merged(state, here, steps.names, counts, np.zeros(len(counts), np.uint64), mass, begun)


def _markov(
    state: ChainState,
    ground: Ground,
    steps: Steps,
    tables: LetterTables,
    letter: Ints,
    chained: Mask,
    ever: bool,
    kernels: SimpleNamespace,
    out: Numbers,
    start: Ints,
    weight: Numbers,
) -> ChainState:
    here, counts, held, held_value, held_mass, held_begun = held_by(
        state, steps.names, lambda n: _fresh(n, ground, tables)
    )
    codes, (value, given, held_code) = coded([ground.value, ground.given, held_value])
    room = np.append(0, np.cumsum(np.maximum(counts, _longest(ground, steps, chained)) + 1))
    kept_count = np.zeros(len(steps.names), np.int64)
    kept_value = np.zeros(int(room[-1]), np.int64)
    kept_mass, kept_begun = _fresh(int(room[-1]), ground, tables)
    kernels.follow_markov(
        steps.units, steps.steps, steps.groups, ground.offsets[:-1], ground.offsets[1:], chained, ground.anew, letter,
        value, given, ground.chance, ground.rest, 0 if ground.is_exact else float(TOLERANCE) / 2, steps.time,
        tables.union, *tables.moving, ever, len(codes), held, held_code, held_mass, held_begun, room[:-1], kept_count,
        kept_value, kept_mass, kept_begun, out, start, weight,
    )  # fmt: skip
    kept = ranges(room[:-1], kept_count)
    values = np.append(codes, NOTHING)[kept_value[kept]]
    return merged(state, here, steps.names, kept_count, values, kept_mass[kept], kept_begun[kept])


def coded(columns: Sequence[Hashes]) -> tuple[Hashes, list[Ints]]:
    """All values but NOTHING, and each column as their numbers, in which NOTHING comes last."""
    encoded = pa.array(np.concatenate([np.array([NOTHING]), *columns])).dictionary_encode()
    found = encoded.dictionary.to_numpy()[1:]
    numbers = encoded.indices.to_numpy().astype(np.int64)[1:] - 1
    numbers[numbers < 0] = len(found)
    return found, np.split(numbers, np.cumsum([len(column) for column in columns])[:-1])


def held_by(
    state: ChainState, names: Hashes, fresh: Callable[[int], tuple[Numbers, Ints]]
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


def known_units(state: ChainState, names: Hashes) -> tuple[Ints, Ints]:
    """Which of some units are known, and where."""
    place = np.searchsorted(state.units, names)
    inside = place < len(state.units)
    known = np.flatnonzero(inside)[state.units[place[inside]] == names[inside]]
    return known, place[known]


def _fresh(n: int, ground: Ground, tables: LetterTables) -> tuple[Numbers, Ints]:
    """Entries that have seen nothing."""
    mass = np.zeros((n, len(tables.delta)), ground.chance.dtype)
    mass[:, 0] = 1
    return mass, np.full((n, len(tables.final)), NEVER)


def _longest(ground: Ground, steps: Steps, chained: Mask) -> Ints:
    """The most values that a group of each unit leads to."""
    sizes = np.where(chained, np.diff(ground.offsets), 0)[steps.groups]
    if not len(sizes):
        return np.zeros(0, np.int64)
    return np.maximum.reduceat(np.maximum.reduceat(sizes, steps.steps[:-1]), steps.units[:-1])


def merged(
    state: ChainState, here: Ints, names: Hashes, counts: Ints, value: Hashes, mass: Numbers, begun: Ints
) -> ChainState:
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
    return ChainState(
        units[order],
        np.append(0, np.cumsum(sizes[order])),
        np.concatenate([state.value[entries], value])[taken],
        np.concatenate([state.mass[entries], mass])[taken],
        np.concatenate([state.begun[entries], begun])[taken],
    )
