"""The evaluator of events in possible worlds: a certain evaluator runs their counterparts in all worlds at once.

Over complete streams, few worlds are enumerated and many are sampled (`answer`). On streams, worlds are sampled: rows
enter all worlds as the watermark advances, and a result is emitted when no further world can have it. Draws depend only
on the seed and the rows, not on how rows are cut into steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from inkling.analysis.bounds.lag import settled_after, waiting_time
from inkling.analysis.choice import Evaluator
from inkling.evaluators.certain import StageChain
from inkling.evaluators.division import EvaluatorPart
from inkling.evaluators.open_matches import Begun, OpenMatch, in_order
from inkling.evaluators.protocol import BatchAnswer, EvaluatorContext, Moment, PartEvaluator, Rows, StartDecisions
from inkling.evaluators.sampling import Sampling, half_width
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.keys import Owners
from inkling.evaluators.worlds.answer import estimates, event_ids_by_event, require_exact
from inkling.evaluators.worlds.division import world_parts
from inkling.evaluators.worlds.live.pending import LiveEventIds, PendingState, split_final, with_matches
from inkling.evaluators.worlds.live.release import Draws, WaitingState, frontier, last_moment, release, step_times
from inkling.evaluators.worlds.probabilities.estimate import EventIds, estimate_table, sampled_estimate
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.run import WorldData
from inkling.evaluators.worlds.streams.assignment import ALTERNATIVE
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan
from inkling.logical.rewrites.in_worlds import ORIGINAL_ID, WORLD
from inkling.model.batch import FOREVER
from inkling.model.roles import NO_ROLES
from inkling.model.schema import StreamSchema
from inkling.model.time import TimeUnit
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import NEVER
from inkling.physical.plan import PhysicalPlan
from inkling.results import SAMPLED


@dataclass(frozen=True, slots=True)
class WorldShares:
    """Probabilities of open matches: the share of sampled worlds in which each is open."""

    n_worlds: int
    delta: float
    scale: int

    def open_matches(self, begun: Iterable[Begun], names: EventIds) -> list[OpenMatch]:
        """Partial matches of all worlds, grouped by their lineage, with their probabilities."""
        together: dict[object, list[Begun]] = {}
        for one in begun:
            events = tuple(int(token) | int(ALTERNATIVE) for token in one.lineage)  # type: ignore[call-overload]
            together.setdefault((one.way, one.reached, one.awaits, events), []).append(one)
        if not together:
            return []
        groups = list(together.values())
        hits = np.array([len({one.world for one in group}) for group in groups], np.int64)
        share, error = hits / self.n_worlds, half_width(hits, self.n_worlds, self.delta)
        firsts = [min(group, key=lambda one: one.world) for group in groups]  # type: ignore[arg-type,return-value]
        lineages = names.lineage(pa.array([one.lineage for one in firsts], pa.list_(pa.int64()))).to_pylist()
        return in_order(
            [self._summed(*of_one) for of_one in zip(groups, lineages, share.tolist(), error.tolist(), strict=True)]
        )

    def _summed(self, group: Sequence[Begun], lineage: list[object], share: float, error: float) -> OpenMatch:
        one = group[0]
        limits = [each.latest for each in group if each.latest is not None]
        return OpenMatch(
            one.reached,
            one.parts,
            one.awaits,
            min(each.start for each in group) // self.scale,
            max(each.end for each in group) // self.scale,
            max(limits) // self.scale if limits else None,
            tuple(lineage),
            share,
            SAMPLED,
            error,
        )


ROWS_AT_ONCE = 1 << 20
"""The approximate number of rows, over all worlds, that are evaluated together."""

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class WorldsState(Generic[S]):
    """Rows that have not entered worlds yet, results that further worlds may have, and the states of the stages."""

    decided: int  # the time up to which rows have entered all worlds
    waiting: Mapping[str, WaitingState]
    names: LiveEventIds
    pending: Mapping[str, PendingState]
    stages: S


State = WorldsState[Any]


@dataclass(frozen=True)
class WorldsEvaluator(PartEvaluator):
    """Answers events by enumerating or sampling possible worlds."""

    program: WorldProgram
    context: EvaluatorContext
    declared: Mapping[str, EventPlan]

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> WorldsEvaluator:
        begun = context.begun.get(Evaluator.WORLDS)
        placement, scale = (None, None) if begun is None else (begun.placement, begun.scale)
        program = WorldProgram.of(plan, context.expressions, context.unit, placement=placement, scale=scale)
        return cls(program, context, {event.name: event for event in plan.program.events})

    @classmethod
    def beginning(cls, plan: PhysicalPlan, unit: TimeUnit) -> StartDecisions:
        program = WorldProgram.of(plan, ExpressionContext({}, unit), unit)
        return StartDecisions(program.physical.placement, program.scale, tuple(sorted(program.compared)))

    @property
    def events(self) -> tuple[EventPlan, ...]:
        return self.program.events

    @property
    def scale(self) -> int:
        return self.program.scale

    @property
    def is_divisible(self) -> bool:
        """Worlds of all keys share the states of the stages."""
        return False

    @property
    def state_type(self) -> type[State]:
        return WorldsState[self.stages.state_type]  # type: ignore[name-defined]

    def parts(self) -> list[EvaluatorPart]:
        return world_parts(self.program, self.context.facts, self._sampling)

    def answer(self, rows: Rows) -> BatchAnswer:
        program, sampling = self.program, self._sampling
        data = WorldData.of(program, self.complete(rows), self.context.facts, sampling.exact_up_to)
        require_exact(data, sampling)
        found, counts = estimates(data, sampling, self.context.on_worlds)
        names = event_ids_by_event(data)
        tables = {
            event.name: estimate_table(event, found[event.name], names[event.name], program.scale, program.clock)
            for event in program.events
        }
        return BatchAnswer(tables, (str(counts),))

    def start(self) -> State:
        return WorldsState(NEVER, {}, LiveEventIds(), {}, self.stages.start())

    def step(self, state: State, rows: Rows, until: Moment) -> tuple[State, dict[str, pa.Table]]:
        """Rows enter worlds up to the watermark, or up to the earliest gap that may still hold lost events."""
        waiting = self._waiting(state, rows)
        waiting = {
            name: replace(one, roles=until.roles.get(name, NO_ROLES), begun=until.begun)
            for name, one in waiting.items()
        }
        fronts = [frontier(self._schemas[name], one, until.time) for name, one in waiting.items()]
        before, decided = state.decided, max(state.decided, min([until.time, *fronts]))
        state = replace(state, waiting=waiting)
        found: dict[str, list[pa.Table]] = {}
        for time in step_times(self._schemas, waiting, before, decided, ROWS_AT_ONCE // self._accuracy[0]):
            state, tables = self._into_worlds(state, time)
            for name, table in tables.items():
                found.setdefault(name, []).append(table)
        return state, {name: pa.concat_tables(some) for name, some in found.items()}

    def copied(self, state: State) -> State:
        """Only the states of stages are changed in place."""
        return replace(state, stages=self.stages.copied(state.stages))

    def decided(self, state: State) -> int | None:
        return state.decided

    def split(self, state: State, owners: Owners) -> tuple[State, State]:
        raise AssertionError("worlds are not divisible")

    def merge(self, left: State, right: State) -> State:
        raise AssertionError("worlds are not divisible")

    def open_matches(self, state: State, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """With lost events, the open matches at the time up to which rows have entered worlds."""
        if any(isinstance(schema.uncertainty, LostEvents) for schema in self._schemas.values()):
            now = state.decided
        else:
            state = replace(state, waiting=self._waiting(state, rows))
        _, names, released = self._released(state, now)
        begun = self.stages.begun(state.stages, released, event, self.declared[event], WORLD)
        shares = WorldShares(*self._accuracy, self.program.scale)
        return shares.open_matches(begun, names.names(self.program.id_types[event]))

    def migrated(self, state: State, before: WorldsEvaluator, kept: Collection[str]) -> State:
        names = {event.name for event in self.events}
        in_worlds = [event.name for event in self.stages.events]  # all that kept events depend on
        return replace(
            state,
            waiting={name: one for name, one in state.waiting.items() if name in self._schemas},
            pending={name: one for name, one in state.pending.items() if name in names},
            stages=self.stages.migrated(state.stages, before.stages, in_worlds),
        )

    def n_kept(self, state: State) -> int:
        waiting = sum(len(one.rows) for one in state.waiting.values())
        pairs = sum(len(one.world) for one in state.pending.values())
        return self.stages.n_kept(state.stages) + waiting + pairs

    @cached_property
    def stages(self) -> StageChain:
        """The certain evaluator of the events in worlds."""
        return StageChain(self.program.physical, self.context.facts, self.program.context)

    @cached_property
    def _schemas(self) -> Mapping[str, StreamSchema]:
        return {stream.schema.name: stream.schema for stream in self.streams}

    @cached_property
    def _sampling(self) -> Sampling:
        return self.context.sampling or Sampling()

    @cached_property
    def _draws(self) -> Draws:
        begun, program = self.context.begun.get(Evaluator.WORLDS), self.program
        compared = program.compared if begun is None else frozenset(begun.compared)
        return Draws(self._sampling.seed, self._accuracy[0], program.scale, program.clock, self.context.facts, compared)

    @cached_property
    def _accuracy(self) -> tuple[int, float]:
        """The number of sampled worlds, and the probability that an error is larger than reported."""
        return self._sampling.once.plan(self.events)

    @cached_property
    def _waits(self) -> Mapping[str, int]:
        """By event, how long after its end a result may be found in further worlds, on the clock of the streams."""
        part, unit = self.program.part, self.program.unit
        return {event.name: waiting_time(event, part, unit) + settled_after(event, part, unit) for event in self.events}

    def _waiting(self, state: State, rows: Rows) -> dict[str, WaitingState]:
        waiting = dict(state.waiting)
        for name in (one for one in self._schemas if one in rows):
            some = pa.concat_tables([waiting[name].rows, rows[name]]) if name in waiting else rows[name]
            waiting[name] = replace(waiting.get(name, WaitingState(some)), rows=some)
        return waiting

    def _into_worlds(self, state: State, until: int) -> tuple[State, dict[str, pa.Table]]:
        """Enters rows up to a time into all worlds, steps the stages, and emits the results that are final then."""
        program = self.program
        waiting, names, released = self._released(state, until)
        stages, matches = self.stages.advance(state.stages, released, Moment(last_moment(until, program.scale)))
        pending: dict[str, PendingState] = {}
        tables = {}
        for event in self.events:
            mine, wait = state.pending.get(event.name), self._waits[event.name]
            if event.name in matches:
                mine = with_matches(event, mine, matches[event.name], names, wait, program.scale)
            rest, final = (None, None) if mine is None else split_final(mine, until)
            if rest is not None:
                pending[event.name] = rest
            if final is not None:
                estimate = sampled_estimate(event, final, *self._accuracy)
                called = names.names(program.id_types[event.name])
                tables[event.name] = estimate_table(event, [estimate], called, program.scale, program.clock)
        names = names.still_needed(self._names_since(until), (one.tokens for one in pending.values()))
        return WorldsState(until, waiting, names, pending, stages), tables

    def _released(self, state: State, until: int) -> tuple[dict[str, WaitingState], LiveEventIds, dict[str, pa.Table]]:
        """The rows that still wait after a time, the ids of all events, and the rows of worlds up to that time."""
        waiting, names, rows = dict(state.waiting), state.names, {}
        looking_back = {stream.schema.name for stream in self.streams if stream.derived}
        for name, one in state.waiting.items():
            waiting[name], released = release(self._schemas[name], one, state.decided, until, self._draws)
            names = names.with_events(released.tokens, released.events[r.ID], released.until)
            if len(released.rows):
                rows[name] = released.rows
                if name in looking_back:  # along declared ids
                    rows[name] = released.rows.append_column(r.OWN_ID, released.rows[ORIGINAL_ID])
        return waiting, names, rows

    def _names_since(self, decided: int) -> int | None:
        """The time before which ended events are in no later result; None if there is no limit."""
        reach, waits = self.program.reach, max(self._waits.values(), default=0)
        if reach is None or waits >= FOREVER or decided <= NEVER or decided >= FOREVER:
            return None
        return decided - 2 * (reach + waits) - 1
