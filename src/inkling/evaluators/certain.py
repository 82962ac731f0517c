"""The evaluator of certain events: the stages of a plan one after the other.

A stage reads streams and the matches of earlier stages. In batch, `run_plan` evaluates each stage once over all rows.
On streams, each step of `StageChain` steps every stage, and matches of one stage are rows of the next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa

from inkling.analysis.worlds import common_key
from inkling.evaluators.memory import working_on
from inkling.evaluators.open_matches import Begun, OpenMatch, opened
from inkling.evaluators.protocol import BatchAnswer, EvaluatorContext, Moment, Rows, no_rows
from inkling.evaluators.stage.engine import StageEngine, source_table
from inkling.evaluators.stage.evaluator import StageEvaluator, StageState
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.derive import with_derived_columns
from inkling.evaluators.stage.rows.keys import Owners
from inkling.evaluators.stage.rows.prepare import InputReader, stage_rows
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, StreamPlan
from inkling.model.batch import MatchBatch
from inkling.physical.plan import PhysicalPlan, Stage
from inkling.physical.planner import certain_plan
from inkling.results import result_table


def run_plan(
    plan: PhysicalPlan, sources: Mapping[str, pa.Table], tables: Mapping[str, pa.Table], context: ExpressionContext
) -> dict[str, MatchBatch]:
    """The matches of all events over complete streams, given the checked rows of each stream."""
    ready = dict(sources)
    for stream in plan.program.streams:
        if stream.derived:
            ready[stream.schema.name] = with_derived_columns(stream, sources[stream.schema.name], context)
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
    """The stage rows of all inputs that other stages or streams supply."""
    made_here = {step.event.name for step in stage.steps}
    return pa.concat_tables(
        [
            stage_rows(stage, number, ready[given.source], tables, context)
            for number, given in enumerate(stage.inputs)
            if given.source not in made_here
        ]
    )


States = tuple[StageState[Any], ...]
"""One state per stage."""


class StageChain:
    """The stages of a plan on streams: each step goes through all of them. Stages are compiled when first used."""

    def __init__(self, plan: PhysicalPlan, tables: Mapping[str, pa.Table], context: ExpressionContext) -> None:
        self.plan, self._tables, self._expressions = plan, tables, context

    @cached_property
    def stages(self) -> list[StageEvaluator]:
        plan = self.plan
        return [StageEvaluator(plan, one.number, self._tables, self._expressions) for one in plan.stages]

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
        """Whether all stages are divided by the same columns."""
        streams = {stream.schema.name for stream in self.plan.program.streams}
        keys = [one.key for stage in self.plan.stages for one in stage.inputs if one.source in streams]
        return bool(self.key) and all(one == self.key for one in keys) and all(one.is_divisible for one in self.stages)

    def start(self) -> States:
        return tuple(one.start() for one in self.stages)

    def advance(self, state: States, given: Rows, until: Moment) -> tuple[States, dict[str, MatchBatch]]:
        """The states after a step, and the matches of all events."""
        sources, after, found = dict(given), [], dict[str, MatchBatch]()
        for number, (stage, before) in enumerate(zip(self.stages, state, strict=True)):
            stage_state, output = stage.step(before, self._given(number, sources), until)
            after.append(stage_state)
            found.update(output.matches)
            sources.update({name: source_table(some) for name, some in output.matches.items() if len(some)})
        return tuple(after), found

    def split(self, state: States, owners: Owners) -> tuple[States, States]:
        pairs = [stage.split(one, owners) for stage, one in zip(self.stages, state, strict=True)]
        return tuple(one for one, _ in pairs), tuple(other for _, other in pairs)

    def merge(self, left: States, right: States) -> States:
        return tuple(stage.merge(*both) for stage, *both in zip(self.stages, left, right, strict=True))

    def copied(self, state: States) -> States:
        return tuple(stage.copied(one) for stage, one in zip(self.stages, state, strict=True))

    def migrated(self, state: States, before: StageChain, kept: Collection[str]) -> States:
        stages = zip(self.stages, state, before.stages, strict=True)
        return tuple(stage.migrated(one, old, kept) for stage, one, old in stages)

    def n_kept(self, state: States) -> int:
        return sum(stage.n_kept(one) for stage, one in zip(self.stages, state, strict=True))

    def begun(
        self, state: States, given: Rows, event: str, declared: EventPlan | None = None, world: str | None = None
    ) -> list[Begun]:
        """The partial matches of an event in a state with further rows; the column `world` names possible worlds."""
        for number, (stage, one) in enumerate(zip(self.stages, state, strict=True)):
            if any(event == each.name for each in stage.events):
                return stage.begun(one, self._given(number, given), event, declared, world)
        raise AssertionError(f"no stage looks for {event}")

    @cached_property
    def _readers(self) -> list[dict[str, list[InputReader]]]:
        """By stage and source, what makes stage rows; not for sources that the stage reads or derives by itself."""
        found: list[dict[str, list[InputReader]]] = []
        for stage, evaluator in zip(self.plan.stages, self.stages, strict=True):
            readers: dict[str, list[InputReader]] = {}
            its_own = {step.event.name for step in stage.steps} | evaluator.looking_back.keys()
            for number, given in enumerate(stage.inputs):
                if given.source not in its_own:
                    reader = InputReader(stage, number, self._tables, self._expressions)
                    readers.setdefault(given.source, []).append(reader)
            found.append(readers)
        return found

    def _given(self, number: int, sources: Rows) -> Rows:
        """The input of one stage, from the rows of all sources."""
        looking_back = self.stages[number].looking_back
        given = {name: rows for name, rows in sources.items() if name in looking_back and len(rows)}
        read = [
            reader(sources[name])
            for name, readers in self._readers[number].items()
            if name in sources and len(sources[name])
            for reader in readers
        ]
        return {**given, r.STAGE_ROWS: pa.concat_tables(read)} if read else given


class CertainEvaluator(StageChain):
    """Answers all events that depend on certain streams alone; results have the public columns."""

    scale = 1

    def __init__(self, plan: PhysicalPlan, context: EvaluatorContext) -> None:
        super().__init__(plan, context.facts, context.expressions)
        self._clock = context.unit.clock

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> CertainEvaluator | None:
        """None where every event depends on an uncertain stream."""
        certain = certain_plan(plan)
        return cls(certain, context) if certain.program.events else None

    @property
    def streams(self) -> tuple[StreamPlan, ...]:
        return self.plan.program.streams

    def answer(self, rows: Rows) -> BatchAnswer:
        missing = [one for one in self.streams if one.schema.name not in rows]
        complete = {**no_rows(missing, self._clock), **rows} if missing else rows
        return BatchAnswer(self._results(run_plan(self.plan, complete, self._tables, self._expressions)))

    def step(self, state: States, given: Rows, until: Moment) -> tuple[States, Mapping[str, pa.Table]]:
        state, found = self.advance(state, given, until)
        return state, self._results(found)

    def decided(self, state: States) -> int | None:
        return None

    def forgotten(self, state: States) -> int | None:
        return None

    def open_matches(self, state: States, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        return opened(self.begun(state, rows, event))

    def _results(self, matches: Mapping[str, MatchBatch]) -> dict[str, pa.Table]:
        found = {}
        for event in self.events:
            working_on(event.name)
            found[event.name] = result_table(event, matches[event.name], self._clock)
        return found
