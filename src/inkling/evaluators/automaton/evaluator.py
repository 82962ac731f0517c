"""Automata as evaluators: all regular events that share a scope advance together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from inkling.automata.detections import Detections
from inkling.automata.engine import PatternSet
from inkling.automata.limits import TooManyStates, TooManySymbols
from inkling.automata.meaning import Counting, Pattern
from inkling.automata.state import AutomatonState
from inkling.errors import InputError
from inkling.evaluators.automaton.translate import to_regex
from inkling.evaluators.matches.gather import Gather
from inkling.evaluators.matches.lineage import lineage_ids
from inkling.evaluators.sources import comes_from
from inkling.logical.evaluate import Surroundings
from inkling.logical.vectorized import evaluate
from inkling.model.batch import EventBatch, Ints, MatchBatch, one_after_the_other
from inkling.physical.plan import EventStep

MAX_LISTED = 100_000_000
"""Events that the results of one event may list together, in one partition: several gigabytes."""


@dataclass(frozen=True, slots=True)
class AutomatonCarry:
    """What is kept between batches: open runs, and the events that a later result may still name."""

    runs: AutomatonState
    rows: EventBatch | None
    numbers: Ints  # of those events, ascending
    next_number: int

    def with_keys(self, codes: Ints) -> AutomatonCarry:
        """The same with keys named by their places among these codes, which are all that occur, ascending."""
        rows = self.rows
        if rows is not None:
            rows = replace(rows, key=np.searchsorted(codes, rows.key))
        return AutomatonCarry(self.runs.renamed(codes), rows, self.numbers, self.next_number)


@dataclass(frozen=True, slots=True)
class AutomatonEvaluator:
    """Regular events with one scope, compiled together."""

    steps: tuple[EventStep, ...]
    patterns: PatternSet
    bits: tuple[int, ...]  # the stage's conditions that these events use, in the automata's numbering
    around: Surroundings

    def start(self) -> AutomatonCarry:
        return AutomatonCarry(self.patterns.initial_state(), None, np.empty(0, np.int64), 0)

    def step(self, state: AutomatonCarry, batch: EventBatch) -> tuple[AutomatonCarry, tuple[MatchBatch, ...]]:
        """Read the next events of each key; results name events of earlier batches too."""
        inside = comes_from(batch, self.steps[0].scope)
        fresh = batch if inside.all() else batch.take(np.flatnonzero(inside))
        numbers = np.arange(state.next_number, state.next_number + len(fresh))
        runs, found = self.patterns.step(state.runs, fresh.key, fresh.source, self._compressed(fresh), numbers)
        known = fresh if state.rows is None else one_after_the_other(state.rows, fresh)
        all_numbers = np.concatenate([state.numbers, numbers])
        results = tuple(
            self._matches(step, known, len(known) - len(fresh), all_numbers, found.only(found.pattern == number))
            for number, step in enumerate(self.steps)
        )
        live = np.searchsorted(all_numbers, runs.live_events())
        carry = AutomatonCarry(runs, known.take(live), all_numbers[live], state.next_number + len(fresh))
        return carry, results

    def ties(self, batch: EventBatch) -> np.ndarray:
        """Which rows of the scope stand at the place of the row before, so that none comes before the other."""
        inside = np.flatnonzero(comes_from(batch, self.steps[0].scope))
        tied = np.zeros(len(batch), bool)
        if len(inside) == len(batch):
            key, end, place = batch.key, batch.end, batch.end_place
        else:
            key, end, place = batch.key[inside], batch.end[inside], batch.end_place[inside]
        tied[inside[1:]] = (key[1:] == key[:-1]) & (end[1:] == end[:-1]) & (place[1:] == place[:-1])
        return tied

    def evaluate(self, batch: EventBatch) -> tuple[MatchBatch, ...]:
        """All results over whole keys."""
        return self.step(self.start(), batch)[1]

    def _compressed(self, batch: EventBatch) -> np.ndarray:
        if self.bits == tuple(range(len(self.bits))):
            return batch.bits[:, 0]
        packed = np.zeros(len(batch), np.uint64)
        for place, bit in enumerate(self.bits):
            truth = (batch.bits[:, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1)
            packed |= truth << np.uint64(place)
        return packed

    def _matches(self, step: EventStep, known: EventBatch, n_old: int, numbers: Ints, found: Detections) -> MatchBatch:
        _refuse_endless_lists(step.event.name, int(found.n_members().sum()))
        lineage = found.lineage()
        last = n_old + found.row
        first = np.searchsorted(numbers, found.first_event())
        rows = np.searchsorted(numbers, lineage.events)
        resolve = Gather(known, lineage.offsets, rows, lineage.slots.astype(np.int64))
        outputs = (*step.event.head, *step.event.returns)
        return MatchBatch(
            step.event.name,
            known.key[last],
            known.start[first],
            known.start_place[first],
            known.end[last],
            known.end_place[last],
            known.known[last],
            {output.name: evaluate(output.expr, resolve, len(last), self.around) for output in outputs},
            lineage_ids(known, lineage.offsets, rows),
            known.place_words,
        )


def _refuse_endless_lists(event: str, n_members: int) -> None:
    """A repetition without a limit gives ever longer matches, whose lists together grow with the square of the rows."""
    if n_members > MAX_LISTED:
        raise InputError.of(
            "INK0602",
            f"the results of `{event}` would list {n_members} events in one partition, more than {MAX_LISTED}",
            notes=("a result lists every event of its match, and these matches grow with the stream",),
            helps=("`CONSUME RESTART` starts anew after each result; `WITHIN n EVENTS` limits a match",),
        )


def automata_of(steps: tuple[EventStep, ...], n_inputs: int, around: Surroundings) -> tuple[AutomatonEvaluator, ...]:
    """One evaluator per scope and per 64 conditions; events whose automata do not fit in memory are left out."""
    groups: list[list[EventStep]] = []
    for step in steps:
        for group in groups:
            if group[0].scope == step.scope and len(_bits_of([*group, step])) <= 64:
                group.append(step)
                break
        else:
            groups.append([step])
    return tuple(made for group in groups for made in _fitting(tuple(group), n_inputs, around))


def _fitting(steps: tuple[EventStep, ...], n_inputs: int, around: Surroundings) -> tuple[AutomatonEvaluator, ...]:
    """One evaluator of all steps, or one of each that can have one."""
    try:
        return (_compile(steps, n_inputs, around),)
    except (TooManyStates, TooManySymbols):
        alone = ((step,) for step in steps) if len(steps) > 1 else ()
        return tuple(made for one in alone for made in _fitting(one, n_inputs, around))


def _compile(steps: tuple[EventStep, ...], n_inputs: int, around: Surroundings) -> AutomatonEvaluator:
    bits = _bits_of(steps)
    place = {bit: number for number, bit in enumerate(bits)}
    patterns = [
        Pattern(to_regex(step, place), Counting.RESTART if step.event.restart else Counting.OVERLAP) for step in steps
    ]
    return AutomatonEvaluator(steps, PatternSet.compile(patterns, n_inputs), bits, around)


def _bits_of(steps: list[EventStep] | tuple[EventStep, ...]) -> tuple[int, ...]:
    return tuple(sorted({bit for step in steps for leaf in step.leaves for bit in leaf.bits}))
