"""One query over probable streams: from rows of complete times to answers with what results show.

Rows become alternatives (`ProbableEvents`) with predicate masks; the engine of the strategy turns these into `Answers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.query.plans import NoSafePlan
from inkling.analysis.query.query import Query, accepted, candidate, of_row
from inkling.analysis.query.strategy import Engine, Strategy
from inkling.automata.limits import TooManyStates, TooManySymbols
from inkling.errors import InputError
from inkling.evaluators.memory import working_on
from inkling.evaluators.protocol import SPARE
from inkling.evaluators.query.answers import Answers, answer_table, ever, shown
from inkling.evaluators.query.automaton.regular import Regular
from inkling.evaluators.query.groundings import Groundings, grounding_of_rows, groundings_of
from inkling.evaluators.query.probable_events import Numbers, ProbableEvents, probable_events_of
from inkling.evaluators.query.safe.joint_states import TooManyValues
from inkling.evaluators.query.safe.plan import Safe
from inkling.evaluators.query.sets.sampled import WorldSampler
from inkling.evaluators.query.sets.universal import Universal, UniversalState
from inkling.evaluators.stage.rows.conditions import RowColumns, prepared
from inkling.io.normalize import ID
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, Per
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes, row_hashes
from inkling.model.runs import changes
from inkling.model.schema import StreamSchema


@dataclass(frozen=True)
class QueryEvent:
    """Answers one event that is a Lahar query."""

    event: EventPlan
    strategy: Strategy
    schemas: Mapping[str, StreamSchema]
    context: ExpressionContext
    sampling: WorldSampler = field(default_factory=WorldSampler)
    on_stream: bool = False  # safe plans may neglect little, to keep less; automata also say what waits

    @cached_property
    def engine(self) -> Regular | Safe | Universal:
        """The engine that the strategy names, or sets of partial matches where its automaton would be too large."""
        one, once = self.strategy, self.event.per is Per.VALUES
        try:
            if one.engine is Engine.SAFE:
                assert not isinstance(one.plan, NoSafePlan)
                safe = Safe(one.query, one.plan, ever=once, tolerance=SPARE if self.on_stream else 0.0)
                safe.top  # noqa: B018  (compiles the plan, which may raise)
                return safe
            if one.engine is Engine.CHAINS:
                regular = Regular.of(one.query, len(one.query.subgoals), one.variables, ever=once)
                automaton = regular.automaton.with_open_prefixes() if self.on_stream else regular.automaton
                return replace(regular, automaton=automaton)
        except (TooManyStates, TooManySymbols):
            pass
        return self.universal

    @cached_property
    def universal(self) -> Universal:
        return Universal(self.strategy.query, self.strategy.variables, self.context, sampling=self.sampling)

    def groundings(self, source: str, rows: pa.Table) -> Hashes:
        return grounding_of_rows(self.strategy.query, self.strategy.variables, source, rows)

    def start(self) -> Any:
        return self.engine.start()

    def advance(self, state: Any, tables: Mapping[str, pa.Table], *, exact: bool = False) -> tuple[Any, pa.Table]:
        """The state and the answers after a block of complete times, later than all times before."""
        working_on(self.event.name)
        query = self.strategy.query
        may_sample = isinstance(self.engine, Universal)
        events = probable_events_of(query, self.schemas, tables, exact_numbers=exact, canonical=may_sample)
        predicates = predicates_of(query, events, tables, self.context)
        return self.ingest(state, events, predicates, tables)

    def ingest(
        self, state: Any, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table]
    ) -> tuple[Any, pa.Table]:
        """The same for alternatives in order; the automaton engine reads only outputs from the tables."""
        working_on(self.event.name)
        after, answers = self._answers(state, events, predicates, tables)
        if self.event.per is Per.VALUES:
            answers = ever(answers)
        return after, self._found(answers, events, predicates, tables)

    def _answers(
        self, state: Any, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table]
    ) -> tuple[Any, Answers]:
        if isinstance(state, UniversalState):
            return self.universal.advance(state, events, predicates, tables)
        assert not isinstance(self.engine, Universal)
        try:
            return self.engine.advance(state, events, predicates)
        except TooManyValues as many:
            if state.groundings:
                raise self._cannot_go_on(many) from None
            return self.universal.advance(self.universal.start(), events, predicates, tables)

    def _cannot_go_on(self, many: TooManyValues) -> InputError:
        return InputError.of(
            "INK0658",
            f"`{self.event.name}` cannot continue: {many}",
            notes=("rows of new keys arrived, and events of several keys depend on the past",),
            helps=("add PARTITION BY with the KEY, or run the program over files, where such results are sampled",),
        )

    def _found(
        self, answers: Answers, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table]
    ) -> pa.Table:
        query, n = self.strategy.query, len(self.strategy.query.subgoals)
        likely = events.chance if answers.weight is None else answers.weight
        ends = _LastRows.of(events, predicates, groundings_of(query, self.strategy.variables, events, n), n - 1, likely)
        place = ends.places(answers)
        row = events.row[ends.row[place]]
        last = query.subgoals[-1]
        source = tables[last.source]
        chosen = source.take(pa.array(row))
        outputs = (*self.event.head, *self.event.returns)
        values = {output.name: self._shown(output.expr, chosen) for output in outputs}
        return answer_table(
            values,
            chosen[ID],
            grounding=answers.grounding,
            head=self._heads(values, chosen),
            end=answers.time,
            known=answers.time if answers.known is None else answers.known,
            start=answers.start,
            chance=answers.chance,
            error=answers.error,
        )

    def _heads(self, values: Mapping[str, pa.Array], rows: pa.Table) -> Hashes:
        """What distinguishes results: partition and head."""
        keys = [shown(e.KeyColumn(column.name, column.type), rows, self.context) for column in self.event.partition]
        return row_hashes((*keys, *(values[output.name] for output in self.event.head)), len(rows))

    def _shown(self, expr: e.Expr, rows: pa.Table) -> pa.Array:
        return shown(self._at_last(expr), rows, self.context)

    def _at_last(self, expr: e.Expr) -> e.Expr:
        """An output, which depends on shared variables only, rewritten to read the row of the last event."""
        query = self.strategy.query
        last = len(query.subgoals) - 1
        subgoal_of = {subgoal.slot: number for number, subgoal in enumerate(query.subgoals)}
        match expr:
            case e.KeyColumn(column=column, type=kind):
                return e.ColumnOf(e.ROW, column, kind)
            case e.ColumnOf(slot=slot, column=column, type=kind) | e.ListColumn(slot=slot, column=column, type=kind):
                for one in query.variables:
                    if any(place.subgoal == subgoal_of[slot] and place.column == column for place in one.places):
                        return e.ColumnOf(e.ROW, min(query.key_columns(one, last)), kind)
                raise AssertionError("a result shows what its matches do not share")
            case _:
                return e.rebuilt(expr, self._at_last)


@dataclass(frozen=True, slots=True)
class _LastRows:
    """Per grounding and time, the most probable row with which a match can end; sorted by grounding and time."""

    grounding: Hashes
    time: Ints
    row: Ints

    @classmethod
    def of(
        cls, events: ProbableEvents, predicates: Ints, groundings: Groundings, last: int, likely: Numbers
    ) -> _LastRows:
        group = events.group
        stream = events.stream[group]
        rows = np.flatnonzero((predicates & accepted(last) != 0) & groundings.reads[last][stream])
        grounding, time = groundings.grounding[stream[rows]], events.time[group[rows]]
        least = -likely[rows].astype(np.float64)
        order = np.lexsort((events.row[rows], events.value[rows], least, time, grounding))
        rows, grounding, time = rows[order], grounding[order], time[order]
        first = changes(grounding) | changes(time)
        return cls(grounding[first], time[first], rows[first])

    def places(self, answers: Answers) -> Ints:
        """The place of the grounding and time of each answer."""
        groundings, grounding = np.unique(self.grounding, return_inverse=True)
        times, time = np.unique(self.time, return_inverse=True)
        wanted = np.searchsorted(groundings, answers.grounding) * len(times) + np.searchsorted(times, answers.time)
        place = np.minimum(np.searchsorted(grounding * len(times) + time, wanted), max(len(grounding) - 1, 0))
        found = (self.grounding[place] == answers.grounding) & (self.time[place] == answers.time)
        assert found.all(), "an answer without an event that it ends with"
        return place


def predicates_of(
    query: Query, events: ProbableEvents, tables: Mapping[str, pa.Table], context: ExpressionContext
) -> Ints:
    """The predicate mask of each row: for every subgoal whether the row is a candidate, and accepted."""
    by_source = {name: source_predicates(query, name, tables[name], context) for name in events.sources}
    predicates = np.zeros(len(events.row), np.int64)
    source = events.source[events.stream[events.group]]
    for number, name in enumerate(events.sources):
        mine = source == number
        predicates[mine] = by_source[name][events.row[mine]]
    return predicates


def source_predicates(query: Query, source: str, rows: pa.Table, context: ExpressionContext) -> Ints:
    """The same for the rows of one declared stream."""
    predicates = np.zeros(len(rows), np.int64)
    columns = RowColumns(rows)
    known: dict[e.Expr, NDArray[np.bool_]] = {}

    def holds(conditions: Iterable[e.Expr]) -> NDArray[np.bool_]:
        truth = np.ones(len(rows), bool)
        for condition in conditions:
            if condition not in known:
                known[condition] = prepared(condition, context)(columns)
            truth &= known[condition]
        return truth

    for number, subgoal in enumerate(query.subgoals):
        if subgoal.source == source:
            taken = holds(of_row(one, subgoal) for one in subgoal.filters)
            good = taken & holds(of_row(one, subgoal) for one in subgoal.accepts)
            predicates |= taken * candidate(number) | good * accepted(number)
    return predicates
