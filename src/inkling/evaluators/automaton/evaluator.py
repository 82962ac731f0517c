"""Automata as evaluators: all regular events that share a scope advance together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.automata.detections import Detections
from inkling.automata.engine import PatternSet
from inkling.automata.meaning import Counting, Pattern
from inkling.evaluators.automaton.translate import to_regex
from inkling.evaluators.matches.gather import Gather
from inkling.evaluators.matches.lineage import lineage_ids
from inkling.logical.evaluate import Surroundings
from inkling.logical.vectorized import evaluate
from inkling.model.batch import EventBatch, Ints, MatchBatch
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class AutomatonEvaluator:
    """Regular events with one scope, compiled together."""

    steps: tuple[EventStep, ...]
    patterns: PatternSet
    bits: tuple[int, ...]  # the stage's conditions that these events use, in the automata's numbering
    around: Surroundings

    def evaluate(self, batch: EventBatch) -> tuple[MatchBatch, ...]:
        """All results over whole keys."""
        rows = np.flatnonzero(np.isin(batch.source, np.array(self.steps[0].scope, np.int16)))
        _, found = self.patterns.step(
            self.patterns.initial_state(), batch.key[rows], batch.source[rows], self._compressed(batch, rows), rows
        )
        return tuple(
            self._matches(step, batch, rows, found.only(found.pattern == number))
            for number, step in enumerate(self.steps)
        )

    def _compressed(self, batch: EventBatch, rows: Ints) -> np.ndarray:
        if self.bits == tuple(range(len(self.bits))):
            return batch.bits[rows, 0]
        packed = np.zeros(len(rows), np.uint64)
        for place, bit in enumerate(self.bits):
            truth = (batch.bits[rows, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1)
            packed |= truth << np.uint64(place)
        return packed

    def _matches(self, step: EventStep, batch: EventBatch, rows: Ints, found: Detections) -> MatchBatch:
        lineage = found.lineage()
        last = rows[found.row]
        first = found.first_event()
        n = len(last)
        resolve = Gather(batch, lineage.offsets, lineage.events, lineage.slots)
        outputs = (*step.event.head, *step.event.returns)
        return MatchBatch(
            step.event.name,
            batch.key[last],
            batch.start[first],
            batch.start_place[first],
            batch.end[last],
            batch.end_place[last],
            batch.known[last],
            {output.name: evaluate(output.expr, resolve, n, self.around) for output in outputs},
            lineage_ids(batch, lineage.offsets, lineage.events),
        )


def automata_of(
    steps: tuple[EventStep, ...], n_inputs: int, around: Surroundings
) -> tuple[AutomatonEvaluator, ...]:
    """One evaluator per scope and per 64 conditions."""
    groups: list[list[EventStep]] = []
    for step in steps:
        for group in groups:
            if group[0].scope == step.scope and len(_bits_of([*group, step])) <= 64:
                group.append(step)
                break
        else:
            groups.append([step])
    return tuple(_compile(tuple(group), n_inputs, around) for group in groups)


def _compile(steps: tuple[EventStep, ...], n_inputs: int, around: Surroundings) -> AutomatonEvaluator:
    bits = _bits_of(steps)
    place = {bit: number for number, bit in enumerate(bits)}
    patterns = [
        Pattern(to_regex(step, place), Counting.RESTART if step.event.restart else Counting.OVERLAP)
        for step in steps
    ]
    return AutomatonEvaluator(steps, PatternSet.compile(patterns, n_inputs), bits, around)


def _bits_of(steps: list[EventStep] | tuple[EventStep, ...]) -> tuple[int, ...]:
    return tuple(sorted({bit for step in steps for leaf in step.leaves for bit in leaf.bits}))


