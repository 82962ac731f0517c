"""The evaluator of chains and partial orders over imprecise times: its state, and when a match is emitted.

A step takes rows by their first tick (`lower`). A match that no other event can prevent is emitted with its last event.
Other chains (NEXT, STRICT, NOT) are final when the watermark passes the window of their first event: from then on no
event can join or prevent them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from inkling.analysis.choice import Evaluator
from inkling.evaluators.chain.division import chain_parts
from inkling.evaluators.chain.event import ChainEvent, results_of
from inkling.evaluators.chain.matches import ProbableMatches
from inkling.evaluators.chain.open_chains import OpenChains
from inkling.evaluators.chain.open_orders import OpenOrders
from inkling.evaluators.chain.partial_orders import PartialOrderEvent
from inkling.evaluators.chain.program import WEIGHTS, ChainProgram, StageEvents, answered, prepared
from inkling.evaluators.division import EvaluatorPart
from inkling.evaluators.open_matches import OpenMatch, in_order
from inkling.evaluators.protocol import BatchAnswer, EvaluatorContext, Moment, PartEvaluator, Rows, StartDecisions
from inkling.evaluators.stage.rows.batches import rows_passing
from inkling.evaluators.stage.rows.derive import derived_after
from inkling.evaluators.stage.rows.format import rows_where
from inkling.evaluators.stage.rows.keys import Owners, is_among, owners_by, owners_of
from inkling.evaluators.stage.rows.migration import RowMigration
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import StreamPlan
from inkling.model.batch import FOREVER, Ints, Mask
from inkling.model.time import TimeUnit
from inkling.physical.plan import PhysicalPlan


@dataclass(frozen=True, slots=True)
class ChainState:
    """Rows of each stage that chains may still need, and the last row of each key for derived columns."""

    stages: tuple[pa.Table, ...] = ()
    last: Mapping[str, pa.Table] = field(default_factory=dict)
    until: int = -FOREVER


@dataclass(frozen=True, slots=True)
class ChainEvaluator(PartEvaluator):
    """Answers all chains of a program."""

    program: ChainProgram
    tables: Mapping[str, pa.Table]

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> ChainEvaluator | None:
        """None where no event of the plan is answered by this evaluator."""
        begun = context.begun.get(Evaluator.CHAIN)
        placement = None if begun is None else begun.placement
        program = ChainProgram.of(plan, context.expressions, context.unit, placement, context.sampling)
        return None if program is None else cls(program, context.facts)

    @classmethod
    def beginning(cls, plan: PhysicalPlan, unit: TimeUnit) -> StartDecisions | None:
        program = ChainProgram.of(plan, ExpressionContext({}, unit), unit)
        return None if program is None else StartDecisions(program.physical.placement)

    @property
    def state_type(self) -> type[ChainState]:
        return ChainState

    def answer(self, rows: Rows) -> BatchAnswer:
        return BatchAnswer(answered(self.program, self.complete(rows), self.tables))

    def parts(self) -> list[EvaluatorPart]:
        return chain_parts(self.program, self.tables)

    def start(self) -> ChainState:
        return ChainState(tuple(self._prepared(self.complete({}), {})[0]))

    def step(self, state: ChainState, rows: Rows, until: Moment) -> tuple[ChainState, dict[str, pa.Table]]:
        """Conditions on single rows, and derived columns, are evaluated once, when rows arrive."""
        before, now, kept = state.until, until.time, state
        arrived, last = self._prepared(self.complete(rows), kept.last)
        left, found = [], {}
        for stage, old, new in zip(self.program.physical.stages, kept.stages, arrived, strict=True):
            held = pa.concat_tables([old, new])
            events = StageEvents.of(self.program, stage, held)
            is_new, needed = events.rows >= len(old), np.zeros(len(held), bool)
            for name, evaluator in self.program.evaluators(stage).items():
                some = self._known(evaluator, events, is_new, before, now)
                if some:
                    ids, clock = self.program.id_types[name], self.program.unit.clock
                    found[name] = results_of(evaluator.step.event, some, ids, clock)
                needed[events.rows] |= self._needed(evaluator, events, now)
            left.append(held if needed.all() else held.filter(pa.array(needed)).combine_chunks())
        return ChainState(tuple(left), last, now), found

    def split(self, state: ChainState, owners: Owners) -> tuple[ChainState, ChainState]:
        return (
            self._where(state, lambda found: is_among(found, owners)),
            self._where(state, lambda found: ~is_among(found, owners)),
        )

    def merge(self, left: ChainState, right: ChainState) -> ChainState:
        assert left.until == right.until, "states of different times do not go together"
        last = {**left.last, **right.last}
        for name in left.last.keys() & right.last.keys():
            last[name] = pa.concat_tables([left.last[name], right.last[name]])
        stages = zip(left.stages, right.stages, strict=True)
        return ChainState(tuple(pa.concat_tables(both) for both in stages), last, left.until)

    def open_matches(self, state: ChainState, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """Open matches by now, among the rows of the state and further rows."""
        arrived, _ = self._prepared(self.complete(rows), state.last)
        declared = self.program.declared[event]
        for stage, old, new in zip(self.program.physical.stages, state.stages, arrived, strict=True):
            evaluator = self.program.evaluators(stage).get(event)
            if evaluator is not None:
                events = StageEvents.of(self.program, stage, pa.concat_tables([old, new]))
                if isinstance(evaluator, PartialOrderEvent):
                    orders = OpenOrders(evaluator, declared, state.until, now)
                    return in_order(list(orders.found(events.batch, events.moments, events.n_keys)))
                chains = OpenChains(evaluator, declared, state.until, now)
                if chains.has_eager_part:
                    sampled = chains.sampled(events.batch, events.moments, events.n_keys, self.program.sampling)
                    return in_order(list(sampled))
                return in_order(list(chains.found(events.batch, events.moments, events.n_keys)))
        raise AssertionError(f"no stage looks for {event}")

    def migrated(self, state: ChainState, before: ChainEvaluator, kept: Collection[str]) -> ChainState:
        pairs = zip(before.program.physical.stages, self.program.physical.stages, state.stages, strict=True)
        read = {stream.schema.name for stream in self.streams}
        return ChainState(
            tuple(_relaid(RowMigration.between(old, new, kept), rows) for old, new, rows in pairs),
            {name: rows for name, rows in state.last.items() if name in read},
            state.until,
        )

    def n_kept(self, state: ChainState) -> int:
        return sum(map(len, state.stages))

    def _where(self, state: ChainState, chosen: Callable[[Owners], Mask]) -> ChainState:
        """The state of some keys."""
        stages = zip(self.program.physical.stages, state.stages, strict=True)
        return ChainState(
            tuple(rows_where(rows, chosen(owners_of(rows, len(stage.key_types)))) for stage, rows in stages),
            {name: rows_where(rows, chosen(owners_by(rows, self.key))) for name, rows in state.last.items()},
            state.until,
        )

    def _prepared(
        self, rows: Mapping[str, pa.Table], last: Mapping[str, pa.Table]
    ) -> tuple[list[pa.Table], dict[str, pa.Table]]:
        """Rows of streams as rows of each stage, and the last row of each key for derived columns."""
        program, ready, after = self.program, dict(rows), dict(last)
        for stream in program.physical.program.streams:
            name = stream.schema.name
            if stream.derived:
                ready[name], latest = derived_after(stream, last.get(name), rows[name], program.context)
                if self._looks_back(stream):
                    after[name] = latest
        return [prepared(program, stage, ready, self.tables) for stage in program.physical.stages], after

    @staticmethod
    def _looks_back(stream: StreamPlan) -> bool:
        parts = (part for column in stream.derived for part in e.walk(column.expr))
        return any(isinstance(part, e.PreviousColumn | e.SinceChange) for part in parts)

    def _known(
        self, evaluator: ChainEvent | PartialOrderEvent, events: StageEvents, is_new: Mask, before: int, now: int
    ) -> list[ProbableMatches]:
        if not evaluator.chain.depends_on_others:
            if not is_new.any():
                return []
            return evaluator.evaluate(events.batch, events.moments, events.n_keys, newest=is_new)
        settled = self._settled(evaluator, events)
        due = (settled > before) & (settled <= now)
        if not due.any():
            return []
        return evaluator.evaluate(events.batch, events.moments, events.n_keys, first=due)

    def _settled(self, evaluator: ChainEvent | PartialOrderEvent, events: StageEvents) -> Ints:
        """When chains that begin with each event are final; FOREVER without a window."""
        if evaluator.window <= 0:
            return np.full(len(events.moments), FOREVER)
        return (events.moments.upper + evaluator.window - 1) * evaluator.grid

    def _needed(self, evaluator: ChainEvent | PartialOrderEvent, events: StageEvents, now: int) -> Mask:
        """The events that can join or prevent chains that are not final."""
        grid, window = evaluator.grid, evaluator.window
        waiting = self._settled(evaluator, events) > now
        if isinstance(evaluator, PartialOrderEvent) or not evaluator.chain.depends_on_others:
            return waiting
        begins = np.zeros(len(waiting), bool)
        for link in evaluator.chain.links:
            begins[rows_passing(evaluator.step.leaf(link.slot), events.batch)] = True
            if link.low > 0:
                break
        waiting &= begins
        earliest = np.full(events.n_keys, now)
        np.minimum.at(earliest, events.batch.key[waiting], events.moments.lower[waiting] * grid)
        if evaluator.chain.looks_before:
            earliest -= window * grid
        return waiting | (events.moments.upper * grid > earliest[events.batch.key])


def _relaid(layout: RowMigration, rows: pa.Table) -> pa.Table:
    """Rows of a stage, with the weights of their ticks, in the layout of another version of the stage."""
    weights = rows[WEIGHTS].filter(pa.array(layout.is_kept(rows)))
    return layout.rows(rows).append_column(WEIGHTS, weights)
