"""Migration of open runs to automata that were compiled with other events, when a program replaces a running one.

A state of the old automaton continues as the bisimilar state of the new one: both accept the same words with the same
marks.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from inkling.automata.compiled import CompiledPattern
from inkling.automata.guards import Alphabet, Guard, members
from inkling.automata.nfa import Nfa, NfaEdge, bisimilar, merged
from inkling.automata.run.engine import PatternSet
from inkling.automata.run.rows import concatenated
from inkling.automata.run.state import AutomatonState
from inkling.evaluators.automaton.events import RegularEvents
from inkling.evaluators.automaton.state import RunsState
from inkling.kernels.automaton.witness import Nodes
from inkling.model.batch import EventBatch, MatchBatch, one_after_the_other
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The origin of the runs of one pattern."""

    state: int  # the number of the old state
    pattern: int  # its number in the old set of patterns
    states: npt.NDArray[np.int32]  # by old automaton state: the new one, or -1


def same_states(old: CompiledPattern, new: CompiledPattern, guards: Mapping[Guard, Guard]) -> npt.NDArray[np.int32]:
    """For each state of one automaton the bisimilar state of the other, -1 if there is none.

    ``guards`` says which guards of the new pattern those of the old one are.
    """
    old_truths = [_renamed(truth, old.alphabet, new.alphabet, guards) for truth in old.alphabet.truths]
    common = sorted(set(old_truths[1:]) & set(new.alphabet.truths[1:]))
    number = {truth: index for index, truth in enumerate(common)}
    shift = old.nfa.n_states
    left = _relabelled(old.nfa, [number.get(truth) for truth in old_truths], 0)
    right = _relabelled(new.nfa, [number.get(truth) for truth in new.alphabet.truths], shift)
    finals = old.nfa.finals | {state + shift for state in new.nfa.finals}
    classes = bisimilar(Nfa((*left, *right), frozenset(finals)))
    # no run is in the start state, so it is never the target, although it may be bisimilar
    place = {one: state for state, one in enumerate(classes[shift + 1 :], start=1)}
    return np.array([place.get(one, -1) for one in classes[:shift]], dtype=np.int32)


def _renamed(truth: int, old: Alphabet, new: Alphabet, guards: Mapping[Guard, Guard]) -> int:
    """A set of guards of the old alphabet as a set of guards of the new one."""
    held = [guards.get(old.guards[index], old.guards[index]) for index in members(truth)]
    return sum(1 << new.guards.index(guard) for guard in dict.fromkeys(held))


def _relabelled(nfa: Nfa, numbers: Sequence[int | None], shift: int) -> tuple[tuple[NfaEdge, ...], ...]:
    """Edges over symbols that both alphabets know; symbol 0 resets in both and is in no edge."""

    def relabelled(symbols: int) -> int:
        found = [numbers[symbol] for symbol in members(symbols) if symbol]
        return sum(1 << number for number in found if number is not None)

    return tuple(
        merged(NfaEdge(relabelled(edge.symbols), edge.mark, edge.target + shift) for edge in edges)
        for edges in nfa.edges
    )


@dataclass(frozen=True, slots=True, eq=False)
class MigratedState:
    """A state before the migration, its patterns, and the offset that is added to its event numbers."""

    patterns: PatternSet
    state: AutomatonState
    shift: int


def transferred(new: PatternSet, held: Sequence[MigratedState], origins: Sequence[Origin | None]) -> AutomatonState:
    """The state of the new patterns: each has the runs of its origin, or none."""
    fresh = new.initial_state()
    if not held:
        return fresh
    key = np.unique(np.concatenate([one.state.key for one in held]))
    shape = (len(key), len(new.patterns))
    begins, counts = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    runs, nodes = fresh.runs, fresh.nodes
    for number, one in enumerate(held):
        n_before, state = len(runs.state), one.state
        names = state.runs.state.copy()
        slots = np.searchsorted(key, state.key)
        for pattern, origin in enumerate(origins):
            if origin is not None and origin.state == number:
                begins[slots, pattern] = state.begins[:, origin.pattern] + n_before
                counts[slots, pattern] = state.counts[:, origin.pattern]
                places = _places(state, origin.pattern)
                names[places] = origin.states[names[places]]
        node = np.where(state.runs.node < 0, -1, state.runs.node + len(nodes.event))
        nodes = concatenated(nodes, _renumbered(one, new, len(nodes.event)))
        runs = concatenated(runs, state.runs._replace(state=names, node=node))
    return AutomatonState.assembled(new.fingerprint, len(new.patterns), key, begins, counts, runs, nodes)


def _places(state: AutomatonState, pattern: int) -> npt.NDArray[np.int64]:
    """The positions of the runs of one pattern."""
    counts, begins = state.counts[:, pattern], state.begins[:, pattern]
    ends = np.cumsum(counts)
    return np.asarray(np.repeat(begins - (ends - counts), counts) + np.arange(counts.sum()), dtype=np.int64)


def _renumbered(held: MigratedState, new: PatternSet, n_before: int) -> Nodes:
    """The events of a state under the numbers and marks of the new one."""
    marks = {mark: number for number, mark in enumerate(new.marks.marks)}
    # marks that the new set does not have belong to runs that are not migrated
    table = np.array([*(marks.get(mark, 0) for mark in held.patterns.marks.marks), -1], dtype=np.int32)
    nodes = held.state.nodes
    return nodes._replace(
        event=nodes.event + held.shift,
        first=nodes.first + held.shift,
        mark=table[nodes.mark],
        parent=np.where(nodes.parent < 0, -1, nodes.parent + n_before),
    )


@dataclass(frozen=True, slots=True)
class RunningAutomata:
    """Automata and their state."""

    automata: RegularEvents
    state: RunsState


def migrated(
    new: RegularEvents,
    running: Sequence[RunningAutomata],
    kept: Collection[str],
    relaid: Callable[[EventBatch], EventBatch],
) -> RunsState:
    """The state of the new automata, with the runs of kept events.

    `relaid` gives events that runs hold the columns that the new automata expect.
    """
    origins = [_origin(new, number, running, kept) for number in range(len(new.steps))]
    used = sorted({origin.state for origin in origins if origin is not None})
    place = {number: index for index, number in enumerate(used)}
    moved = [None if one is None else Origin(place[one.state], one.pattern, one.states) for one in origins]
    return _merged(new, [running[number] for number in used], moved, relaid)


def step_since(
    automata: RegularEvents, state: RunsState, batch: EventBatch, since: Sequence[int]
) -> tuple[RunsState, tuple[MatchBatch, ...]]:
    """A step in which event i ignores rows that end by `since[i]`."""
    times = sorted(set(since))
    stepped = [automata.step(state, batch.take(np.flatnonzero(batch.end > time))) for time in times]
    origins = [
        Origin(times.index(time), number, _unchanged_states(automata, number)) for number, time in enumerate(since)
    ]
    after = _merged(automata, [RunningAutomata(automata, one) for one, _ in stepped], origins, lambda rows: rows)
    return after, tuple(stepped[origin.state][1][number] for number, origin in enumerate(origins))


def _merged(
    new: RegularEvents,
    running: Sequence[RunningAutomata],
    origins: Sequence[Origin | None],
    relaid: Callable[[EventBatch], EventBatch],
) -> RunsState:
    shifts = np.cumsum([0, *(one.state.next_number for one in running)]).tolist()
    held = [
        MigratedState(one.automata.patterns, one.state.runs, shift)
        for one, shift in zip(running, shifts[:-1], strict=True)
    ]
    runs = transferred(new.patterns, held, origins)
    live = runs.live_events()
    rows: list[EventBatch] = []
    for one, first, last in zip(running, shifts[:-1], shifts[1:], strict=True):
        mine = live[(live >= first) & (live < last)] - first
        if one.state.rows is not None and len(mine):
            rows.append(relaid(one.state.rows.take(np.searchsorted(one.state.numbers, mine))))
    return RunsState(runs, reduce(one_after_the_other, rows) if rows else None, live, shifts[-1])


def _origin(
    new: RegularEvents, number: int, running: Sequence[RunningAutomata], kept: Collection[str]
) -> Origin | None:
    step = new.steps[number]
    if step.event.name not in kept:
        return None
    for place, one in enumerate(running):
        for pattern, other in enumerate(one.automata.steps):
            if other.event.name == step.event.name:
                before, after = one.automata.patterns.patterns[pattern], new.patterns.patterns[number]
                guards = dict(zip(_guards(one.automata, other), _guards(new, step), strict=True))
                return Origin(place, pattern, same_states(before, after, guards))
    return None


def _guards(automata: RegularEvents, step: EventStep) -> list[Guard]:
    """The guards of each leaf, before and after a CHECK, in the automata's numbering of inputs and conditions."""
    place = {bit: number for number, bit in enumerate(automata.bits)}
    return [
        Guard(frozenset(leaf.inputs), frozenset(place[bit] for bit in bits))
        for leaf in step.leaves
        for bits in (leaf.bits, leaf.all_bits)
    ]


def _unchanged_states(automata: RegularEvents, pattern: int) -> np.ndarray:
    return np.arange(automata.patterns.patterns[pattern].nfa.n_states, dtype=np.int32)
