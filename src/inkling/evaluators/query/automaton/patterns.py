"""Regular patterns over one probable stream, one forward pass per key.

These are patterns that are no Lahar query, for example with negation, bounded repetition or CONSUME RESTART. Lahar's
regular expressions on Markov chains (section 3.1.2) apply to them all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from inkling.analysis.query.pattern import PatternAutomaton
from inkling.analysis.query.strategy import Strategy
from inkling.evaluators.query.answers import answer_table, last_time, shown
from inkling.evaluators.query.automaton.forward import COMPILED, ForwardState, RunSizes, forward_by_key, has_whole_key
from inkling.evaluators.query.automaton.transitions import SymbolTables, symbol_tables
from inkling.evaluators.query.probable_events import Numbers, probable_events_of, stream_names
from inkling.evaluators.stage.rows.conditions import RowColumns, prepared
from inkling.io.normalize import ID
from inkling.kernels.query.forward import NEVER
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, Per
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes
from inkling.model.runs import changes
from inkling.model.schema import StreamSchema


@dataclass(frozen=True, slots=True)
class PatternEngine:
    """The automaton of a pattern, and how rows become its symbols."""

    automaton: PatternAutomaton
    runs: RunSizes
    restart: bool

    @classmethod
    def of(cls, automaton: PatternAutomaton) -> PatternEngine:
        compiled = automaton.compiled
        n_rows = automaton.dfa.n_states if compiled.restart else 1
        return cls(automaton, RunSizes(n_rows, compiled.nfa.n_states), compiled.restart)

    def start(self) -> ForwardState:
        return ForwardState.empty(self.automaton.dfa.n_states, self.runs)

    def predicates(self, rows: pa.Table, context: ExpressionContext) -> Ints:
        """The predicate mask of each row: the conditions that hold on it, as bits."""
        columns = RowColumns(rows)
        predicates = np.zeros(len(rows), np.uint64)
        for place, condition in enumerate(self.automaton.conditions):
            predicates |= prepared(condition, context)(columns).astype(np.uint64) << np.uint64(place)
        return predicates.view(np.int64)

    def tables(self, predicates: Ints) -> tuple[SymbolTables, Ints]:
        """The tables for the predicate masks of rows, and the symbol of each row; symbol 0 stands for no event."""
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
    """Answers one event that is a regular pattern over one probable stream."""

    event: EventPlan
    strategy: Strategy
    schemas: Mapping[str, StreamSchema]
    context: ExpressionContext
    kernels: SimpleNamespace = field(default_factory=lambda: COMPILED)

    @cached_property
    def engine(self) -> PatternEngine:
        assert self.strategy.automaton is not None
        return PatternEngine.of(self.strategy.automaton)

    def groundings(self, source: str, rows: pa.Table) -> Hashes:
        return stream_names(self.schemas[source], rows)

    def start(self) -> ForwardState:
        return self.engine.start()

    def advance(
        self, state: ForwardState, tables: Mapping[str, pa.Table], *, exact: bool = False
    ) -> tuple[ForwardState, pa.Table]:
        """The state and the answers after a block of complete times, later than all times before."""
        after, ends = self.ends(state, tables, exact=exact)
        (source,) = self.strategy.query.sources
        chosen = tables[source].take(pa.array(ends.row))
        outputs = (*self.event.head, *self.event.returns)
        table = answer_table(
            {output.name: shown(output.expr, chosen, self.context) for output in outputs},
            chosen[ID],
            grounding=ends.grounding,
            head=ends.grounding,
            end=ends.time,
            known=ends.known,
            start=ends.start,
            chance=ends.chance,
            error=np.zeros(len(ends.row)),
        )
        return after, table

    def ends(
        self, state: ForwardState, tables: Mapping[str, pa.Table], *, exact: bool = False
    ) -> tuple[ForwardState, MatchEnds]:
        """Where matches end: every possible time, or with PER VALUES one answer per key."""
        engine, query, once = self.engine, self.strategy.query, self.event.per is Per.VALUES
        (source,) = query.sources
        events = probable_events_of(query, self.schemas, tables, exact_numbers=exact, canonical=False)
        symbols, symbol = engine.tables(engine.predicates(tables[source], self.context)[events.row])
        found = forward_by_key(
            state, events, symbols, symbol, engine.runs, restart=engine.restart, ever=once, kernels=self.kernels
        )
        groups = np.flatnonzero((found.start < NEVER) & has_whole_key(events)[events.stream])
        stream, start, chance = events.stream[groups], found.start[groups], found.out[groups]
        known = events.time[groups]
        if once and len(groups):
            first = np.flatnonzero(changes(stream))
            known = last_time(known, chance, first)
            groups = groups[np.append(first[1:], len(groups)) - 1]
            stream, start, chance = stream[first], np.minimum.reduceat(start, first), np.add.reduceat(chance, first)
        row = events.row[found.last[groups]]
        return found.after, MatchEnds(events.name[stream], events.time[groups], known, start, chance, row)


@dataclass(frozen=True, slots=True)
class MatchEnds:
    """Ends of matches per key: time, when it is known, earliest start, probability, and the row that it ends with."""

    grounding: Hashes
    time: Ints
    known: Ints
    start: Ints
    chance: Numbers
    row: Ints
