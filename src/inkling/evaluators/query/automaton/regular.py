"""Regular queries, and the groundings of extended regular queries: one Markov chain each (Lahar, sections 3.1, 3.2).

    R(x); S(x)      →  one automaton for "R, then S"; one forward pass for each value of x

The probability that the query is true at time t is the mass of the accepting states then. Values of x that results do
not show are combined afterwards, as independent events: 1 - Π(1 - p) (`inkling.evaluators.query.results`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from inkling.analysis.query.chain_automaton import ChainAutomaton
from inkling.analysis.query.query import Query
from inkling.evaluators.query.answers import Answers
from inkling.evaluators.query.automaton.forward import COMPILED, ForwardState, RunSizes, forward_pass
from inkling.evaluators.query.automaton.transitions import SymbolTables, chain_tables
from inkling.evaluators.query.groundings import Groundings, groundings_of
from inkling.evaluators.query.probable_events import NO_EVENT, ProbableEvents
from inkling.kernels.query.forward import NEVER, Ends, Steps
from inkling.model.batch import Ints, Mask
from inkling.model.hashes import Hashes
from inkling.model.runs import changes


@dataclass(frozen=True, slots=True)
class Regular:
    """Answers the first subgoals of a query for all values of variables on which they are independent."""

    query: Query
    n_subgoals: int
    variables: tuple[str, ...]
    automaton: ChainAutomaton
    ever: bool = False  # whether only the first match of a grounding counts
    kernels: SimpleNamespace = field(default_factory=lambda: COMPILED)

    @classmethod
    def of(cls, query: Query, n_subgoals: int, variables: Sequence[str], *, ever: bool = False) -> Regular:
        """Raises `TooManyStates` or `TooManySymbols`."""
        chosen = tuple(variables)
        return cls(query, n_subgoals, chosen, ChainAutomaton.of(query, n_subgoals, chosen), ever)

    def start(self) -> ForwardState:
        return ForwardState.empty(self.automaton.n_states, RunSizes(1, self.automaton.n_runs))

    def advance(
        self,
        state: ForwardState,
        events: ProbableEvents,
        predicates: Ints,
        tables: Mapping[str, pa.Table] | None = None,
    ) -> tuple[ForwardState, Answers]:
        """The state and the answers after a block of complete times, later than all times before."""
        groundings = groundings_of(self.query, self.variables, events, self.n_subgoals)
        predicates = predicates & groundings.masks[events.stream[events.group]]
        symbols = chain_tables(self.automaton, predicates)
        names, steps = steps_of(events, groundings)
        return self._answers(state, events, names, steps, symbols, symbols.symbols(predicates))

    def _answers(
        self,
        state: ForwardState,
        events: ProbableEvents,
        names: Hashes,
        steps: Steps,
        tables: SymbolTables,
        symbol: Ints,
    ) -> tuple[ForwardState, Answers]:
        n = len(steps.time)
        chained = events.markov[events.stream]
        is_markov = bool(chained[steps.groups].any() or (state.value != NO_EVENT).any())
        weight = np.where(chained[events.group], 0, events.chance) if is_markov else events.chance
        ends = Ends(
            np.zeros(n, events.chance.dtype),
            np.full(n, NEVER),
            np.full(n, -1),
            weight if is_markov else weight[:0],
            np.zeros((0, len(tables.delta)), events.chance.dtype),
        )
        after = forward_pass(
            state, names, events, steps, chained, tables, symbol, ends, _most_values(events, steps, chained),
            RunSizes(1, len(tables.final)), is_markov=is_markov, ever=self.ever, restart=False, kernels=self.kernels,
        )  # fmt: skip
        seen = np.flatnonzero(ends.start < NEVER)
        grounding = np.repeat(names, np.diff(steps.units))[seen]
        found = Answers.exactly(grounding, steps.time[seen], ends.chance[seen], ends.start[seen])
        return after, replace(found, weight=weight)


def steps_of(events: ProbableEvents, groundings: Groundings) -> tuple[Hashes, Steps]:
    """The groundings that read some stream of a block, in ascending order, and their groups by time."""
    groups = np.flatnonzero(np.asarray(groundings.reads.any(axis=0))[events.stream])
    name, time = groundings.grounding[events.stream[groups]], events.time[groups]
    order = np.lexsort((events.stream[groups], time, name))
    groups, name, time = groups[order], name[order], time[order]
    is_new = changes(name)
    first = np.flatnonzero(is_new | changes(time))
    begins = np.flatnonzero(is_new[first])
    return name[is_new], Steps(np.append(begins, len(first)), np.append(first, len(groups)), groups, time[first])


def _most_values(events: ProbableEvents, steps: Steps, chained: Mask) -> Ints:
    """The largest number of values that one group of each grounding has, of Markovian streams."""
    sizes = np.where(chained, np.diff(events.offsets), 0)[steps.groups]
    if not len(sizes):
        return np.zeros(0, np.int64)
    return np.maximum.reduceat(np.maximum.reduceat(sizes, steps.first[:-1]), steps.units[:-1])
