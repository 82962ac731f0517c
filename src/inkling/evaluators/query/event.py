"""One event over probable streams: ingests rows of complete times, and gives the probabilities of its results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.query.bits import accepted, candidate, of_row
from inkling.analysis.query.plans import NoSafePlan
from inkling.analysis.query.query import Query
from inkling.analysis.query.strategy import Engine, Strategy
from inkling.automata.limits import TooManyStates, TooManySymbols
from inkling.errors import InputError
from inkling.evaluators.hashes import Hashes, row_hashes
from inkling.evaluators.query.answers import Answers, ever
from inkling.evaluators.query.automaton.regular import Regular
from inkling.evaluators.query.probable_events import Numbers, ProbableEvents, probable_events_of
from inkling.evaluators.query.safe.layout import TooManyValues
from inkling.evaluators.query.safe.plan import Safe
from inkling.evaluators.query.sets.sampled import WorldSampler
from inkling.evaluators.query.sets.universal import Universal, UniversalState
from inkling.evaluators.query.units import Groundings, unit_of_rows, units_of
from inkling.evaluators.stage.rows.conditions import RowColumns, prepared
from inkling.io.normalize import ID
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, Per
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema

UNIT, HEAD, END, KNOWN, START = "@unit", "@head", "@end", "@known", "@start"
CHANCE, ERROR, LAST = "@chance", "@error", "@last"
"""Columns of what was found, beside the values of the head: what is independent of other units, the identity of
results, times, probability, error, and the id of the last event."""


@dataclass(frozen=True)
class QueryEvent:
    event: EventPlan
    strategy: Strategy
    schemas: Mapping[str, StreamSchema]
    context: ExpressionContext
    sampling: WorldSampler = field(default_factory=WorldSampler)
    spare: float = 0.0  # by which answers of safe plans may be too low

    @cached_property
    def engine(self) -> Regular | Safe | Universal:
        """Carries a state from block to block."""
        one, once = self.strategy, self.event.per is Per.VALUES
        try:
            if one.engine is Engine.SAFE:
                assert not isinstance(one.plan, NoSafePlan)
                safe = Safe(one.query, one.plan, ever=once, spare=self.spare)
                safe.top  # noqa: B018  (raises what is caught here)
                return safe
            if one.engine is Engine.CHAINS:
                return Regular.of(one.query, len(one.query.stages), one.variables, ever=once)
        except (TooManyStates, TooManySymbols):
            pass
        return self.universal

    @cached_property
    def universal(self) -> Universal:
        return Universal(self.strategy.query, self.strategy.variables, self.context, sampling=self.sampling)

    def units(self, source: str, rows: pa.Table) -> Hashes:
        return unit_of_rows(self.strategy.query, self.strategy.variables, source, rows)

    def start(self) -> Any:
        return self.engine.start()

    def advance(self, state: Any, tables: Mapping[str, pa.Table], *, exact: bool = False) -> tuple[Any, pa.Table]:
        """What is known of times that are complete, later than all before."""
        query = self.strategy.query
        drawn = isinstance(self.engine, Universal)
        events = probable_events_of(query, self.schemas, tables, exact_numbers=exact, canonical=drawn)
        predicates = predicates_of(query, events, tables, self.context)
        return self.ingest(state, events, predicates, tables)

    def ingest(
        self, state: Any, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table]
    ) -> tuple[Any, pa.Table]:
        """The same, of alternatives that are in order; automata read no more of the tables than what results show."""
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
            if state.units:
                raise self._cannot_go_on(many) from None
            return self.universal.advance(self.universal.start(), events, predicates, tables)

    def _cannot_go_on(self, many: TooManyValues) -> InputError:
        return InputError.of(
            "INK0658",
            f"`{self.event.name}` cannot continue: {many}",
            notes=("its parts follow several keys whose values depend on the past, and rows of new ones have come",),
            helps=("PARTITION BY the KEY, or run the program over files, where too many are sampled",),
        )

    def _found(
        self, answers: Answers, events: ProbableEvents, predicates: Ints, tables: Mapping[str, pa.Table]
    ) -> pa.Table:
        query, n = self.strategy.query, len(self.strategy.query.stages)
        likely = events.chance if answers.weight is None else answers.weight
        ends = _LastRows.of(events, predicates, units_of(query, self.strategy.variables, events, n), n - 1, likely)
        place = ends.places(answers)
        row = events.row[ends.row[place]]
        last = query.stages[-1]
        source = tables[last.source]
        chosen = source.take(pa.array(row))
        columns = {output.name: self._shown(output.expr, chosen) for output in (*self.event.head, *self.event.returns)}
        columns[UNIT] = pa.array(answers.unit)
        columns[HEAD] = self._heads(columns, chosen)
        columns[END] = pa.array(answers.time)
        columns[KNOWN] = pa.array(answers.time if answers.known is None else answers.known)
        columns[START] = pa.array(answers.start)
        columns[CHANCE] = pa.array(answers.chance.astype(np.float64))
        columns[ERROR] = pa.array(answers.error)
        columns[LAST] = chosen[ID]
        return pa.table(columns)

    def _heads(self, shown: Mapping[str, pa.Array], rows: pa.Table) -> pa.Array:
        """What distinguishes results: partition and head."""
        keys = [self._shown(e.KeyColumn(column.name, column.type), rows) for column in self.event.partition]
        values = [shown[output.name] for output in self.event.head]
        found = row_hashes((*keys, *values), len(rows))
        return pa.array(found.view(np.int64))

    def _shown(self, expr: e.Expr, rows: pa.Table) -> pa.Array:
        """The value of an output that all events of a match have in common, read from the last."""
        mine = self._at_last(expr)

        def resolve(part: e.Expr) -> pa.Array:
            assert isinstance(part, e.ColumnOf)
            return rows[part.column].combine_chunks()

        return evaluate(mine, resolve, len(rows), self.context).cast(ARROW_TYPES[expr.type])

    def _at_last(self, expr: e.Expr) -> e.Expr:
        query = self.strategy.query
        last = len(query.stages) - 1
        stage_of = {stage.slot: number for number, stage in enumerate(query.stages)}
        match expr:
            case e.KeyColumn(column=column, type=kind):
                return e.ColumnOf(e.ROW, column, kind)
            case e.ColumnOf(slot=slot, column=column, type=kind) | e.ListColumn(slot=slot, column=column, type=kind):
                for one in query.variables:
                    if any(place.stage == stage_of[slot] and place.column == column for place in one.places):
                        keys = {name for name in one.columns_in(last) if query.source(last).is_key(name)}
                        return e.ColumnOf(e.ROW, min(keys), kind)
                raise AssertionError("a result shows what its matches do not share")
            case _:
                return e.rebuilt(expr, self._at_last)


@dataclass(frozen=True, slots=True)
class _LastRows:
    """Per unit and time, the most probable row with which a match can end."""

    unit: Hashes
    time: Ints
    row: Ints

    @classmethod
    def of(cls, events: ProbableEvents, predicates: Ints, units: Groundings, last: int, likely: Numbers) -> _LastRows:
        group = events.group
        stream = events.stream[group]
        rows = np.flatnonzero((predicates & accepted(last) != 0) & units.reads[last][stream])
        unit, time = units.unit[stream[rows]], events.time[group[rows]]
        least = -likely[rows].astype(np.float64)
        order = np.lexsort((events.row[rows], events.value[rows], least, time, unit))
        rows, unit, time = rows[order], unit[order], time[order]
        first = np.ones(len(rows), bool)
        first[1:] = (unit[1:] != unit[:-1]) | (time[1:] != time[:-1])
        return cls(unit[first], time[first], rows[first])

    def places(self, answers: Answers) -> Ints:
        """Where the unit and time of each answer is."""
        units, unit = np.unique(self.unit, return_inverse=True)
        times, time = np.unique(self.time, return_inverse=True)
        wanted = np.searchsorted(units, answers.unit) * len(times) + np.searchsorted(times, answers.time)
        place = np.minimum(np.searchsorted(unit * len(times) + time, wanted), max(len(unit) - 1, 0))
        found = (self.unit[place] == answers.unit) & (self.time[place] == answers.time)
        assert found.all(), "an answer without an event that it ends with"
        return place


def predicates_of(
    query: Query, events: ProbableEvents, tables: Mapping[str, pa.Table], context: ExpressionContext
) -> Ints:
    """Per row, the bits of all stages, decided by conditions on that row alone."""
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

    for number, stage in enumerate(query.stages):
        if stage.source == source:
            taken = holds(of_row(one, stage) for one in stage.filters)
            good = taken & holds(of_row(one, stage) for one in stage.accepts)
            predicates |= taken * candidate(number) | good * accepted(number)
    return predicates
