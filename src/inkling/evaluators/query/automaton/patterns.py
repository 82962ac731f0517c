"""Any regular pattern over one stream of alternatives, by its key: exact, however the pattern looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from inkling.analysis.query.pattern import PatternAutomaton
from inkling.analysis.query.strategy import Strategy
from inkling.evaluators.hashes import Hashes
from inkling.evaluators.query.answers import last_time
from inkling.evaluators.query.automaton.forward import forward_by_key, nothing_seen, whole_keys
from inkling.evaluators.query.automaton.regular import COMPILED, ForwardState, RunSizes
from inkling.evaluators.query.automaton.transitions import SymbolTables, symbol_tables
from inkling.evaluators.query.event import CHANCE, END, ERROR, HEAD, KNOWN, LAST, START, UNIT
from inkling.evaluators.query.probable_events import Numbers, probable_events_of, stream_names
from inkling.evaluators.stage.rows.conditions import RowColumns, prepared
from inkling.io.normalize import ID
from inkling.kernels.query.forward import NEVER
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.expr import ROW, ColumnOf, Expr, KeyColumn, rebuilt
from inkling.logical.plan import EventPlan, Per
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema


@dataclass(frozen=True, slots=True)
class PatternEngine:
    """The automaton of a pattern, and the conditions that make symbols of rows."""

    automaton: PatternAutomaton
    runs: RunSizes
    restart: bool

    @classmethod
    def of(cls, automaton: PatternAutomaton) -> PatternEngine:
        compiled = automaton.compiled
        n_rows = automaton.dfa.n_states if compiled.restart else 1
        return cls(automaton, RunSizes(n_rows, compiled.nfa.n_states), compiled.restart)

    def start(self) -> ForwardState:
        return nothing_seen(self.automaton.dfa.n_states, self.runs)

    def predicates(self, rows: pa.Table, context: ExpressionContext) -> Ints:
        """Which conditions hold on each row, as bits."""
        columns = RowColumns(rows)
        predicates = np.zeros(len(rows), np.uint64)
        for place, condition in enumerate(self.automaton.conditions):
            predicates |= prepared(condition, context)(columns).astype(np.uint64) << np.uint64(place)
        return predicates.view(np.int64)

    def tables(self, predicates: Ints) -> tuple[SymbolTables, Ints]:
        """The transitions for predicate masks of rows, and the symbol of each row; symbol 0 stands for no event."""
        distinct, symbol = np.unique(predicates, return_inverse=True)
        minterms = [self._minterm(int(one)) for one in distinct.view(np.uint64)]
        n = len(minterms) + 1
        together = np.maximum(np.arange(n)[:, None], np.arange(n)[None, :])  # there is one event at a time
        found = symbol_tables(self.automaton.compiled, self.automaton.dfa, distinct, [0, *minterms], together)
        return found, symbol.ravel().astype(np.int64) + 1

    def _minterm(self, bits: int) -> int:
        minterm = self.automaton.compiled.alphabet.symbol(0, bits)
        assert minterm is not None, "conditions hold together that cannot"
        return minterm


@dataclass(frozen=True)
class PatternEvaluator:
    """An event as `QueryEvent` answers others: `start()`, then `advance(state, rows of complete times)`."""

    event: EventPlan
    strategy: Strategy
    schemas: Mapping[str, StreamSchema]
    context: ExpressionContext
    kernels: SimpleNamespace = field(default_factory=lambda: COMPILED)

    @cached_property
    def engine(self) -> PatternEngine:
        assert self.strategy.automaton is not None
        return PatternEngine.of(self.strategy.automaton)

    def units(self, source: str, rows: pa.Table) -> Hashes:
        return stream_names(self.schemas[source], rows)

    def start(self) -> ForwardState:
        return self.engine.start()

    def advance(
        self, state: ForwardState, tables: Mapping[str, pa.Table], *, exact: bool = False
    ) -> tuple[ForwardState, pa.Table]:
        """What is known of times that are complete, later than all before."""
        after, ends = self.ends(state, tables, exact=exact)
        (source,) = self.strategy.query.sources
        chosen = tables[source].take(pa.array(ends.row))
        columns = {
            output.name: shown(output.expr, chosen, self.context) for output in (*self.event.head, *self.event.returns)
        }
        columns[UNIT] = pa.array(ends.unit)
        columns[HEAD] = pa.array(ends.unit.view(np.int64))
        columns[END] = pa.array(ends.time)
        columns[KNOWN] = pa.array(ends.known)
        columns[START] = pa.array(ends.start)
        columns[CHANCE] = pa.array(ends.chance.astype(np.float64))
        columns[ERROR] = pa.array(np.zeros(len(ends.row)))
        columns[LAST] = chosen[ID]
        return after, pa.table(columns)

    def ends(
        self, state: ForwardState, tables: Mapping[str, pa.Table], *, exact: bool = False
    ) -> tuple[ForwardState, MatchEnds]:
        """Where matches end: each time that can be, or with PER VALUES once per key."""
        engine, query, once = self.engine, self.strategy.query, self.event.per is Per.VALUES
        (source,) = query.sources
        events = probable_events_of(query, self.schemas, tables, exact_numbers=exact, canonical=False)
        symbols, symbol = engine.tables(engine.predicates(tables[source], self.context)[events.row])
        found = forward_by_key(
            state, events, symbols, symbol, engine.runs, restart=engine.restart, ever=once, kernels=self.kernels
        )
        groups = np.flatnonzero((found.start < NEVER) & whole_keys(events)[events.stream])
        stream, start, chance = events.stream[groups], found.start[groups], found.out[groups]
        known = events.time[groups]
        if once and len(groups):
            first = np.flatnonzero(np.append(True, stream[1:] != stream[:-1]))
            known = last_time(known, chance, first)
            groups = groups[np.append(first[1:], len(groups)) - 1]
            stream, start, chance = stream[first], np.minimum.reduceat(start, first), np.add.reduceat(chance, first)
        row = events.row[found.last[groups]]
        return found.after, MatchEnds(events.name[stream], events.time[groups], known, start, chance, row)


@dataclass(frozen=True, slots=True)
class MatchEnds:
    """That matches of a unit end: when, when all know, how early they can have begun, how probably, with which row."""

    unit: Hashes
    time: Ints
    known: Ints
    start: Ints
    chance: Numbers
    row: Ints


def shown(expr: Expr, rows: pa.Table, context: ExpressionContext) -> pa.Array:
    """The value of an output that depends on the key, of some rows."""

    def on_row(part: Expr) -> Expr:
        if isinstance(part, KeyColumn):
            return ColumnOf(ROW, part.column, part.type)
        return rebuilt(part, on_row)

    def resolve(part: Expr) -> pa.Array:
        assert isinstance(part, ColumnOf)
        return rows[part.column].combine_chunks()

    return evaluate(on_row(expr), resolve, len(rows), context).cast(ARROW_TYPES[expr.type])
