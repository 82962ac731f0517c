"""Certain events in worlds: the stages of a plan, one after the other, for an evaluator that gives them rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from inkling.evaluators.open_matches import Begun
from inkling.evaluators.protocol import Rows
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import EventPlan
from inkling.model.batch import FOREVER, MatchBatch
from inkling.model.time import Clock
from inkling.model.watermarks import NEVER, Clocks, Marks
from inkling.physical.plan import PhysicalPlan
from inkling.runtime.open_matches import begun_matches
from inkling.runtime.operators.chain import OperatorChain, Routes
from inkling.runtime.operators.stage import StageOperator
from inkling.runtime.parts import Part
from inkling.runtime.stage import LiveStage, LiveState

ALL = "all streams"
"""The one stream on which stages wait that are given rows when their time is complete."""

States = tuple[LiveState, ...]


class CertainStages:
    """The stages of a plan on streams, for evaluators that give them rows when their time is complete."""

    state_type = States

    def __init__(self, plan: PhysicalPlan, tables: Mapping[str, pa.Table], around: Surroundings, clock: Clock) -> None:
        # whoever gives them rows tells no row twice
        self._stages = [LiveStage.of(plan, one.number, tables, around, distinct=True) for one in plan.stages]
        operators = [StageOperator(stage, clock) for stage in self._stages]
        self._chain = OperatorChain(operators, Routes(plan, tables, around))

    def start(self) -> States:
        return tuple(replace(state, clocks=Clocks({ALL: 0})) for state in self._chain.start())

    def step(self, state: States, rows: Rows, until: int) -> tuple[States, Mapping[str, MatchBatch]]:
        marks = Marks(finished=True) if until >= FOREVER else Marks({ALL: until + 1} if until > NEVER else {})
        state, emitted = self._chain.step(state, self._parts(rows), marks)
        return state, emitted.matches

    def copied(self, state: States) -> States:
        return tuple(one.copied() for one in state)

    def migrated(self, state: States, before: CertainStages) -> States:
        stages = zip(self._chain.operators, before._chain.operators, state, strict=True)
        return tuple(replace(new.migrated(held, old), clocks=held.clocks) for new, old, held in stages)

    def begun(self, state: States, rows: Rows, event: EventPlan, world: str) -> list[Begun]:
        parts = self._parts(rows)
        pairs = zip(self._stages, state, strict=True)
        return begun_matches([(one, _with_parts(one, held, parts)) for one, held in pairs], event.name, event, world)

    def n_kept(self, state: States) -> int:
        return sum(one.n_kept for one in state)

    def _parts(self, rows: Rows) -> list[Part]:
        return [part for name, some in rows.items() for part in self._chain.routes(name, some)]


def _with_parts(stage: LiveStage, state: LiveState, parts: Sequence[Part]) -> LiveState:
    """A state in which more rows wait for their time."""
    own = [part for part in parts if part.stage == stage.number]
    pending = pa.concat_tables([state.pending, *(part.rows for part in own if part.stream is None)])
    raw = dict(state.raw)
    for part in own:
        if part.stream is not None:
            raw[part.stream] = pa.concat_tables([*([raw[part.stream]] if part.stream in raw else []), part.rows])
    return replace(state, pending=pending, raw=raw)
