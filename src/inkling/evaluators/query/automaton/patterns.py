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
from inkling.evaluators.query.automaton.forward import COMPILED, Runs, nothing_seen, walked, whole_keys
from inkling.evaluators.query.automaton.regular import ChainState
from inkling.evaluators.query.automaton.transitions import LetterTables, letter_tables
from inkling.evaluators.query.event import CHANCE, END, ERROR, HEAD, KNOWN, LAST, START, UNIT
from inkling.evaluators.query.grounding import Numbers, ground_of, stream_names
from inkling.evaluators.stage.conditions import RowColumns, prepared
from inkling.io.normalize import ID
from inkling.kernels.probable_patterns import NEVER
from inkling.logical.evaluate import Surroundings
from inkling.logical.expr import ROW, ColumnOf, Expr, KeyColumn, rebuilt
from inkling.logical.plan import EventPlan, Per
from inkling.logical.vectorized import ARROW_TYPES, evaluate
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema


@dataclass(frozen=True, slots=True)
class PatternEngine:
    """The automaton of a pattern, and how rows are spelled for it."""

    automaton: PatternAutomaton
    runs: Runs
    restart: bool

    @classmethod
    def of(cls, automaton: PatternAutomaton) -> PatternEngine:
        compiled = automaton.compiled
        n_rows = automaton.dfa.n_states if compiled.restart else 1
        return cls(automaton, Runs(n_rows, compiled.nfa.n_states), compiled.restart)

    def start(self) -> ChainState:
        return nothing_seen(self.automaton.dfa.n_states, self.runs)

    def words(self, rows: pa.Table, around: Surroundings) -> Ints:
        """Which conditions hold on each row, as bits."""
        columns = RowColumns(rows)
        words = np.zeros(len(rows), np.uint64)
        for place, condition in enumerate(self.automaton.conditions):
            words |= prepared(condition, around)(columns).astype(np.uint64) << np.uint64(place)
        return words.view(np.int64)

    def tables(self, words: Ints) -> tuple[LetterTables, Ints]:
        """What the letters of some rows do, and the letter of each; letter 0 stands for no event."""
        distinct, letter = np.unique(words, return_inverse=True)
        symbols = [self._symbol(int(one)) for one in distinct.view(np.uint64)]
        n = len(symbols) + 1
        together = np.maximum(np.arange(n)[:, None], np.arange(n)[None, :])  # there is one event at a time
        found = letter_tables(self.automaton.compiled, self.automaton.dfa, distinct, [0, *symbols], together)
        return found, letter.ravel().astype(np.int64) + 1

    def _symbol(self, bits: int) -> int:
        symbol = self.automaton.compiled.alphabet.symbol(0, bits)
        assert symbol is not None, "conditions hold together that cannot"
        return symbol


@dataclass(frozen=True)
class PatternEvaluator:
    """An event as `QueryEvent` answers others: `start()`, then `advance(state, rows of complete times)`."""

    event: EventPlan
    strategy: Strategy
    schemas: Mapping[str, StreamSchema]
    around: Surroundings
    kernels: SimpleNamespace = field(default_factory=lambda: COMPILED)

    @cached_property
    def engine(self) -> PatternEngine:
        assert self.strategy.automaton is not None
        return PatternEngine.of(self.strategy.automaton)

    def units(self, source: str, rows: pa.Table) -> Hashes:
        return stream_names(self.schemas[source], rows)

    def start(self) -> ChainState:
        return self.engine.start()

    def advance(
        self, state: ChainState, tables: Mapping[str, pa.Table], *, exact: bool = False
    ) -> tuple[ChainState, pa.Table]:
        """What is known of times that are complete, later than all before."""
        after, ends = self.ends(state, tables, exact=exact)
        (source,) = self.strategy.query.sources
        chosen = tables[source].take(pa.array(ends.row))
        columns = {
            output.name: shown(output.expr, chosen, self.around) for output in (*self.event.head, *self.event.returns)
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
        self, state: ChainState, tables: Mapping[str, pa.Table], *, exact: bool = False
    ) -> tuple[ChainState, Ends]:
        """Where matches end: each time that can be, or with PER VALUES once per key."""
        engine, query, once = self.engine, self.strategy.query, self.event.per is Per.VALUES
        (source,) = query.sources
        ground = ground_of(query, self.schemas, tables, exact_numbers=exact, canonical=False)
        letters, letter = engine.tables(engine.words(tables[source], self.around)[ground.row])
        found = walked(
            state, ground, letters, letter, engine.runs, restart=engine.restart, ever=once, kernels=self.kernels
        )
        groups = np.flatnonzero((found.start < NEVER) & whole_keys(ground)[ground.stream])
        stream, start, chance = ground.stream[groups], found.start[groups], found.out[groups]
        known = ground.time[groups]
        if once and len(groups):
            first = np.flatnonzero(np.append(True, stream[1:] != stream[:-1]))
            known = last_time(known, chance, first)
            groups = groups[np.append(first[1:], len(groups)) - 1]
            stream, start, chance = stream[first], np.minimum.reduceat(start, first), np.add.reduceat(chance, first)
        row = ground.row[found.last[groups]]
        return found.after, Ends(ground.name[stream], ground.time[groups], known, start, chance, row)


@dataclass(frozen=True, slots=True)
class Ends:
    """That matches of a unit end: when, when all know, how early they can have begun, how probably, with which row."""

    unit: Hashes
    time: Ints
    known: Ints
    start: Ints
    chance: Numbers
    row: Ints


def shown(expr: Expr, rows: pa.Table, around: Surroundings) -> pa.Array:
    """The value of an output that rests on the key, of some rows."""

    def on_row(part: Expr) -> Expr:
        if isinstance(part, KeyColumn):
            return ColumnOf(ROW, part.column, part.type)
        return rebuilt(part, on_row)

    def resolve(part: Expr) -> pa.Array:
        assert isinstance(part, ColumnOf)
        return rows[part.column].combine_chunks()

    return evaluate(on_row(expr), resolve, len(rows), around).cast(ARROW_TYPES[expr.type])
