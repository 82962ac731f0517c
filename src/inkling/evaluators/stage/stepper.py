"""A stage step by step: what arrives in time order is decided as soon as nothing later can change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.chosen import Chosen
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.layout import Layout
from inkling.evaluators.stage.protocol import Arrived, KeptRows, Setting
from inkling.evaluators.stage.registry import AnyCarry, steppers_of
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import ProgramPlan
from inkling.model.batch import FOREVER, MatchBatch


@dataclass(frozen=True, slots=True)
class StageState:
    """What the steppers of a stage carry, and the time decided so far; a step uses it up."""

    carries: Mapping[str, AnyCarry]  # by the names of steppers
    until: int
    since: Mapping[str, int] = field(default_factory=dict)  # of events that do not see rows which end by then

    @property
    def n_kept(self) -> int:
        """How many rows and open matches it holds."""
        return sum(carry.n_kept for carry in self.carries.values())

    def copied(self) -> StageState:
        """The same state, which later steps of the original leave as it is."""
        return replace(self, carries={name: carry.copied() for name, carry in self.carries.items()})

    def where(self, chosen: Chosen) -> StageState:
        """What is remembered of some keys, which shares nothing with the original that a step would change."""
        return replace(self, carries={name: carry.where(chosen) for name, carry in self.carries.items()})

    def merged(self, other: StageState) -> StageState:
        """Two states of different keys that were decided up to the same time, together."""
        assert self.until == other.until, "states of different times do not go together"
        others: Mapping[str, Any] = other.carries
        return replace(self, carries={name: carry.merged(others[name]) for name, carry in self.carries.items()})


@dataclass(frozen=True, slots=True)
class Stepped:
    """What one step found: results per event, and rows that `ORDER BY` does not tell apart from the row before."""

    matches: Mapping[str, MatchBatch]
    tied: pa.Table


class StageStepper:
    """Drives the evaluators of a stage over batches of rows that arrive in time order.

    The rows of a step hold every event that ends after the previous step's `until` and not after this one's. With
    `owners`, results say whose they are.
    """

    def __init__(
        self, engine: StageEngine, program: ProgramPlan, around: Surroundings, *, owners: bool = False
    ) -> None:
        self._steppers = steppers_of(Setting(engine, program, around, owners))
        identity = r.stage_schema(engine.stage).field(r.ID)
        ties = pa.schema([pa.field(r.SOURCE, pa.int16()), pa.field(r.END, pa.int64()), identity])
        self._no_ties = ties.empty_table()

    def start(self) -> StageState:
        return StageState({stepper.name: stepper.start() for stepper in self._steppers}, -FOREVER)

    def step(self, state: StageState, rows: pa.Table, until: int) -> tuple[StageState, Stepped]:
        """Results that are settled by `until` and were not before; the rows end by then."""
        arrived = Arrived(rows, state.until, until, state.since)
        carries: dict[str, AnyCarry] = {}
        for stepper in self._steppers:
            carries[stepper.name], found = stepper.step(state.carries[stepper.name], arrived)
            arrived.found.update(found)
        tied = pa.concat_tables([self._no_ties, *arrived.tied]) if arrived.tied else self._no_ties
        return StageState(carries, until, state.since), Stepped(arrived.found, tied)

    def migrated(
        self, state: StageState, before: StageStepper, layout: Layout, kept: frozenset[str], since: Mapping[str, int]
    ) -> StageState:
        """What another version of the stage remembers of events that are kept; the others see rows since some time."""
        carries = {stepper.name: stepper.start() for stepper in self._steppers}
        for stepper in self._steppers:
            for old in before._steppers:
                if old.name == stepper.name and not kept.isdisjoint(stepper.events):
                    carries[old.name] = stepper.migrated(state.carries[old.name], old, layout, kept)
        return StageState(carries, state.until, since)

    def rows_kept(self, state: StageState, event: str) -> pa.Table:
        """The rows that are kept for an event, where they are rows."""
        stepper = next(one for one in self._steppers if event in one.events)
        carry = state.carries[stepper.name]
        assert isinstance(carry, KeptRows), "automata keep runs"
        return carry.rows
