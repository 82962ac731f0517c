"""Regular events as symbolic automata: all regular events with one scope read a batch together.

A pattern becomes a symbolic regular expression over predicate masks of rows (`to_regex`; Ntoulias et al., section 3.1),
which is compiled together with those of other events (`automata.run.engine.PatternSet`).
"""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.analysis.regular import expression_of
from inkling.automata.guards import Guard
from inkling.automata.limits import TooManyStates, TooManySymbols
from inkling.automata.regex import Counting, Regex, RegexPattern, Symbol
from inkling.automata.run.engine import Detections, PatternSet
from inkling.automata.run.rows import AutomatonRows
from inkling.errors import InputError
from inkling.evaluators.automaton.event_store import EventStore, place_texts
from inkling.evaluators.automaton.state import RunsState
from inkling.evaluators.gather import Gather, lineage_ids
from inkling.evaluators.stage.rows.batches import comes_from, picked_bits
from inkling.evaluators.stage.rows.row_tests import resets_in
from inkling.kernels.automaton.lineage import place_events
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.vectorized import evaluate
from inkling.model.batch import UNORDERED, EventBatch, Ints, MatchBatch, sorted_words
from inkling.physical.plan import EventStep


def to_regex(step: EventStep, bit_place: dict[int, int]) -> Regex:
    """The regular expression of an event; `bit_place` renumbers conditions for the automaton."""
    return expression_of(step.event, _OfStep(step, bit_place))


@dataclass(frozen=True, slots=True)
class _OfStep:
    step: EventStep
    bit_place: dict[int, int]

    def taken(self, leaf: p.Leaf) -> Regex:
        return self._symbol(leaf.slot, self.step.leaf(leaf.slot).all_bits)

    def candidate(self, leaf: p.Leaf) -> Regex | None:
        test = self.step.leaf(leaf.slot)
        return None if test.check is None else self._symbol(leaf.slot, test.bits)

    def _symbol(self, slot: int, bits: tuple[int, ...]) -> Regex:
        inputs = frozenset(self.step.leaf(slot).inputs)
        return Symbol(Guard(inputs, frozenset(self.bit_place[bit] for bit in bits)), slot)


MAX_LISTED = 100_000_000
"""The limit on entries in the lineages of one event in one batch: several gigabytes."""


@dataclass(frozen=True, slots=True)
class RegularEvents:
    """Regular events with one scope, compiled together."""

    steps: tuple[EventStep, ...]
    patterns: PatternSet
    bits: tuple[int, ...]  # the stage's conditions that these events use, in the automata's numbering
    context: ExpressionContext
    resets: tuple[int | None, ...] = ()  # per input of the stage, the condition under which a row resets its key
    _empty: dict[str, MatchBatch] = field(default_factory=dict, compare=False, repr=False)

    def start(self) -> RunsState:
        return RunsState(self.patterns.initial_state(), None, np.empty(0, np.int64), 0)

    def step(self, state: RunsState, batch: EventBatch) -> tuple[RunsState, tuple[MatchBatch, ...]]:
        """Reads the next events of each key; does not change the state."""
        after = state.copy()
        return after, self.go_on(after, batch)

    def go_on(self, state: RunsState, batch: EventBatch, codes: Ints | None = None) -> tuple[MatchBatch, ...]:
        """Reads the next events and changes the state; `codes` are the key codes of the state, by key of the batch."""
        fresh = self._of_scope(batch)
        if not len(fresh):
            return tuple(self._nothing(step, batch) for step in self.steps)
        memory, events = state.memory()
        rows = AutomatonRows.of(fresh.key, self._streams(fresh), self._compressed(fresh))
        keys = rows.segment_keys if codes is None else codes[rows.segment_keys]
        room, found = self.patterns.advance(memory, rows, keys, len(events))
        used = place_events(room.nodes, memory.n_nodes, room.progress.n_nodes, len(events), len(fresh))
        n_before = len(events)
        events.append(fresh, used)
        try:
            results = tuple(
                self._matches(step, fresh, events, found if len(self.steps) == 1 else found.of_pattern(number))
                for number, step in enumerate(self.steps)
            )
        except BaseException:
            events.cut(n_before)  # leave the state as it was
            raise
        memory.keep(keys, room)
        if memory.is_loose:
            events.keep_only(memory.compact())
        return results

    def ties(self, batch: EventBatch) -> np.ndarray:
        """Which rows of the scope ORDER BY leaves unordered with the row before."""
        inside = np.flatnonzero(comes_from(batch, self.steps[0].scope))
        tied = np.zeros(len(batch), bool)
        if len(inside) == len(batch):
            key, end, place = batch.key, batch.end, batch.end_place
        else:
            key, end, place = batch.key[inside], batch.end[inside], batch.end_place[inside]
        tied[inside[1:]] = (key[1:] == key[:-1]) & (end[1:] == end[:-1]) & (place[1:] == place[:-1])
        return tied

    def _of_scope(self, batch: EventBatch) -> EventBatch:
        scope = self.steps[0].scope
        if len(scope) == self.patterns.groups[0].n_streams:
            return batch
        inside = comes_from(batch, scope)
        return batch if inside.all() else batch.take(np.flatnonzero(inside))

    def evaluate(self, batch: EventBatch) -> tuple[MatchBatch, ...]:
        """All matches over all rows of some keys."""
        return self.step(self.start(), batch)[1]

    def _streams(self, batch: EventBatch) -> np.ndarray:
        if not any(bit is not None for bit in self.resets):
            return batch.source
        return np.where(resets_in(self.resets, batch), np.int16(-1), batch.source)

    def _compressed(self, batch: EventBatch) -> np.ndarray:
        if self.bits == tuple(range(len(self.bits))):
            return batch.bits[:, 0]
        return picked_bits(self.bits, batch.bits)

    def _matches(self, step: EventStep, fresh: EventBatch, events: EventStore, found: Detections) -> MatchBatch:
        if not len(found):
            return self._nothing(step, fresh)
        _reject_endless_lists(step.event.name, int(found.n_members().sum()))
        lineage = found.lineage()
        named, rows = np.unique(lineage.events, return_inverse=True)
        known = events.take(named)
        first, last = np.searchsorted(named, found.first_event()), found.row
        start_place, end_place, words = _in_one_order(known, first, fresh, last)
        resolve = Gather(known, lineage.offsets, rows, lineage.slots.astype(np.int64))
        outputs = (*step.event.head, *step.event.returns)
        return MatchBatch(
            step.event.name,
            fresh.key[last],
            known.start[first],
            start_place,
            fresh.end[last],
            end_place,
            fresh.known[last],
            {output.name: evaluate(output.expr, resolve, len(last), self.context) for output in outputs},
            lineage_ids(known, lineage.offsets, rows),
            words,
        )

    def _nothing(self, step: EventStep, batch: EventBatch) -> MatchBatch:
        """An empty batch of matches with the right types."""
        name = step.event.name
        if name not in self._empty:
            none = np.empty(0, np.int64)
            known = batch.take(none)
            resolve = Gather(known, np.zeros(1, np.int64), none, none)
            outputs = (*step.event.head, *step.event.returns)
            values = {output.name: evaluate(output.expr, resolve, 0, self.context) for output in outputs}
            ids = lineage_ids(known, np.zeros(1, np.int64), none)
            self._empty[name] = MatchBatch(name, none, none, none, none, none, none, values, ids)
        return self._empty[name]


def _in_one_order(known: EventBatch, first: Ints, fresh: EventBatch, last: Ints) -> tuple[Ints, Ints, pa.Array | None]:
    """Places of first and last events in one order, and the sorted values whose ranks they are."""
    starts, ends = known.start_place[first], fresh.end_place[last]
    if known.place_words is None and fresh.place_words is None:
        return starts, ends, None
    texts = [place_texts(known, starts), place_texts(fresh, ends)]
    words = sorted_words(texts)
    ranks = [pc.index_in(one, value_set=words).cast(pa.int64()) for one in texts]
    none = int(UNORDERED)
    filled = [pc.fill_null(rank, without).to_numpy() for rank, without in zip(ranks, (-none, none), strict=True)]
    return filled[0], filled[1], words


def _reject_endless_lists(event: str, n_members: int) -> None:
    """Rejects lineages that are too long in total: without a limit, a repetition makes them grow quadratically."""
    if n_members > MAX_LISTED:
        raise InputError.of(
            "INK0602",
            f"the results of `{event}` would list {n_members} events in one partition, more than {MAX_LISTED}",
            notes=("every result lists all events of its match, and the matches grow with the stream",),
            helps=("add `CONSUME RESTART` or `WITHIN n EVENTS`",),
        )


def automata_of(
    steps: tuple[EventStep, ...], resets: tuple[int | None, ...], context: ExpressionContext
) -> tuple[RegularEvents, ...]:
    """Automata per scope and per 64 conditions; events whose automata do not fit into memory are left out.

    `resets` has an item per input of the stage.
    """
    groups: list[list[EventStep]] = []
    for step in steps:
        for group in groups:
            if group[0].scope == step.scope and len(_bits_of([*group, step])) <= 64:
                group.append(step)
                break
        else:
            groups.append([step])
    return tuple(made for group in groups for made in _fitting(tuple(group), resets, context))


def _fitting(
    steps: tuple[EventStep, ...], resets: tuple[int | None, ...], context: ExpressionContext
) -> tuple[RegularEvents, ...]:
    """Automata of all steps together, or of each step that fits into memory."""
    try:
        return (_compile(steps, resets, context),)
    except (TooManyStates, TooManySymbols):
        alone = ((step,) for step in steps) if len(steps) > 1 else ()
        return tuple(made for one in alone for made in _fitting(one, resets, context))


def _compile(steps: tuple[EventStep, ...], resets: tuple[int | None, ...], context: ExpressionContext) -> RegularEvents:
    bits = _bits_of(steps)
    place = {bit: number for number, bit in enumerate(bits)}
    patterns = [
        RegexPattern(to_regex(step, place), Counting.RESTART if step.event.restart else Counting.OVERLAP)
        for step in steps
    ]
    return RegularEvents(steps, PatternSet.compile(patterns, len(resets)), bits, context, resets)


def _bits_of(steps: list[EventStep] | tuple[EventStep, ...]) -> tuple[int, ...]:
    return tuple(sorted({bit for step in steps for leaf in step.leaves for bit in leaf.all_bits}))
