"""Regular events over one probable stream: an automaton counts detections in all sampled worlds of a key at once.

Alternatives of a key have distinct times, so every world is a totally ordered word, and an automaton finds where
matches end without their lists of events. Only the first world that has a result is evaluated in full, for its values
and lineage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.analysis.choice import Evaluator
from inkling.automata.compiled import CompiledPattern
from inkling.automata.limits import TooManyStates, TooManySymbols
from inkling.automata.regex import Counting, RegexPattern
from inkling.automata.symbols import flags
from inkling.evaluators.automaton.events import to_regex
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.prepare import stage_rows
from inkling.evaluators.worlds.probabilities.combine import Summed, identities, nothing, values_of
from inkling.evaluators.worlds.streams.assignment import WorldAssignment
from inkling.evaluators.worlds.streams.probable import ProbableStream
from inkling.io.normalize import START
from inkling.kernels.worlds.regular import NEVER, chosen_at, count_detections, draw_symbols, symbols_of
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.logical.rewrites.in_worlds import WORLD, in_worlds, key_output
from inkling.model.batch import Ints, MatchBatch
from inkling.model.hashes import Hashes, combined, row_hashes
from inkling.model.runs import changes, ranges
from inkling.model.uncertainty import ProbableValue
from inkling.physical.plan import EventStep, PhysicalPlan, Stage
from inkling.physical.planner import plan_program

MOST_STATES = 24
"""With more states, counting in all worlds at once costs more than the join network."""


@dataclass(frozen=True, slots=True)
class Automaton:
    """A nondeterministic automaton as arrays of edges, sorted by symbol."""

    pattern: CompiledPattern
    moves: Ints  # symbol s has the edges moves[s]:moves[s + 1]
    source: Ints  # per edge: a state
    target: Ints  # per edge: a state
    marked: np.ndarray  # per edge: whether the event becomes part of the match
    final: np.ndarray  # per state

    @classmethod
    def of(cls, step: EventStep, n_inputs: int) -> Automaton | None:
        bits = sorted({bit for leaf in step.leaves for bit in leaf.all_bits})
        if bits and bits[-1] >= 64:
            return None
        counting = Counting.RESTART if step.event.restart else Counting.OVERLAP
        regex = to_regex(step, {bit: bit for bit in bits})
        try:
            pattern = CompiledPattern.of(RegexPattern(regex, counting), n_inputs)
        except (TooManyStates, TooManySymbols):
            return None
        nfa, n_symbols = pattern.nfa, pattern.alphabet.n_symbols
        if nfa.n_states > MOST_STATES or n_symbols > np.iinfo(np.int8).max:
            return None
        edges: list[list[tuple[int, int, bool]]] = [[] for _ in range(n_symbols)]
        for state, out in enumerate(nfa.edges):
            for edge in out:
                for symbol in np.flatnonzero(flags(edge.symbols, n_symbols)):
                    edges[symbol].append((state, edge.target, bool(edge.mark)))
        flat = [edge for group in edges for edge in group]
        final = np.zeros(nfa.n_states, bool)
        final[list(nfa.finals)] = True
        return cls(
            pattern,
            np.concatenate([[0], np.cumsum([len(group) for group in edges])]).astype(np.int64),
            np.array([edge[0] for edge in flat], np.int64),
            np.array([edge[1] for edge in flat], np.int64),
            np.array([edge[2] for edge in flat], bool),
            final,
        )

    def symbols(self, bits: np.ndarray) -> Ints:
        """The symbol of each row, by its predicate mask."""
        distinct, place = np.unique(bits, return_inverse=True)
        found = [self.pattern.alphabet.symbol(0, int(one)) for one in distinct]
        return np.array(found, np.int64)[place]


@dataclass(frozen=True, slots=True)
class RegularEvent:
    """An event whose detections an automaton can count in all worlds."""

    event: EventPlan
    stream: str
    stage: Stage
    automaton: Automaton
    in_full: PhysicalPlan  # of the certain counterpart of this event alone

    @classmethod
    def of(cls, event: EventPlan, program: ProgramPlan, *, sub_tick: bool) -> RegularEvent | None:
        """None if the event is not regular, or its stream is not a probable stream with its KEY as partition."""
        if len(event.sources) != 1 or event.name in {name for one in program.events for name in one.sources}:
            return None
        stream = program.stream(event.sources[0])
        if stream is None or stream.derived or not isinstance(stream.schema.uncertainty, ProbableValue):
            return None
        if stream.schema.order_by is not None:  # alternatives may differ in their place, which is part of their time
            return None
        if {column.name for column in event.partition} != set(stream.schema.key):
            return None
        ordered = replace(stream, schema=replace(stream.schema, uncertainty=None, order_by=stream.schema.start))
        plan = plan_program(ProgramPlan((ordered,), program.tables, (event,), program.ticks_only, program.rules))
        (stage,) = plan.stages
        (step,) = stage.steps
        if step.evaluator is not Evaluator.AUTOMATON or len(stage.inputs) != 1:
            return None
        automaton = Automaton.of(step, 1)
        if automaton is None:
            return None
        alone = ProgramPlan((stream,), program.tables, (event,), program.ticks_only, program.rules)
        in_full = plan_program(in_worlds(alone, sub_tick=sub_tick))
        return cls(event, stream.schema.name, stage, automaton, in_full)


CELLS_AT_ONCE = 1 << 21
"""The number of draws (groups times worlds) that are held in memory."""


@dataclass(slots=True)
class RegularSums:
    """The detections of one regular event so far, summed over worlds, per group of alternatives."""

    regular: RegularEvent
    stream: ProbableStream
    symbol: NDArray[np.int8]  # per row of the stream
    keys: Ints  # groups keys[k]:keys[k + 1] belong to one key
    key: Hashes  # per group
    time: Ints  # per group, on the clock of the worlds
    n_hits: Ints  # per group: the number of worlds with a detection there
    first_world: Ints  # per group: the first such world
    earliest: Ints  # per group: the group in which the earliest match that ends here starts
    witnesses: list[WitnessValues]

    @classmethod
    def of(
        cls,
        regular: RegularEvent,
        stream: ProbableStream,
        tables: Mapping[str, pa.Table],
        context: ExpressionContext,
        scale: int,
    ) -> RegularSums:
        numbered = stream.rows.append_column("@row", pa.array(np.arange(len(stream.rows))))
        read = stage_rows(regular.stage, 0, numbered, tables, context, keep_column="@row")
        symbol = np.full(len(stream.rows), -1, np.int8)
        symbol[read["@row"].to_numpy()] = regular.automaton.symbols(read[r.mask_name(0)].to_numpy().view(np.uint64))
        first = stream.offsets[:-1]
        key, firsts = stream.keys[first], stream.rows.take(pa.array(first))
        n = len(first)
        return cls(
            regular,
            stream,
            symbol,
            np.append(np.flatnonzero(changes(key)), n),
            row_hashes([firsts[column.name].combine_chunks() for column in regular.event.partition], n),
            firsts[START].to_numpy() * scale,
            np.zeros(n, np.int64),
            np.full(n, NEVER),
            np.full(n, NEVER),
            [],
        )

    def sample(self, seed: np.uint64, first: int, n_worlds: int, in_full: InFull) -> None:
        """Counts the detections in `n_worlds` worlds from `first` on."""
        step = max(1, CELLS_AT_ONCE // max(1, len(self.time)))
        for at in range(first, first + n_worlds, step):
            assignment, new = self._add(seed, at, min(step, first + n_worlds - at))
            if len(new):
                self._add_witnesses(in_full(self.regular, self.stream, assignment), new)

    def _add(self, seed: np.uint64, first: int, n_worlds: int) -> tuple[WorldAssignment, Ints]:
        """Counts some worlds; returns the rows to evaluate in full, and the groups with their first detection."""
        stream, before = self.stream, self.n_hits > 0
        chosen = None
        if stream.is_markov:
            chosen = stream.chosen(seed, first, n_worlds)
            symbols = symbols_of(chosen, self.symbol)
        else:
            symbols = draw_symbols(
                seed, stream.group_tokens, stream.offsets, stream.shares, self.symbol, first, n_worlds
            )
        a = self.regular.automaton
        count_detections(
            self.keys,
            symbols,
            a.moves,
            a.source,
            a.target,
            a.marked,
            a.final,
            self.regular.event.restart,
            first,
            self.n_hits,
            self.first_world,
            self.earliest,
        )
        new = np.flatnonzero((self.n_hits > 0) & ~before)
        group, world = self._first_worlds(new)
        if chosen is not None:
            row = chosen[group, world - first]
        else:
            row = chosen_at(seed, stream.group_tokens, stream.offsets, stream.shares, group, world)
        there = row >= 0
        return WorldAssignment(row[there], world[there]), new

    def _first_worlds(self, new: Ints) -> tuple[Ints, Ints]:
        """All groups of the keys of new results, each in the first world that has the result."""
        key = np.repeat(np.arange(len(self.keys) - 1), np.diff(self.keys))
        pairs = np.unique(np.column_stack([key[new], self.first_world[new]]), axis=0)
        begin = self.keys[pairs[:, 0]]
        width = self.keys[pairs[:, 0] + 1] - begin
        return ranges(begin, width), np.repeat(pairs[:, 1], width)

    def _add_witnesses(self, matches: MatchBatch, new: Ints) -> None:
        """Takes values and lineage of new results from the worlds that were evaluated in full."""
        event = self.regular.event
        wanted = combined(self.key[new], self.time[new].view(np.uint64), self.first_world[new].view(np.uint64))
        keys = row_hashes([matches.values[key_output(place)] for place in range(len(event.partition))], len(matches))
        world = np.asarray(matches.values[WORLD].to_numpy(), np.int64)
        found = combined(keys, matches.end.view(np.uint64), world.view(np.uint64))
        order = np.argsort(found)
        rows = order[np.searchsorted(found, wanted, sorter=order)]
        assert np.array_equal(found[rows], wanted), "an automaton and the evaluators disagree"
        chosen = pa.array(rows)
        values = values_of(event, matches.values, len(matches)).take(chosen)
        self.witnesses.append(
            WitnessValues(new, identities(event, matches)[rows], values, matches.lineage.take(chosen))
        )

    def results(self) -> Summed:
        """All results, with the number of worlds that have each."""
        if not self.witnesses:
            return nothing(self.regular.event)
        group = np.concatenate([one.group for one in self.witnesses])
        found = Summed(
            np.concatenate([one.identity for one in self.witnesses]),
            self.first_world[group],
            self.n_hits[group],
            self.time[self.earliest[group]],
            self.time[group],
            self.time[group],
            pa.concat_tables([one.values for one in self.witnesses]),
            pa.chunked_array([one.lineage for one in self.witnesses]).combine_chunks(),
        )
        return found.take(np.argsort(found.identity))


InFull = Callable[[RegularEvent, ProbableStream, WorldAssignment], MatchBatch]


@dataclass(frozen=True, slots=True)
class WitnessValues:
    """Identity, values and lineage of results, by group."""

    group: Ints
    identity: Hashes
    values: pa.Table
    lineage: pa.ListArray
