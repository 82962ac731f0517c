"""A stage on streams: an evaluator that prepares the rows of a step once and steps the evaluators of its events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.evaluators.automaton.evaluator import AutomatonEvaluator
from inkling.evaluators.consumption.evaluator import ConsumptionEvaluator
from inkling.evaluators.forecast.evaluator import ForecastEvaluator
from inkling.evaluators.memory import working_on
from inkling.evaluators.network.evaluator import NetworkEvaluator
from inkling.evaluators.network.goals import GoalsEvaluator
from inkling.evaluators.open_matches import Begun, OpenMatch, opened
from inkling.evaluators.protocol import Moment, Rows
from inkling.evaluators.stage.closing import closing_tests
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.member import RowsState, StageMember, StageSetting, StepInput, StepOutput
from inkling.evaluators.stage.open_matches import begun_matches
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.derive import derived_after
from inkling.evaluators.stage.rows.format import concatenated, split_rows
from inkling.evaluators.stage.rows.keys import Owners, is_among, is_divisible, owners_in
from inkling.evaluators.stage.rows.prepare import InputReader
from inkling.evaluators.windows.evaluator import WindowEvaluator
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, StreamPlan
from inkling.model.batch import FOREVER, MatchBatch
from inkling.physical.plan import EventStep, LeafTest, PhysicalPlan, Stage

Maker = Callable[[Sequence[EventStep], StageSetting], Sequence[StageMember[Any]]]

MAKERS: dict[str, Maker] = {
    Evaluator.AUTOMATON: AutomatonEvaluator.of,
    Evaluator.WINDOW: WindowEvaluator.of,
    Evaluator.CONSUMPTION: ConsumptionEvaluator.of,
    Evaluator.FORECAST: ForecastEvaluator.of,
}
"""In the order of steps. The network comes last and answers all events that no other evaluator takes."""


def members_of(setting: StageSetting) -> tuple[StageMember[Any], ...]:
    """The evaluators of a stage; every event has one."""
    steps, made = setting.stage.steps, list[StageMember[Any]]()
    for evaluator, make in MAKERS.items():
        made += make([step for step in steps if step.evaluator == evaluator], setting)
    answered = {event.name for member in made for event in member.events}
    made += GoalsEvaluator.of(setting, frozenset(answered))
    answered = {event.name for member in made for event in member.events}
    left = [step for step in steps if step.event.name not in answered]
    return (*made, NetworkEvaluator(left, setting, answered)) if left else tuple(made)


S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class StageState(Generic[S]):
    """The states of the evaluators of a stage, and the watermark of the last step."""

    until: int
    evaluators: S  # a tuple, in the order of the members
    last: Mapping[str, pa.Table] = field(
        default_factory=dict
    )  # by stream with PREV or SINCE_CHANGE: the last row of each key
    since: Mapping[str, int] = field(default_factory=dict)  # by event: rows that end by this time are ignored


State = StageState[tuple[Any, ...]]


class StageEvaluator:
    """Answers all events of a stage.

    Input: stage rows under the name `STAGE_ROWS`, and rows of streams whose derived columns look back, under the names
    of these streams. The rows of a step end after the last watermark, and not after the new one. With `owners`, matches
    have the hashes of their keys.
    """

    def __init__(
        self,
        plan: PhysicalPlan,
        number: int,
        tables: Mapping[str, pa.Table],
        context: ExpressionContext,
        *,
        owners: bool = False,
    ) -> None:
        self.plan, self.number, self.tables, self.context = plan, number, tables, context
        self.stage: Stage = plan.stages[number]
        self.engine = StageEngine(self.stage, tables, context)
        self.members = members_of(StageSetting(self.engine, plan.program, context, owners))
        sources = {given.source for given in self.stage.inputs}
        streams = (one for one in plan.program.streams if one.schema.name in sources)
        self.looking_back: dict[str, StreamPlan] = {one.schema.name: one for one in streams if one.derived}
        self._readers: dict[str, list[InputReader]] = {}
        self._no_rows = r.stage_schema(self.stage).empty_table()

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return tuple(event for member in self.members for event in member.events)

    @cached_property
    def state_type(self) -> type[State]:
        return StageState[tuple[tuple(one.state_type for one in self.members)]]  # type: ignore[misc, return-value]

    @cached_property
    def is_divisible(self) -> bool:
        return is_divisible(self.stage, self.plan.program)

    @cached_property
    def closing(self) -> tuple[LeafTest, ...] | None:
        """The tests of which the last row of every match passes one; None if time may decide results."""
        by_rows = all(step.evaluator in (Evaluator.AUTOMATON, Evaluator.NETWORK) for step in self.stage.steps)
        if not by_rows or self.looking_back or any(bit is not None for bit in self.stage.resets):
            return None
        return closing_tests(self.stage, self.stage.steps, self.plan.program, self.context.unit)

    def start(self) -> State:
        return StageState(-FOREVER, tuple(one.start() for one in self.members))

    def step(self, state: State, given: Rows, until: Moment) -> tuple[State, StepOutput]:
        rows, last = self._prepared(given, state.last)
        found, tied = dict[str, MatchBatch](), list[pa.Table]()
        arrived = StepInput(rows, state.until, state.since, found)
        after = []
        for member, before in zip(self.members, state.evaluators, strict=True):
            working_on(member.events[0].name)
            member_state, output = member.step(before, arrived, until)
            after.append(member_state)
            found.update(output.matches)
            if output.tied is not None:
                tied.append(output.tied)
        left = StageState(until.time, tuple(after), last, state.since)
        return left, StepOutput(found, pa.concat_tables(tied) if tied else None)

    def split(self, state: State, owners: Owners) -> tuple[State, State]:
        pairs = [one.split(held, owners) for one, held in self._pairs(state)]
        last = {
            name: split_rows(rows, is_among(owners_in(name, rows, self.stage), owners))
            for name, rows in state.last.items()
        }
        theirs, others = (
            StageState(
                state.until,
                tuple(pair[half] for pair in pairs),
                {name: both[half] for name, both in last.items()},
                state.since,
            )
            for half in (0, 1)
        )
        return theirs, others

    def merge(self, left: State, right: State) -> State:
        assert left.until == right.until, "states of different times do not go together"
        states = zip(self.members, left.evaluators, right.evaluators, strict=True)
        last = {**left.last, **right.last}
        last |= {name: concatenated([left.last[name], right.last[name]]) for name in left.last if name in right.last}
        return StageState(left.until, tuple(one.merge(*both) for one, *both in states), last, left.since)

    def copied(self, state: State) -> State:
        copies = tuple(one.copied(held) for one, held in self._pairs(state))
        return StageState(state.until, copies, state.last, state.since)

    def migrated(self, state: State, before: StageEvaluator, kept: Collection[str]) -> State:
        """Events that are not kept start again."""
        here = {event.name for event in self.events} & {event.name for event in before.events} & set(kept)
        left = {one.name: (held, one) for one, held in before._pairs(state)}
        states = tuple(
            one.migrated(*left[one.name], here)
            if one.name in left and any(event.name in here for event in one.events)
            else one.start()
            for one in self.members
        )
        last = {name: rows for name, rows in state.last.items() if here and name in self.looking_back}
        since = {name: time for name, time in state.since.items() if name in here}
        return StageState(state.until, states, last, since)

    def n_kept(self, state: State) -> int:
        return sum(one.n_kept(held) for one, held in self._pairs(state)) + sum(map(len, state.last.values()))

    def open_matches(self, state: State, given: Rows, event: str) -> list[OpenMatch]:
        """The open matches of an event, given rows that are not ingested yet."""
        return opened(self.begun(state, given, event))

    def begun(
        self, state: State, given: Rows, event: str, declared: EventPlan | None = None, world: str | None = None
    ) -> list[Begun]:
        """Partial matches of an event, by world: see `begun_matches`."""

        def rows() -> pa.Table:
            kept = next(held for one, held in self._pairs(state) if any(event == each.name for each in one.events))
            assert isinstance(kept, RowsState), "only the network keeps rows"
            return pa.concat_tables([kept.rows, self._prepared(given, state.last)[0]])

        (step,) = (step for step in self.stage.steps if step.event.name == event)
        return begun_matches(self, step, state.until, rows, declared, world)

    def _prepared(self, given: Rows, last: Mapping[str, pa.Table]) -> tuple[pa.Table, Mapping[str, pa.Table]]:
        """All rows of a step as stage rows, and the new last rows of streams whose columns look back."""
        rows = given.get(r.STAGE_ROWS, self._no_rows)
        for name, stream in self.looking_back.items():
            if name in given and len(given[name]):
                derived, newest = derived_after(stream, last.get(name), given[name], self.context)
                rows, last = pa.concat_tables([rows, *self._read(name, derived)]), {**last, name: newest}
        return rows, last

    def _read(self, source: str, rows: pa.Table) -> list[pa.Table]:
        if source not in self._readers:
            self._readers[source] = [
                InputReader(self.stage, number, self.tables, self.context)
                for number, given in enumerate(self.stage.inputs)
                if given.source == source
            ]
        return [reader(rows) for reader in self._readers[source]]

    def _pairs(self, state: State) -> list[tuple[StageMember[Any], Any]]:
        return list(zip(self.members, state.evaluators, strict=True))
