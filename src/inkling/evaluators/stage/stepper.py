"""A stage step by step: what arrives in time order is decided as soon as nothing later can change it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.analysis.window import total_horizon
from inkling.evaluators.automaton.evaluator import AutomatonCarry
from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import event_batch
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.keys import KeyBook
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import Per
from inkling.model.batch import FOREVER, MatchBatch
from inkling.physical.plan import EventStep


@dataclass(frozen=True, slots=True)
class StageState:
    """Rows that may still be part of a result, the automata's open runs, and the time decided so far."""

    rows: pa.Table
    automata: tuple[AutomatonCarry, ...]
    keys: KeyBook
    until: int


class StageStepper:
    """Drives the evaluators of a stage over batches of rows; see `evaluators.base.Stepper`."""

    def __init__(self, engine: StageEngine, around: Surroundings) -> None:
        self._engine = engine
        by_automata = {step.event.name for automaton in engine.automata for step in automaton.steps}
        self._network = [step for step in engine.stage.steps if step.event.name not in by_automata]
        self._horizon = total_horizon([step.event for step in self._network], around.measure)

    def start(self) -> StageState:
        empty = r.stage_schema(self._engine.stage).empty_table()
        carries = tuple(automaton.start() for automaton in self._engine.automata)
        return StageState(empty, carries, KeyBook(len(self._engine.stage.key_types)), -FOREVER)

    def step(self, state: StageState, rows: pa.Table, until: int) -> tuple[StageState, dict[str, MatchBatch]]:
        """Results that become known after the previous step and by `until`."""
        stage = self._engine.stage
        keys, codes = state.keys.codes(rows)
        found: dict[str, MatchBatch] = {}
        carries = []
        fresh = event_batch(stage, rows, codes)
        for automaton, carry in zip(self._engine.automata, state.automata, strict=True):
            after, results = automaton.step(carry, fresh)
            carries.append(after)
            found.update({matches.event: matches for matches in results})
        kept = pa.concat_tables([state.rows, rows])
        if self._network:
            keys, kept_codes = keys.codes(kept)
            batch = event_batch(stage, kept, kept_codes)
            everything = self._engine.rest(kept, kept_codes, batch, dict(found), until)
            for step in self._network:
                found[step.event.name] = _fresh(step, everything[step.event.name], state.until, until)
        return StageState(self._retained(kept, until), tuple(carries), keys, until), found

    def _retained(self, rows: pa.Table, until: int) -> pa.Table:
        if not self._network or until >= FOREVER:
            return rows.slice(0, 0)
        if self._horizon is None:
            return rows
        return rows.filter(pa.array(rows[r.END].to_numpy() >= until - self._horizon))


def _fresh(step: EventStep, matches: MatchBatch, after: int, until: int) -> MatchBatch:
    """What was not reported before; `PER VALUES` waits for the end, when its start and end are settled."""
    if step.event.per is Per.VALUES:
        return matches.where(np.full(len(matches), until >= FOREVER))
    return matches.where(matches.detected_at > after)
