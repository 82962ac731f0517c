"""The evaluator of certain events: stage after stage of a plan, each reading what those before it derived."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from inkling.analysis.worlds import common_key
from inkling.evaluators.open_matches import Begun, OpenMatch, opened
from inkling.evaluators.protocol import Answer, EvaluatorContext, Moment, Rows, no_rows
from inkling.evaluators.stage.engine import StageEngine, source_table
from inkling.evaluators.stage.evaluator import StageEvaluator, StageState
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.derive import all_derived
from inkling.evaluators.stage.rows.owners import Owners
from inkling.evaluators.stage.rows.prepare import InputReader, stage_rows
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, StreamPlan
from inkling.model.batch import MatchBatch
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.planner import certain_plan
from inkling.results import result_table


def run_plan(
    plan: PhysicalPlan, sources: Mapping[str, pa.Table], tables: Mapping[str, pa.Table], context: ExpressionContext
) -> dict[str, MatchBatch]:
    """Evaluate all stages over normalized sources."""
    ready = all_derived(plan.program.streams, sources, context)
    matches: dict[str, MatchBatch] = {}
    for stage in plan.stages:
        engine = StageEngine(stage, tables, context)
        found = engine.run(rows_of(stage, ready, tables, context)).matches
        matches.update(found)
        ready.update({name: source_table(batch) for name, batch in found.items()})
    return matches


def rows_of(
    stage: Stage, ready: Mapping[str, pa.Table], tables: Mapping[str, pa.Table], context: ExpressionContext
) -> pa.Table:
    """Rows of all inputs that exist before the stage starts."""
    made_here = {step.event.name for step in stage.steps}
    return pa.concat_tables(
        [
            stage_rows(stage, number, ready[given.source], tables, context)
            for number, given in enumerate(stage.inputs)
            if given.source not in made_here
        ]
    )


States = tuple[StageState[Any], ...]


class StageChain:
    """The stages of a plan as one evaluator: each step goes through all of them."""

    def __init__(self, plan: PhysicalPlan, tables: Mapping[str, pa.Table], context: ExpressionContext) -> None:
        self.plan = plan
        self.stages = [StageEvaluator(plan, one.number, tables, context) for one in plan.stages]
        self._readers = [self._readers_of(stage, tables, context) for stage in plan.stages]

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return self.plan.program.events

    @cached_property
    def state_type(self) -> type[States]:
        return tuple[tuple(one.state_type for one in self.stages)]  # type: ignore[misc,return-value]

    @cached_property
    def key(self) -> tuple[str, ...]:
        return common_key(self.plan.program).conclusion

    @cached_property
    def is_divisible(self) -> bool:
        """All stages must be divided by the same columns."""
        streams = {stream.schema.name for stream in self.plan.program.streams}
        keys = [one.key for stage in self.plan.stages for one in stage.inputs if one.source in streams]
        return bool(self.key) and all(one == self.key for one in keys) and all(one.is_divisible for one in self.stages)

    def start(self) -> States:
        return tuple(one.start() for one in self.stages)

    def step(self, state: States, given: Rows, until: Moment) -> tuple[States, Mapping[str, MatchBatch]]:
        sources, after, found = dict(given), [], dict[str, MatchBatch]()
        for number, (stage, before) in enumerate(zip(self.stages, state, strict=True)):
            held, stepped = stage.step(before, self._given(number, sources), until)
            after.append(held)
            found.update(stepped.matches)
            sources.update({name: source_table(some) for name, some in stepped.matches.items() if len(some)})
        return tuple(after), found

    def split(self, state: States, owners: Owners) -> tuple[States, States]:
        pairs = [one.split(held, owners) for one, held in zip(self.stages, state, strict=True)]
        return tuple(one for one, _ in pairs), tuple(other for _, other in pairs)

    def merge(self, left: States, right: States) -> States:
        return tuple(one.merge(*both) for one, *both in zip(self.stages, left, right, strict=True))

    def copied(self, state: States) -> States:
        return tuple(one.copied(held) for one, held in zip(self.stages, state, strict=True))

    def migrated(self, state: States, before: StageChain, kept: Collection[str]) -> States:
        stages = zip(self.stages, state, before.stages, strict=True)
        return tuple(one.migrated(held, old, kept) for one, held, old in stages)

    def n_kept(self, state: States) -> int:
        return sum(one.n_kept(held) for one, held in zip(self.stages, state, strict=True))

    def begun(
        self, state: States, given: Rows, event: str, declared: EventPlan | None = None, world: str | None = None
    ) -> list[Begun]:
        """What of an event is open in a state with more rows; `world` distinguishes worlds."""
        for number, (stage, held) in enumerate(zip(self.stages, state, strict=True)):
            if any(event == one.name for one in stage.events):
                return stage.begun(held, self._given(number, given), event, declared, world)
        raise AssertionError(f"no stage looks for {event}")

    def _readers_of(
        self, stage: Stage, tables: Mapping[str, pa.Table], context: ExpressionContext
    ) -> dict[str, list[InputReader]]:
        """What prepares the rows of each source of a stage, unless the stage itself does, or derives them."""
        readers: dict[str, list[InputReader]] = {}
        its_own = {step.event.name for step in stage.steps} | self.stages[stage.number].looking_back.keys()
        for number, given in enumerate(stage.inputs):
            if given.source not in its_own:
                readers.setdefault(given.source, []).append(InputReader(stage, number, tables, context))
        return readers

    def _given(self, number: int, sources: Rows) -> Rows:
        """What a stage reads of the rows of its sources."""
        looking_back = self.stages[number].looking_back
        given = {name: rows for name, rows in sources.items() if name in looking_back and len(rows)}
        read = [
            reader(sources[name])
            for name, readers in self._readers[number].items()
            if name in sources and len(sources[name])
            for reader in readers
        ]
        return {**given, r.STAGE_ROWS: pa.concat_tables(read)} if read else given


@dataclass(frozen=True)
class CertainEvaluator:
    """Answers all events that depend on certain streams alone, in the stages of a plan."""

    plan: PhysicalPlan
    context: EvaluatorContext

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> CertainEvaluator | None:
        """None where every event depends on an uncertain stream."""
        certain = certain_plan(plan)
        return cls(certain, context) if certain.program.events else None

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return self.plan.program.events

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        return self.plan.program.streams

    @property
    def key(self) -> tuple[str, ...]:
        return self.stages.key

    @property
    def scale(self) -> int:
        return 1

    @property
    def is_divisible(self) -> bool:
        return self.stages.is_divisible

    @property
    def state_type(self) -> type[States]:
        return self.stages.state_type

    @cached_property
    def stages(self) -> StageChain:
        """The stages on streams."""
        return StageChain(self.plan, self.context.facts, self.context.expressions)

    def answer(self, rows: Rows) -> Answer:
        """Over complete streams, joins, segments and windows of a stage are evaluated together."""
        complete = {**no_rows((one for one in self.streams if one.schema.name not in rows), self._clock), **rows}
        return Answer(self._tables(run_plan(self.plan, complete, self.context.facts, self.context.expressions)))

    def start(self) -> States:
        return self.stages.start()

    def step(self, state: States, given: Rows, until: Moment) -> tuple[States, Mapping[str, pa.Table]]:
        state, found = self.stages.step(state, given, until)
        return state, self._tables(found)

    def split(self, state: States, owners: Owners) -> tuple[States, States]:
        return self.stages.split(state, owners)

    def merge(self, left: States, right: States) -> States:
        return self.stages.merge(left, right)

    def copied(self, state: States) -> States:
        return self.stages.copied(state)

    def migrated(self, state: States, before: CertainEvaluator, kept: Collection[str]) -> States:
        return self.stages.migrated(state, before.stages, kept)

    def n_kept(self, state: States) -> int:
        return self.stages.n_kept(state)

    def decided(self, state: States) -> int | None:
        return None

    def open_matches(self, state: States, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        return opened(self.stages.begun(state, rows, event))

    @property
    def _clock(self) -> Clock:
        return self.context.unit.clock

    def _tables(self, matches: Mapping[str, MatchBatch]) -> dict[str, pa.Table]:
        return {event.name: result_table(event, matches[event.name], self._clock) for event in self.events}
