"""The most probable course of events that ends with an answer: the Viterbi algorithm on values and automaton states.

The forward pass (Lahar, section 3.1.2) adds up all courses of events that lead to a state. Here only the most probable
one of each state is kept, with the way back to the one before. One answer takes time linear in the events before it.

    P[value d', state s'] = max over d and s with δ(s, symbol(d')) = s' of P[d' | d] · P[value d, state s]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.query.automaton.patterns import PatternEvaluator
from inkling.evaluators.query.automaton.regular import Regular, steps_of
from inkling.evaluators.query.automaton.transitions import SymbolTables, chain_tables
from inkling.evaluators.query.event import QueryEvent, predicates_of
from inkling.evaluators.query.groundings import groundings_of
from inkling.evaluators.query.probable_events import NO_EVENT, ProbableEvents, probable_events_of
from inkling.evaluators.query.program import QueryEventEvaluator
from inkling.logical.plan import Per
from inkling.model.batch import Ints, Mask
from inkling.model.hashes import Hashes
from inkling.model.uncertainty import TOLERANCE


@dataclass(frozen=True, slots=True)
class Course:
    """The events that happen on one course of events, as rows of each source, and its probability."""

    rows: Mapping[str, Ints]
    probability: float
    chain: _Chain

    def together(self, some: Mapping[str, Ints]) -> float:
        """The probability that some of its events happen, whatever else does; given as rows of each source."""
        events = self.chain.events
        source = events.source[events.stream[events.group]]
        wanted = np.zeros(len(events.row), bool)
        for number, name in enumerate(events.sources):
            wanted |= (source == number) & np.isin(events.row, some.get(name, np.empty(0, np.int64)))
        streams = np.unique(events.stream[events.group[wanted]])
        return float(np.prod([_happening(events, int(stream), wanted) for stream in streams]))


def _happening(events: ProbableEvents, stream: int, wanted: Mask) -> float:
    """The probability of the wanted rows of one stream: the forward pass without an automaton."""
    first, last = np.searchsorted(events.stream, [stream, stream + 1])
    mass = {int(NO_EVENT): 1.0}
    for group in range(first, last):
        rows = range(int(events.offsets[group]), int(events.offsets[group + 1]))
        after: dict[int, float] = {}
        left = {int(NO_EVENT): sum(mass.values())} if events.anew[group] or not events.markov[stream] else dict(mass)
        before = dict(left)
        for row in rows:
            given = int(events.given[row])
            share = before.get(given, 0.0) * float(events.chance[row])
            left[given] = left.get(given, 0.0) - share
            if share > 0 and (wanted[row] or not wanted[rows.start : rows.stop].any()):
                value = int(events.value[row]) if events.markov[stream] else int(NO_EVENT)
                after[value] = after.get(value, 0.0) + share
        if not wanted[rows.start : rows.stop].any():
            after[int(NO_EVENT)] = after.get(int(NO_EVENT), 0.0) + max(sum(left.values()), 0.0)
        mass = after
    return sum(mass.values())


def likeliest_course(
    evaluator: QueryEventEvaluator, tables: Mapping[str, pa.Table], grounding: np.uint64, until: int
) -> Course | None:
    """The most probable course up to `until`, when a match of the grounding ends; with PER VALUES, it ends by then.

    None if the event is not answered by an automaton. The course includes only streams of the grounding.
    """
    chain = _chain(evaluator, tables)
    if chain is None:
        return None
    unit = np.flatnonzero(chain.names == grounding)
    if not len(unit):
        return None
    steps = [one for one in chain.steps[int(unit[0])] if one.time <= until]
    chosen, log = _Search(chain, ever=evaluator.event.per is Per.VALUES).course(steps)
    source = chain.events.source[chain.events.stream[chain.events.group[chosen]]]
    rows = {
        name: np.sort(chain.events.row[chosen[source == number]]) for number, name in enumerate(chain.events.sources)
    }
    return Course(rows, float(np.exp(log)), chain)


@dataclass(frozen=True, slots=True)
class _Step:
    time: int
    groups: Ints


@dataclass(frozen=True, slots=True)
class _Chain:
    """The events of all groundings, and the symbols that an automaton reads."""

    events: ProbableEvents
    names: Hashes  # of the groundings
    steps: Sequence[Sequence[_Step]]  # of each grounding
    tables: SymbolTables
    symbol: Ints  # of each row


def _chain(evaluator: QueryEventEvaluator, tables: Mapping[str, pa.Table]) -> _Chain | None:
    if isinstance(evaluator, PatternEvaluator):
        return _of_pattern(evaluator, tables)
    if isinstance(evaluator, QueryEvent) and isinstance(evaluator.engine, Regular):
        return _of_query(evaluator, evaluator.engine, tables)
    return None


def _of_pattern(evaluator: PatternEvaluator, tables: Mapping[str, pa.Table]) -> _Chain:
    query, engine = evaluator.strategy.query, evaluator.engine
    (source,) = query.sources
    events = probable_events_of(query, evaluator.schemas, tables, canonical=False)
    symbols, symbol = engine.tables(engine.predicates(tables[source], evaluator.context)[events.row])
    borders = np.searchsorted(events.stream, np.arange(events.n_streams + 1)).tolist()
    steps = [
        [_Step(int(events.time[group]), np.array([group])) for group in range(*unit)] for unit in pairwise(borders)
    ]
    return _Chain(events, events.name, steps, symbols, symbol)


def _of_query(evaluator: QueryEvent, engine: Regular, tables: Mapping[str, pa.Table]) -> _Chain:
    query = evaluator.strategy.query
    events = probable_events_of(query, evaluator.schemas, tables, canonical=False)
    groundings = groundings_of(query, engine.variables, events, engine.n_subgoals)
    predicates = predicates_of(query, events, tables, evaluator.context)
    predicates &= groundings.masks[events.stream[events.group]]
    names, found = steps_of(events, groundings)
    symbols = chain_tables(engine.automaton, predicates)
    steps = [
        [_Step(int(found.time[one]), found.groups[found.first[one] : found.first[one + 1]]) for one in range(*unit)]
        for unit in pairwise(found.units.tolist())
    ]
    return _Chain(events, names, steps, symbols, symbols.symbols(predicates))


@dataclass(frozen=True, slots=True)
class _Moves:
    """The possible moves at a step: from a value of the Markovian stream to one, with a symbol."""

    given: Ints
    value: Ints
    symbol: Ints
    log: NDArray[np.float64]
    rows: Sequence[tuple[int, ...]]  # the events that happen


_NOTHING = 0
"""The number of the value of no event."""


class _Search:
    """The most probable course to each value and state, from step to step."""

    def __init__(self, chain: _Chain, *, ever: bool) -> None:
        self._chain, self._ever = chain, ever
        events = chain.events
        self._chained: Mask = events.markov[events.stream]
        self._values = np.unique(np.concatenate([[NO_EVENT], events.value, events.given]))
        self._n_states = len(chain.tables.delta)

    def course(self, steps: Sequence[_Step]) -> tuple[Ints, float]:
        """The rows of the course, in the order of time, and the logarithm of its probability.

        The last state stands for a match that has ended; no course leaves it.
        """
        best = np.full((len(self._values), self._n_states + 1), -np.inf)
        best[_NOTHING, 0] = 0.0
        trail: list[tuple[_Moves, Ints]] = []
        for place, step in enumerate(steps):
            moves = self._moves(step, np.flatnonzero(best.max(axis=1) > -np.inf))
            best, back = self._moved(best, moves, is_last=place == len(steps) - 1)
            trail.append((moves, back))
        at = int(best[:, -1].argmax()) * best.shape[1] + self._n_states
        log = float(best.ravel()[at])
        rows: list[int] = []
        for moves, back in reversed(trail):
            origin = int(back[at])
            move, state = divmod(origin, best.shape[1])
            rows += moves.rows[move]
            at = int(moves.given[move]) * best.shape[1] + state
        return np.array(rows[::-1], np.int64), log

    def _moved(self, best: NDArray[np.float64], moves: _Moves, *, is_last: bool) -> tuple[NDArray[np.float64], Ints]:
        """The best course to each value and state after a step, and which move and state it comes from."""
        tables, width = self._chain.tables, best.shape[1]
        found = best[moves.given] + moves.log[:, None]
        to = np.full(found.shape, self._n_states)
        to[:, :-1] = tables.delta[:, moves.symbol].T
        hits = tables.hit[:, moves.symbol].T
        if self._ever or is_last:
            to[:, :-1][hits] = self._n_states
        target = (moves.value[:, None] * width + to).ravel()
        order = np.argsort(found.ravel(), kind="stable")
        after, back = np.full(best.size, -np.inf), np.full(best.size, -1)
        after[target[order]] = found.ravel()[order]  # the most probable one is written last
        back[target[order]] = order
        return after.reshape(best.shape), back

    def _moves(self, step: _Step, active: Ints) -> _Moves:
        """The moves from values that are possible before a step."""
        chained = self._chained[step.groups]
        by_symbol = {0: _Choice(0.0, ())}
        for group in step.groups[~chained].tolist():
            by_symbol = self._joined(by_symbol, self._alternatives(group))
        one = self._stays(active) if not chained.any() else self._by_rows(int(step.groups[chained][0]), active)
        parts = [
            _Moves(
                one.given,
                one.value,
                self._chain.tables.union[one.symbol, symbol],
                one.log + choice.log,
                [rows + choice.rows for rows in one.rows],
            )
            for symbol, choice in by_symbol.items()
        ]
        return _Moves(
            np.concatenate([part.given for part in parts]),
            np.concatenate([part.value for part in parts]),
            np.concatenate([part.symbol for part in parts]),
            np.concatenate([part.log for part in parts]),
            [rows for part in parts for rows in part.rows],
        )

    def _stays(self, active: Ints) -> _Moves:
        """Where no Markovian stream has events, values stay."""
        none = np.zeros(len(active), np.int64)
        return _Moves(active, active, none, none.astype(np.float64), [()] * len(active))

    def _by_rows(self, group: int, active: Ints) -> _Moves:
        """From each value the alternatives of the Markovian stream, and no event where they leave a probability."""
        events = self._chain.events
        rows = np.arange(events.offsets[group], events.offsets[group + 1])
        given = np.searchsorted(self._values, events.given[rows])
        from_value = np.ones((len(active), len(rows)), bool) if events.anew[group] else active[:, None] == given
        from_value &= events.chance[rows] > 0
        place, row = np.nonzero(from_value)
        left = 1.0 - np.where(from_value, events.chance[rows], 0.0).sum(axis=1)
        rest = np.flatnonzero(left > float(TOLERANCE) / 2)
        none = np.zeros(len(rest), np.int64)
        return _Moves(
            np.concatenate([active[place], active[rest]]),
            np.concatenate([np.searchsorted(self._values, events.value[rows[row]]), none]),
            np.concatenate([self._chain.symbol[rows[row]], none]),
            np.log(np.concatenate([events.chance[rows[row]], left[rest]])),
            [*((one,) for one in rows[row].tolist()), *[()] * len(rest)],
        )

    def _alternatives(self, group: int) -> dict[int, _Choice]:
        """By symbol, the most probable alternative of a group of an independent stream."""
        events = self._chain.events
        rest = float(events.rest[group])
        found = {0: _Choice(float(np.log(rest)), ())} if rest > 0 else {}
        for row in range(int(events.offsets[group]), int(events.offsets[group + 1])):
            if events.chance[row] > 0:
                _keep(found, int(self._chain.symbol[row]), _Choice(float(np.log(events.chance[row])), (row,)))
        return found

    def _joined(self, some: Mapping[int, _Choice], more: Mapping[int, _Choice]) -> dict[int, _Choice]:
        """The most probable choices of two independent parts, by the symbol of both."""
        found: dict[int, _Choice] = {}
        for one, first in some.items():
            for other, second in more.items():
                both = _Choice(first.log + second.log, first.rows + second.rows)
                _keep(found, int(self._chain.tables.union[one, other]), both)
        return found


@dataclass(frozen=True, slots=True)
class _Choice:
    """The events that happen at a time in independent streams, and the logarithm of their probability."""

    log: float
    rows: tuple[int, ...]


def _keep(found: dict[int, _Choice], symbol: int, choice: _Choice) -> None:
    if symbol not in found or choice.log > found[symbol].log:
        found[symbol] = choice
