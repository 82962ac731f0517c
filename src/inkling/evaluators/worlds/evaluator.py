"""The evaluator of events that need possible worlds: it holds a certain evaluator of their counterparts in worlds.

Over complete streams, worlds are enumerated where they are few. On streams they are sampled: rows go into all worlds as
time passes, and a result is emitted when no world can add to it any more. Which worlds are drawn depends on the seed
and on the rows alone, not on how rows are cut into steps.

Open matches of events that are looked for in worlds: the share of the worlds in which each of them waits.
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
from inkling.evaluators.sampling import Sampling, interval
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.owners import Owners
from inkling.evaluators.worlds.answer import estimates, names_by_event
from inkling.evaluators.worlds.demands import require_exact
from inkling.evaluators.worlds.division import world_parts
from inkling.evaluators.worlds.live.lossy import frontier
from inkling.evaluators.worlds.live.pending import LiveNames, PendingState, release, settled_by, with_matches
from inkling.evaluators.worlds.live.waiting import Draws, WaitingState, portions, scaled
from inkling.evaluators.worlds.probabilities.estimate import EventIds, estimate_table, sampled_estimate
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.run import WorldData
from inkling.evaluators.worlds.streams.assignment import ALTERNATIVE
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan
from inkling.logical.rewrites.in_worlds import CALLED, WORLD
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
    """Estimates probabilities from sampled worlds; `scale` moments of their clock make one of the streams'."""

    n_worlds: int
    delta: float
    scale: int

    def open_matches(self, begun: Iterable[Begun], names: EventIds) -> list[OpenMatch]:
        """Of the matches that are open in each world, those that are open in any."""
        together: dict[object, list[Begun]] = {}
        for one in begun:
            events = tuple(int(token) | int(ALTERNATIVE) for token in one.lineage)  # type: ignore[call-overload]
            together.setdefault((one.way, one.reached, events), []).append(one)
        if not together:
            return []
        groups = list(together.values())
        hits = np.array([len({one.world for one in group}) for group in groups], np.int64)
        low, high = interval(hits, self.n_worlds, self.delta)
        share = hits / self.n_worlds
        error = np.maximum(share - low, high - share)
        firsts = [min(group, key=lambda one: one.world) for group in groups]  # type: ignore[arg-type,return-value]
        lineages = names.named(pa.array([one.lineage for one in firsts], pa.list_(pa.int64()))).to_pylist()
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
"""About how many rows of worlds are evaluated together."""

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class WorldsState(Generic[S]):
    """Rows on their way into worlds, results that more worlds may have, and what the certain stages remember."""

    decided: int  # up to which time all worlds are known
    waiting: Mapping[str, WaitingState]
    names: LiveNames
    pending: Mapping[str, PendingState]
    stages: S


State = WorldsState[Any]


@dataclass(frozen=True)
class WorldsEvaluator(PartEvaluator):
    """Enumerates possible worlds, or samples them."""

    program: WorldProgram
    context: EvaluatorContext
    declared: Mapping[str, EventPlan]

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> WorldsEvaluator | None:
        """None where no event needs worlds."""
        if not plan.answered_by(Evaluator.WORLDS):
            return None
        begun = context.begun.get(Evaluator.WORLDS)
        placement, scale = (None, None) if begun is None else (begun.placement, begun.scale)
        program = WorldProgram.of(plan, context.expressions, context.unit, placement=placement, scale=scale)
        return cls(program, context, {event.name: event for event in plan.program.events})

    @classmethod
    def beginning(cls, plan: PhysicalPlan, unit: TimeUnit) -> StartDecisions | None:
        if not plan.answered_by(Evaluator.WORLDS):
            return None
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
        """The stages hold the keys of all worlds together."""
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
        found, account = estimates(data, sampling, self.context.on_worlds)
        names = names_by_event(data)
        tables = {
            event.name: estimate_table(event, found[event.name], names[event.name], program.scale, program.clock)
            for event in program.events
        }
        return BatchAnswer(tables, (str(account),))

    def start(self) -> State:
        return WorldsState(NEVER, {}, LiveNames(), {}, self.stages.start())

    def step(self, state: State, rows: Rows, until: Moment) -> tuple[State, dict[str, pa.Table]]:
        """Rows go into worlds up to the time for which all worlds are known; where events are lost, that may wait."""
        waiting = self._waiting(state, rows)
        waiting = {name: replace(one, roles=until.roles.get(name, NO_ROLES)) for name, one in waiting.items()}
        fronts = [frontier(self._schemas[name], one, until.time) for name, one in waiting.items()]
        before, decided = state.decided, max(state.decided, min([until.time, *fronts]))
        state = replace(state, waiting=waiting)
        found: dict[str, list[pa.Table]] = {}
        for time in portions(self._schemas, waiting, before, decided, ROWS_AT_ONCE // self._accuracy[0]):
            state, tables = self._into_worlds(state, time)
            for name, table in tables.items():
                found.setdefault(name, []).append(table)
        return state, {name: pa.concat_tables(some) for name, some in found.items()}

    def copied(self, state: State) -> State:
        """Stages use up what they remember; all else is never changed in place."""
        return replace(state, stages=self.stages.copied(state.stages))

    def decided(self, state: State) -> int | None:
        return state.decided

    def split(self, state: State, owners: Owners) -> tuple[State, State]:
        raise AssertionError("worlds are not divisible")

    def merge(self, left: State, right: State) -> State:
        raise AssertionError("worlds are not divisible")

    def open_matches(self, state: State, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """Where events may be lost, up to the time for which all worlds are known."""
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
        """How many worlds are sampled, and how probable it is that an error is larger than reported."""
        return self._sampling.once.plan(self.events)

    @cached_property
    def _waits(self) -> Mapping[str, int]:
        """By event, how long after its end a result may still be found in further worlds."""
        part, unit = self.program.part, self.program.unit
        return {event.name: waiting_time(event, part, unit) + settled_after(event, part, unit) for event in self.events}

    def _waiting(self, state: State, rows: Rows) -> dict[str, WaitingState]:
        waiting = dict(state.waiting)
        for name in (one for one in self._schemas if one in rows):
            some = pa.concat_tables([waiting[name].rows, rows[name]]) if name in waiting else rows[name]
            waiting[name] = replace(waiting.get(name, WaitingState(some)), rows=some)
        return waiting

    def _into_worlds(self, state: State, until: int) -> tuple[State, dict[str, pa.Table]]:
        """Rows up to a time in all worlds; what the stages find there; what is settled by that."""
        program = self.program
        waiting, names, released = self._released(state, until)
        stages, matches = self.stages.advance(state.stages, released, Moment(scaled(until, program.scale)))
        pending: dict[str, PendingState] = {}
        tables = {}
        for event in self.events:
            mine, wait = state.pending.get(event.name), self._waits[event.name]
            if event.name in matches:
                mine = with_matches(event, mine, matches[event.name], names, wait, program.scale)
            rest, settled = (None, None) if mine is None else settled_by(mine, until)
            if rest is not None:
                pending[event.name] = rest
            if settled is not None:
                estimate = sampled_estimate(event, settled, *self._accuracy)
                called = names.names(program.id_types[event.name])
                tables[event.name] = estimate_table(event, [estimate], called, program.scale, program.clock)
        names = names.still_needed(self._names_since(until), (one.tokens for one in pending.values()))
        return WorldsState(until, waiting, names, pending, stages), tables

    def _released(self, state: State, until: int) -> tuple[dict[str, WaitingState], LiveNames, dict[str, pa.Table]]:
        """What waits for longer than up to a time, what events are called, and what happens by then in any world."""
        waiting, names, rows = dict(state.waiting), state.names, {}
        looking_back = {stream.schema.name for stream in self.streams if stream.derived}
        for name, one in state.waiting.items():
            waiting[name], released = release(self._schemas[name], one, state.decided, until, self._draws)
            names = names.with_events(released.tokens, released.events[r.ID], released.until)
            if len(released.rows):
                rows[name] = released.rows
                if name in looking_back:  # along declared ids
                    rows[name] = released.rows.append_column(r.OWN_ID, released.rows[CALLED])
        return waiting, names, rows

    def _names_since(self, decided: int) -> int | None:
        """Events that ended before this are in no result to come; None where nothing limits that."""
        reach, waits = self.program.reach, max(self._waits.values(), default=0)
        if reach is None or waits >= FOREVER or decided <= NEVER or decided >= FOREVER:
            return None
        return decided - 2 * (reach + waits) - 1
