"""The evaluator of chains over imprecise times: which rows its state holds, and when a chain is emitted.

Rows are due by their first tick. A chain that no other event can prevent is emitted with its last event; any other one
when nothing can happen any more in the window of its first event.

How finding chains is divided: by the key of a stage, or by overlapping slices of time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.choice import Evaluator
from inkling.evaluators.chain.event import ChainEvent, ProbableMatches, probable_enough, results_of
from inkling.evaluators.chain.open_chains import OpenChains
from inkling.evaluators.chain.program import WEIGHTS, ChainProgram, StageEvents, answered, events_of, prepared
from inkling.evaluators.division import (
    ByKey,
    ByTime,
    Carried,
    Conditions,
    Division,
    EvaluatorPart,
    EventMatches,
    Piece,
    Slice,
)
from inkling.evaluators.open_matches import OpenMatch, in_order
from inkling.evaluators.protocol import BatchAnswer, EvaluatorContext, Moment, PartEvaluator, Rows, StartDecisions
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.batches import rows_passing
from inkling.evaluators.stage.rows.derive import all_derived, derived_after
from inkling.evaluators.stage.rows.format import rows_where
from inkling.evaluators.stage.rows.keys import Owners, is_among, owners_by, owners_of
from inkling.evaluators.stage.rows.migration import RowMigration
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.model.batch import FOREVER, Ints
from inkling.model.time import TimeUnit
from inkling.model.uncertainty import ImpreciseTime
from inkling.physical.plan import EventStep, Input, PhysicalPlan, Stage


@dataclass(frozen=True, kw_only=True)
class ChainPart(EvaluatorPart):
    """The chains of a stage, or some of them."""

    program: ChainProgram
    stage: Stage
    tables: Mapping[str, pa.Table]

    def found(self, rows: Rows, piece: Piece | None) -> Iterator[EventMatches]:
        late = [one.stream for one in self.carried if not one.is_derived]
        ready = {**rows, **all_derived(late, rows, self.program.context)}
        events = events_of(self.program, self.stage, ready, self.tables)
        start, first = events.batch.start, None
        if isinstance(piece, Slice):
            first = (start >= piece.begins) & (start < piece.ends)
        for name, evaluator in self.program.evaluators(self.stage).items():
            for some in evaluator.evaluate(events.batch, events.moments, events.n_keys, first=first):
                yield EventMatches(name, probable_enough(evaluator.step.event, some))


def chain_parts(program: ChainProgram, tables: Mapping[str, pa.Table]) -> list[EvaluatorPart]:
    """A part for each stage; without a key, one for what has a window, and one for what has to run as a whole."""
    return [
        _part(program, replace(stage, steps=steps), tables)
        for stage in program.physical.stages
        for steps in _divided(program, stage)
    ]


def _divided(program: ChainProgram, stage: Stage) -> list[tuple[EventStep, ...]]:
    if stage.key_types:
        return [stage.steps]
    windows = {name: one.window for name, one in program.evaluators(stage).items()}
    limited = tuple(step for step in stage.steps if windows[step.event.name] > 0)
    endless = tuple(step for step in stage.steps if windows[step.event.name] <= 0)
    return [steps for steps in (limited, endless) if steps]


def _part(program: ChainProgram, stage: Stage, tables: Mapping[str, pa.Table]) -> ChainPart:
    events = tuple(step.event for step in stage.steps)
    return ChainPart(
        events=events,
        ids=dict.fromkeys((event.name for event in events), ARROW_TYPES[stage.id_type]),
        carried=tuple(_carried(one, stage) for one in program.part.streams if _inputs(one, stage)),
        division=_division(program, stage),
        program=program,
        stage=stage,
        tables=tables,
    )


def _division(program: ChainProgram, stage: Stage) -> Division:
    evaluators = list(program.evaluators(stage).values())
    window = max(one.window for one in evaluators)
    if stage.key_types or window <= 0:
        return ByKey({one.source: one.key for one in stage.inputs})
    before = max(one.window - 1 if one.chain.looks_before else -1 for one in evaluators)
    return ByTime(window, before, program.grid)


def _inputs(stream: StreamPlan, stage: Stage) -> list[Input]:
    return [one for one in stage.inputs if one.source == stream.schema.name]


def _carried(stream: StreamPlan, stage: Stage) -> Carried:
    schema, inputs = stream.schema, _inputs(stream, stage)
    uncertainty, is_derived = schema.uncertainty, _looks_across_keys(stream, inputs)
    widest = uncertainty.widest if isinstance(uncertainty, ImpreciseTime) else None
    return replace(
        Carried.of(stream, _read(stream, inputs), is_derived=is_derived),
        useful=_useful(inputs) if schema.id is None else None,
        widest=None if widest is None else schema.units(widest),
        # rows with one id may lie in different partitions
        is_distinct=is_derived or any(not set(one.key) <= set(schema.key) for one in inputs),
    )


def _looks_across_keys(stream: StreamPlan, inputs: list[Input]) -> bool:
    """Whether derived columns look at rows that may not be there where the key of a stage is complete."""
    looks_back = stream.reset_when is not None or any(
        isinstance(part, e.PreviousColumn | e.SinceChange) for one in stream.derived for part in e.walk(one.expr)
    )
    return looks_back and any(not one.key or one.key != stream.schema.key for one in inputs)


def _useful(inputs: list[Input]) -> Conditions | None:
    """The filter for rows that no leaf can use; nothing where tables take part in it."""
    kept = [(one.keep,) for one in inputs if one.keep is not None and not one.atoms]
    return kept if len(kept) == len(inputs) else None


def _read(stream: StreamPlan, inputs: list[Input]) -> Iterator[str]:
    """The columns that somebody reads, by the names that they have in the stream."""
    if isinstance(stream.schema.uncertainty, ImpreciseTime) and stream.schema.uncertainty.weights is not None:
        yield stream.schema.uncertainty.weights
    exprs = [column.expr for column in stream.derived]
    for one in inputs:
        yield from one.key
        yield from (name.rsplit("|", 1)[0] for name in one.columns)
        exprs += [bit.expr for bit in (*one.early, *one.late)]
        exprs += [computed.expr for computed in one.computed]
        exprs += [arg for atom in one.atoms for arg in atom.args if arg is not None]
    for expr in exprs:
        for part in e.walk(expr):
            if isinstance(part, e.ColumnOf | e.KeyColumn | e.PreviousColumn | e.SinceChange):
                yield part.column
                yield part.column.rsplit("|", 1)[0]


Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ChainState:
    """Rows of each stage that chains may still need, and the last row of each key where columns look back."""

    stages: tuple[pa.Table, ...] = ()
    last: Mapping[str, pa.Table] = field(default_factory=dict)
    until: int = -FOREVER


@dataclass(frozen=True, slots=True)
class ChainEvaluator(PartEvaluator):
    """Finds all chains of a program."""

    program: ChainProgram
    tables: Mapping[str, pa.Table]
    sampling: Sampling

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> ChainEvaluator | None:
        """None where no event of the plan is a chain."""
        begun = context.begun.get(Evaluator.CHAIN)
        placement = None if begun is None else begun.placement
        program = ChainProgram.of(plan, context.expressions, context.unit, placement)
        return None if program is None else cls(program, context.facts, context.sampling or Sampling())

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
        """Conditions on single rows, and columns that look back, are decided when the rows are taken."""
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
        """First links that have happened by now, among the rows that are kept and those that come next."""
        arrived, _ = self._prepared(self.complete(rows), state.last)
        (declared,) = (one for one in self.program.part.events if one.name == event)
        for stage, old, new in zip(self.program.physical.stages, state.stages, arrived, strict=True):
            evaluator = self.program.evaluators(stage).get(event)
            if evaluator is not None:
                events = StageEvents.of(self.program, stage, pa.concat_tables([old, new]))
                chains = OpenChains(evaluator, declared, state.until, now)
                if chains.has_eager_part:
                    sampled = chains.sampled(events.batch, events.moments, events.n_keys, self.sampling)
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
        """Rows of streams as rows of each stage, and the last rows of keys where columns look back."""
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
        self, evaluator: ChainEvent, events: StageEvents, is_new: Mask, before: int, now: int
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

    def _settled(self, evaluator: ChainEvent, events: StageEvents) -> Ints:
        """When nothing can join or prevent a chain any more that begins with each event."""
        if evaluator.window <= 0:
            return np.full(len(events.moments), FOREVER)
        return (events.moments.upper + evaluator.window - 1) * evaluator.grid

    def _needed(self, evaluator: ChainEvent, events: StageEvents, now: int) -> Mask:
        """The events that chains may still have to do with of which nothing was emitted yet."""
        grid, window = evaluator.grid, evaluator.window
        waiting = self._settled(evaluator, events) > now
        if not evaluator.chain.depends_on_others:
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
    """Rows of a stage with the weights of their ticks, in the form that another version of the stage expects."""
    weights = rows[WEIGHTS].filter(pa.array(layout.is_kept(rows)))
    return layout.rows(rows).append_column(WEIGHTS, weights)
