"""Open runs that go on elsewhere: in automata that were compiled with other events, or from another row on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from inkling.automata.guards import Guard
from inkling.automata.transfer import Held, Origin, same_states, transferred
from inkling.evaluators.automaton.evaluator import AutomatonCarry, AutomatonEvaluator
from inkling.model.batch import EventBatch, MatchBatch, one_after_the_other
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class Running:
    """Automata and what they carry."""

    automata: AutomatonEvaluator
    carry: AutomatonCarry


def carried_over(
    new: AutomatonEvaluator,
    running: Sequence[Running],
    kept: frozenset[str],
    relaid: Callable[[EventBatch], EventBatch],
) -> AutomatonCarry:
    """What the new automata carry: the runs of events that are kept; the others have none yet.

    `relaid` gives carried events the columns that the new automata expect.
    """
    origins = [_origin(new, number, running, kept) for number in range(len(new.steps))]
    used = sorted({origin.state for origin in origins if origin is not None})
    place = {number: index for index, number in enumerate(used)}
    moved = [None if one is None else Origin(place[one.state], one.pattern, one.states) for one in origins]
    return _together(new, [running[number] for number in used], moved, relaid)


def step_since(
    automata: AutomatonEvaluator, carry: AutomatonCarry, batch: EventBatch, since: Sequence[int]
) -> tuple[AutomatonCarry, tuple[MatchBatch, ...]]:
    """A step in which event number i sees only rows that end after `since[i]`."""
    times = sorted(set(since))
    stepped = [automata.step(carry, batch.take(np.flatnonzero(batch.end > time))) for time in times]
    origins = [
        Origin(times.index(time), number, _unchanged_states(automata, number)) for number, time in enumerate(since)
    ]
    after = _together(automata, [Running(automata, one) for one, _ in stepped], origins, lambda rows: rows)
    return after, tuple(stepped[origin.state][1][number] for number, origin in enumerate(origins))


def _together(
    new: AutomatonEvaluator,
    running: Sequence[Running],
    origins: Sequence[Origin | None],
    relaid: Callable[[EventBatch], EventBatch],
) -> AutomatonCarry:
    shifts = np.cumsum([0, *(one.carry.next_number for one in running)]).tolist()
    held = [Held(one.automata.patterns, one.carry.runs, shift) for one, shift in zip(running, shifts[:-1], strict=True)]
    runs = transferred(new.patterns, held, origins)
    live = runs.live_events()
    rows: list[EventBatch] = []
    for one, first, last in zip(running, shifts[:-1], shifts[1:], strict=True):
        mine = live[(live >= first) & (live < last)] - first
        if one.carry.rows is not None and len(mine):
            rows.append(relaid(one.carry.rows.take(np.searchsorted(one.carry.numbers, mine))))
    return AutomatonCarry(runs, reduce(one_after_the_other, rows) if rows else None, live, shifts[-1])


def _origin(new: AutomatonEvaluator, number: int, running: Sequence[Running], kept: frozenset[str]) -> Origin | None:
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


def _guards(automata: AutomatonEvaluator, step: EventStep) -> list[Guard]:
    """The guards of each leaf, before and after a CHECK, in the automata's numbering of inputs and conditions."""
    place = {bit: number for number, bit in enumerate(automata.bits)}
    return [
        Guard(frozenset(leaf.inputs), frozenset(place[bit] for bit in bits))
        for leaf in step.leaves
        for bits in (leaf.bits, leaf.all_bits)
    ]


def _unchanged_states(automata: AutomatonEvaluator, pattern: int) -> np.ndarray:
    return np.arange(automata.patterns.patterns[pattern].nfa.n_states, dtype=np.int32)
