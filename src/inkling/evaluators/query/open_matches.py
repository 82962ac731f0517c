"""Open matches of queries over probable streams, read off the states of their engines.

A query asks whether some match ends, so its state does not distinguish partial matches of one grounding (values of the
variables that its subgoals share) after equally many parts: together they are one open match
(`inkling.meaning.open_matches`). Its probability is exact where the state is a distribution over states of an automaton
or over sets of partial matches, and has the error of the sample where worlds were sampled. Of a partial match, engines
know when it can have begun at the earliest; the first events of those times are kept by id. Safe plans do not know
that: of these, the latest event that a match can begin with is kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.analysis.query.pattern import open_prefix
from inkling.analysis.query.query import of_row
from inkling.automata.prefixes import PrefixStates, prefix_states
from inkling.evaluators.open_matches import OpenMatch, awaits, in_order, not_kept
from inkling.evaluators.query.answers import GROUNDING
from inkling.evaluators.query.automaton.forward import ForwardState
from inkling.evaluators.query.automaton.patterns import PatternEngine
from inkling.evaluators.query.automaton.regular import Regular
from inkling.evaluators.query.program import QueryEventEvaluator
from inkling.evaluators.query.results import NEGLECTED
from inkling.evaluators.query.safe.open_prefixes import NotKept, waiting
from inkling.evaluators.query.safe.plan import SafeState
from inkling.evaluators.query.sets.live_sets import LiveSets
from inkling.evaluators.query.sets.sampled import SampledWorlds
from inkling.evaluators.query.sets.successors import PartialMatch
from inkling.evaluators.query.sets.universal import UniversalState
from inkling.evaluators.stage.rows.conditions import RowColumns, prepared
from inkling.evaluators.stage.rows.format import rows_where
from inkling.io.normalize import ID, START
from inkling.kernels.query.forward import UNSTARTED
from inkling.kernels.query.live_sets import NEVER
from inkling.kernels.query.sampled_worlds import weight_of
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.patterns.disjuncts import Disjunct, disjuncts_of
from inkling.logical.printing.text import PartTexts
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes, combined
from inkling.results import EXACT, SAMPLED

FEWEST = 64
"""First events are not sorted out while they are fewer, or as few as a state has places for starts."""

MOST_CHUNKS = 16
"""More chunks of small steps are put together."""


@dataclass(frozen=True, slots=True)
class OpenGroup:
    """Partial matches of one grounding after equally many parts: the probability of one, and its first start."""

    grounding: int
    chance: float
    error: float
    start: int | None  # None where the state does not say it


@dataclass(frozen=True, slots=True)
class _Prefix:
    """The first `reached` parts of a disjunct, which are `n_subgoals` subgoals of a query."""

    number: int
    disjunct: Disjunct
    reached: int
    n_subgoals: int


def open_matches(
    evaluator: QueryEventEvaluator, state: object, firsts: pa.Table | None, epsilon: float
) -> list[OpenMatch]:
    """What waits in a state, oldest first; `epsilon` is the error of sampled worlds."""
    texts = PartTexts.of(evaluator.event)
    ids = {} if firsts is None else _by_place(firsts)
    found = []
    for prefix in _prefixes(evaluator.event):
        text, n_parts = awaits(prefix.disjunct, texts, prefix.reached), len(prefix.disjunct.parts)
        for one in _groups(evaluator, state, prefix, epsilon):
            method = SAMPLED if one.error > NEGLECTED else EXACT
            lineage = (ids[one.grounding, one.start],)
            found.append(
                OpenMatch(prefix.reached, n_parts, text, one.start, None, None, lineage, one.chance, method, one.error)
            )
    return in_order(found)


def _prefixes(event: p.EventPlan) -> Iterator[_Prefix]:
    for number, disjunct in enumerate(disjuncts_of(event)):
        if not isinstance(disjunct.whole, p.Sequence | p.Leaf):
            raise not_kept(event.name, "the parts of a query wait for each other only in a sequence")
        for reached in range(1, len(disjunct.parts)):
            # queries and regular patterns have no deadlines
            first = [
                part for part in disjunct.parts[:reached] if not isinstance(part, p.Absent | p.Deadline | p.StreamStart)
            ]
            n_subgoals = sum(1 for part in first for _ in p.leaves(part))
            yield _Prefix(number, disjunct, reached, n_subgoals)


def _groups(evaluator: QueryEventEvaluator, state: object, prefix: _Prefix, epsilon: float) -> Iterator[OpenGroup]:
    match state:
        case ForwardState():
            return _in_automaton(state, _states(evaluator, prefix))
        case UniversalState():
            is_repeated = evaluator.strategy.query.subgoals[prefix.n_subgoals].repeated
            return _in_sets(state, prefix.n_subgoals, is_repeated, epsilon)
        case SafeState():
            return _in_safe_plan(evaluator, state, prefix)
        case _:
            raise not_kept(evaluator.event.name, "a forecast stores no partial matches")


def _states(evaluator: QueryEventEvaluator, prefix: _Prefix) -> PrefixStates:
    engine = evaluator.engine
    if isinstance(engine, Regular):
        automaton = engine.automaton
        compiled, dfa, regex = automaton.pattern, automaton.dfa, automaton.open_prefixes[prefix.n_subgoals - 1]
    else:
        assert isinstance(engine, PatternEngine)
        compiled, dfa = engine.automaton.compiled, engine.automaton.dfa
        regex = open_prefix(evaluator.event, engine.automaton, prefix.disjunct, prefix.reached)
    found = prefix_states(compiled, dfa, regex)
    if found is None:
        why = (
            f"an automaton that distinguishes matches that wait after part {prefix.reached} would have too many states"
        )
        raise not_kept(evaluator.event.name, why)
    return found


def _in_automaton(state: ForwardState, prefix: PrefixStates) -> Iterator[OpenGroup]:
    """The sum of the probabilities of the states of an automaton in which the prefix waits."""
    if not len(state.groundings):
        return
    first = state.held[:-1]
    chance = np.add.reduceat(state.mass[:, prefix.states].sum(axis=1), first)
    runs = np.flatnonzero(prefix.runs)
    begun = state.begun.reshape(len(state.begun), -1, state.begun.shape[-1])[:, :, runs[runs > 0]]
    start = np.minimum.reduceat(begun.min(axis=(1, 2), initial=NEVER), first)
    for grounding in np.flatnonzero((chance > 0) & (start < UNSTARTED)).tolist():
        yield OpenGroup(int(state.groundings[grounding]), float(chance[grounding]), 0.0, int(start[grounding]))


def _in_sets(state: UniversalState, n_subgoals: int, is_repeated: bool, epsilon: float) -> Iterator[OpenGroup]:
    """The sum of the probabilities of the sets, or the share of the worlds, with a partial match that waits."""

    def waits(one: PartialMatch) -> bool:
        if one.again:
            return is_repeated and one.subgoal == n_subgoals
        return one.subgoal == n_subgoals - 1

    for grounding, sets in state.groundings.items():
        mine = [place for place, one in enumerate(sets.entries) if waits(one)]
        if not mine:
            continue
        if isinstance(sets, LiveSets):
            is_open = (sets.starts[:, mine] != NEVER).any(axis=1) & (sets.mass > 0)
            chance, error = float(sets.mass[is_open].sum()), 0.0
            start = int(sets.starts[is_open][:, mine].min(initial=NEVER))
        else:
            (chance, start), error = _share(sets, mine), epsilon
        if chance > 0:
            yield OpenGroup(grounding, min(chance, 1.0), error, start)


def _in_safe_plan(evaluator: QueryEventEvaluator, state: SafeState, prefix: _Prefix) -> Iterator[OpenGroup]:
    event = evaluator.event
    if event.per is p.Per.VALUES:
        raise not_kept(event.name, "with PER VALUES, a safe plan stores only whether its parts were ever satisfied")
    for grounding, known in state.groundings.items():
        try:
            found = waiting(evaluator.engine.top, known["run"], prefix.n_subgoals)
        except NotKept:
            why = f"the safe plan stores whether parts 1 to {prefix.reached} were ever satisfied, not whether they wait"
            raise not_kept(event.name, why) from None
        if found.chance > 0:
            yield OpenGroup(grounding, min(found.chance, 1.0), found.error, None)


def _share(worlds: SampledWorlds, entries: Sequence[int]) -> tuple[float, int]:
    """The share of worlds in which one of some partial matches is live, and its first start."""
    live = np.bitwise_or.reduce(worlds.live[entries], axis=0) & ~worlds.over
    bits = np.unpackbits(live.astype("<u8").view(np.uint8), bitorder="little")[: worlds.n_worlds].astype(bool)
    start = worlds.starts[entries][:, bits].min(initial=NEVER)
    return float(weight_of(live, worlds.weights) * worlds.scale), int(start)


def with_first_events(
    evaluator: QueryEventEvaluator,
    firsts: pa.Table | None,
    rows: Mapping[str, pa.Table],
    state: object,
    context: ExpressionContext,
) -> pa.Table | None:
    """Grounding, time and id of events that partial matches of a state can begin with, after some more rows."""
    if not isinstance(state, ForwardState | UniversalState | SafeState):
        return firsts
    subgoal = evaluator.strategy.query.subgoals[0]
    some = rows[subgoal.source]
    if not isinstance(evaluator.engine, PatternEngine):
        columns = RowColumns(some)
        for condition in (*subgoal.filters, *subgoal.accepts):
            some = rows_where(some, prepared(of_row(condition, subgoal), context)(columns))
            columns = RowColumns(some)
    groundings = evaluator.groundings(subgoal.source, some)
    new = pa.table({GROUNDING: pa.array(groundings), START: some[START], ID: some[ID]})
    every = new if firsts is None else pa.concat_tables([firsts, new])
    if len(every) > FEWEST + _n_places(state):
        return _still_needed(every, state)
    return every.combine_chunks() if every[GROUNDING].num_chunks > MOST_CHUNKS else every


def _still_needed(firsts: pa.Table, state: object) -> pa.Table:
    if isinstance(state, SafeState):
        ordered = firsts.sort_by([(START, "descending"), (ID, "ascending")])
        _, latest = np.unique(ordered[GROUNDING].to_numpy(), return_index=True)
        return ordered.take(pa.array(latest))
    places = combined(firsts[GROUNDING].to_numpy(), firsts[START].to_numpy().view(np.uint64))
    groundings, times = _starts(state)
    needed = np.isin(places, combined(groundings, times.view(np.uint64)))
    return rows_where(firsts, needed).combine_chunks()


def _n_places(state: ForwardState | UniversalState | SafeState) -> int:
    """How many starts a state can hold; of sets of partial matches, about how many."""
    return int(state.begun.size) if isinstance(state, ForwardState) else 4 * len(state.groundings)


def _starts(state: object) -> tuple[Hashes, Ints]:
    """Groundings, and times at which one of their partial matches can have begun at the earliest."""
    if isinstance(state, ForwardState):
        begun = state.begun.reshape(len(state.begun), state.begun.shape[1] * state.begun.shape[2])
        entry, place = np.nonzero(begun < UNSTARTED)
        grounding = np.repeat(state.groundings, np.diff(state.held))
        return grounding[entry], begun[entry, place]
    assert isinstance(state, UniversalState)
    groundings, times = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for name, sets in state.groundings.items():
        mine = np.unique(sets.starts[sets.starts != NEVER])
        groundings.append(np.full(len(mine), name, np.uint64))
        times.append(mine)
    return np.concatenate(groundings), np.concatenate(times)


def _by_place(firsts: pa.Table) -> dict[tuple[int, int | None], object]:
    """Ids by grounding and time, and of the latest time by grounding alone; of several, the least."""
    found: dict[tuple[int, int | None], object] = {}
    ordered = firsts.sort_by([(START, "ascending"), (ID, "descending")])
    for grounding, start, name in zip(*(ordered[column].to_pylist() for column in (GROUNDING, START, ID)), strict=True):
        found[grounding, start] = found[grounding, None] = name
    return found
