"""Rows as symbols: the minterms of the conditions of a pattern and of the features of its model.

Ntoulias et al. (Wayeb), section 3.1: minterms as the finite alphabet of a symbolic automaton.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from inkling.analysis.joint_conditions import joint_conditions
from inkling.analysis.row_conditions import exclusive_pairs
from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.guards import Guard
from inkling.automata.regex import Counting, RegexPattern
from inkling.automata.run.cells import CellGroup, cell_groups
from inkling.automata.run.rows import AutomatonRows
from inkling.evaluators.automaton.events import to_regex
from inkling.evaluators.stage.rows.batches import comes_from, picked_bits
from inkling.evaluators.stage.rows.row_tests import resets_in
from inkling.forecasting.models.chain import moves
from inkling.forecasting.models.counts import MOST_BITS, Histories
from inkling.kernels.automaton.order import any_tied
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.expr import Expr
from inkling.logical.plan import forecast_of
from inkling.model.batch import FOREVER, EventBatch, Ints, MatchBatch
from inkling.physical.plan import EventStep
from inkling.physical.printing.explain import row_text

MOST_SYMBOLS = 64
"""The limit on symbols that are kept per key; they and the next one must fit into 62 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class SymbolReader:
    """The automaton of a forecast, and the conditions that make symbols of rows."""

    dfa: Dfa
    delta: NDArray[np.int32]  # [state, symbol]
    scope: tuple[int, ...]
    own: NDArray[np.int16]  # by input: its number among those of the event
    bits: tuple[int, ...]
    resets: tuple[int | None, ...]  # by input: the condition on which a row resets its key
    group: CellGroup
    guards: tuple[Guard, ...]
    truths: tuple[int, ...]  # by symbol: the guards that hold

    @classmethod
    def of(cls, step: EventStep, n_inputs: int, resets: tuple[int | None, ...]) -> SymbolReader:
        """Conditions and inputs are numbered as the event names them: its symbols do not depend on other events."""
        event, forecast = step.event, forecast_of(step.event)
        positions = dict.fromkeys((*step.scope, *sorted(step.inputs)))
        numbers = {position: number for number, position in enumerate(positions)}
        leaves = (replace(leaf, inputs=tuple(numbers[one] for one in leaf.inputs)) for leaf in step.leaves)
        scope, step = step.scope, replace(step, leaves=tuple(leaves))
        bits = tuple(dict.fromkeys(bit for leaf in step.leaves for bit in leaf.bits))
        place = {bit: number for number, bit in enumerate(bits)}
        counting = Counting.RESTART if event.restart else Counting.OVERLAP
        tests = [step.leaf(feature.slot) for feature in forecast.features]
        extras = [Guard(frozenset(test.inputs), frozenset(place[bit] for bit in test.bits)) for test in tests]
        conditions = {place[bit.number]: bit.expr for bit in step.conditions}
        exclusive, joint = exclusive_pairs(conditions), joint_conditions(conditions)
        pattern = RegexPattern(to_regex(step, place), counting)
        compiled = CompiledPattern.of(pattern, len(numbers), extras=extras, exclusive=exclusive, joint=joint)
        dfa = compiled.dfa()
        delta = moves(dfa)
        (group,) = cell_groups([compiled.alphabet])
        alphabet = compiled.alphabet
        own = np.array([numbers.get(position, 0) for position in range(n_inputs)], np.int16)
        return cls(dfa, delta, scope, own, bits, resets, group, alphabet.guards, alphabet.truths[1:])

    @property
    def n_symbols(self) -> int:
        return self.delta.shape[1]

    @property
    def memory(self) -> int:
        """The number of last symbols that are kept per key, the limit of the order of models."""
        fitting = takewhile(lambda n: self.n_symbols ** (n + 1) < 1 << MOST_BITS, range(1, MOST_SYMBOLS + 1))
        return max(fitting, default=1)

    def in_scope(self, batch: EventBatch) -> EventBatch:
        """The rows of the scope; of rows that ORDER BY leaves unordered, only the first."""
        inside = comes_from(batch, self.scope)
        if not inside.all():
            batch = batch.take(np.flatnonzero(inside))
        if not any_tied(batch.key, batch.end, batch.end_place):
            return batch
        same = (batch.key[1:] == batch.key[:-1]) & (batch.end[1:] == batch.end[:-1])
        tied = same & (batch.end_place[1:] == batch.end_place[:-1])
        return batch.take(np.flatnonzero(np.concatenate([[True], ~tied])))

    def read(self, batch: EventBatch) -> tuple[NDArray[np.int32], Ints]:
        """The symbol of each row, -1 where it resets its key; the first row of each key, and the number of rows."""
        rows = AutomatonRows.of(batch.key, self.own[batch.source], picked_bits(self.bits, batch.bits))
        cells = rows.cells((self.group,))[0]
        symbols = self.group.symbols[0][cells] - np.int32(1)
        if any(bit is not None for bit in self.resets):
            symbols[resets_in(self.resets, batch)] = -1
        return np.ascontiguousarray(symbols, np.int32), rows.segments

    def symbols_of(self, words: Sequence[NDArray[np.uint64]]) -> NDArray[np.int32]:
        """The symbol of each row of the only input, by its predicate masks."""
        packed = picked_bits(self.bits, np.column_stack(words))
        none = np.zeros(len(packed), np.int64)
        cells = AutomatonRows.of(none, self.own[none], packed).cells((self.group,))[0]
        return np.asarray(self.group.symbols[0][cells] - np.int32(1), np.int32)


OTHER = "any other event"


def symbol_words(step: EventStep, reader: SymbolReader) -> tuple[str, ...]:
    """By symbol, the conditions that hold, as text."""
    conditions = {one.number: one.expr for one in step.conditions}
    texts = {place: _text(conditions[bit]) for place, bit in enumerate(reader.bits)}
    read = [source for source in step.event.scope if source in step.event.sources]
    sources = dict(enumerate(read)) if len(read) > 1 else {}
    parts = []
    for guard in reader.guards:
        name = "|".join(sources[place] for place in sorted(guard.streams or ()) if place in sources)
        asked = " and ".join(texts[place] for place in sorted(guard.bits))
        parts.append(f"{name}[{asked}]" if name and asked else name or asked)
    held = [[part for place, part in enumerate(parts) if part and truth >> place & 1] for truth in reader.truths]
    return tuple(" and ".join(dict.fromkeys(some)) or OTHER for some in held)


def _text(condition: Expr) -> str:
    text = row_text(condition)
    return f"({text})" if isinstance(condition, e.AnyOf) else text


@dataclass(frozen=True)
class SymbolEvent(ABC):
    """A forecast, or the learning of its model: rows of the event are read as symbols."""

    step: EventStep
    n_inputs: int
    resets: tuple[int | None, ...]
    context: ExpressionContext

    @cached_property
    def reader(self) -> SymbolReader:
        return SymbolReader.of(self.step, self.n_inputs, self.resets)

    def evaluate(self, batch: EventBatch, n_keys: int, until: int) -> MatchBatch:
        """All results over whole keys."""
        return self.go_on(batch, Histories.new(n_keys), np.full(n_keys, -FOREVER))

    @abstractmethod
    def go_on(self, batch: EventBatch, histories: Histories, last: Ints) -> MatchBatch:
        """The results of the next events of each key.

        `histories` and the times of the `last` events, by key code, are the state and are updated.
        """
