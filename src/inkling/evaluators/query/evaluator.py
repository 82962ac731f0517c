"""The evaluator of queries over probable streams: what its state holds, and when a result is emitted.

Rows are due when all rows of their time are there. Results are emitted at once; whether something ever happens, at the
end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import pyarrow as pa

from inkling.evaluators.division import EvaluatorPart
from inkling.evaluators.hashes import Hashes
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import END, SPARE, BatchAnswer, EvaluatorContext, Moment, PartEvaluator, Rows
from inkling.evaluators.query.automaton.forecasts import BeliefState
from inkling.evaluators.query.automaton.regular import ForwardState, merged
from inkling.evaluators.query.division import query_parts
from inkling.evaluators.query.event import UNIT
from inkling.evaluators.query.open_matches import open_matches, with_first_events
from inkling.evaluators.query.probable_events import Mask, ranges
from inkling.evaluators.query.program import QueryEventEvaluator, QueryProgram, may_sample
from inkling.evaluators.query.results import added_up, combined, results_of, sampled_text
from inkling.evaluators.query.safe.plan import Safe, SafeState
from inkling.evaluators.query.sets.sampled import WorldSampler
from inkling.evaluators.query.sets.universal import UniversalState
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows.derive import all_derived
from inkling.evaluators.stage.rows.format import rows_where
from inkling.evaluators.stage.rows.keys import Owners, is_among, owners_by
from inkling.logical.plan import Per
from inkling.physical.plan import PhysicalPlan
from inkling.results import result_schema


@dataclass(frozen=True, slots=True)
class QueryState:
    """Per event, the state of its engine, and what was found so far where results are final only at the end.

    Where keys divide the work, also to which key each unit of an engine belongs. `firsts` has the events with which
    partial matches can have begun, for `open_matches`.
    """

    engines: Mapping[str, EngineState] = field(default_factory=dict)
    found: Mapping[str, pa.Table] = field(default_factory=dict)
    owners: Mapping[str, UnitOwners] = field(default_factory=dict)
    firsts: Mapping[str, pa.Table] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryEvaluator(PartEvaluator):
    """Answers all queries of a program."""

    program: QueryProgram

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> QueryEvaluator | None:
        """None where no event of the plan is a query."""
        spare = SPARE if context.on_stream else 0.0
        program = QueryProgram.of(
            plan, context.expressions, context.unit, WorldSampler(), spare=spare, tables=context.facts
        )
        if program is not None and any(map(may_sample, program.evaluators.values())):
            # only then: how many worlds a sample needs takes a large library to compute
            program = replace(program, sampling=WorldSampler.of(context.sampling or Sampling()))
        return None if program is None else cls(program)

    @property
    def state_type(self) -> type[QueryState]:
        return QueryState

    def answer(self, rows: Rows) -> BatchAnswer:
        ids, clock = self.program.id_types, self.program.unit.clock
        nothing = {one.name: result_schema(one, ids[one.name], clock).empty_table() for one in self.events}
        tables = {**nothing, **self._stepped(self.start(), self._ready(rows), END)[1]}
        note = sampled_text(tables, self.program)
        return BatchAnswer(tables, () if note is None else (note,))

    def parts(self) -> list[EvaluatorPart]:
        return query_parts(self.program)

    def start(self) -> QueryState:
        return QueryState({name: one.start() for name, one in self.program.evaluators.items()})

    def step(self, state: QueryState, rows: Rows, until: Moment) -> tuple[QueryState, dict[str, pa.Table]]:
        ready = self._ready(rows)
        after, emitted = self._stepped(state, ready, until)
        after = self._with_firsts(after, ready)
        if self.is_divisible and any(map(len, ready.values())):
            after = replace(after, owners={name: self._owners(name, after, ready) for name in after.engines})
        return after, emitted

    def open_matches(self, state: QueryState, rows: Rows, event: str, now: int) -> list[OpenMatch]:
        """What waits in the state of an engine, after rows that come next."""
        ready = self._ready(rows)
        after, _ = self._stepped(state, ready, Moment(now))
        firsts = self._with_firsts(after, ready).firsts.get(event)
        asked = self.program.evaluators[event]
        return open_matches(asked, after.engines[event], firsts, self.program.sampling.epsilon)

    def _with_firsts(self, state: QueryState, ready: Rows) -> QueryState:
        """With the events of some rows that partial matches may begin with."""
        firsts = dict(state.firsts)
        for name, evaluator in self.program.evaluators.items():
            engine = state.engines[name]
            if any(len(ready[source]) for source in evaluator.event.sources):
                more = with_first_events(evaluator, firsts.get(name), ready, engine, self.program.context)
                if more is not None:
                    firsts[name] = more
        return replace(state, firsts=firsts)

    @cached_property
    def is_divisible(self) -> bool:
        """An engine that may give way to another one must do so for all keys at once."""
        return super().is_divisible and not any(map(_may_give_way, self.program.evaluators.values()))

    def split(self, state: QueryState, owners: Owners) -> tuple[QueryState, QueryState]:
        every = np.unique(np.concatenate([owners[:0], *(one.owners for one in state.owners.values())]))
        return self._of(state, owners), self._of(state, np.setdiff1d(every, owners))

    def merge(self, left: QueryState, right: QueryState) -> QueryState:
        found, owned = {**left.found, **right.found}, {**left.owners, **right.owners}
        for name in left.found.keys() & right.found.keys():
            found[name] = pa.concat_tables([left.found[name], right.found[name]])
        for name in left.owners.keys() & right.owners.keys():
            owned[name] = left.owners[name].with_units(right.owners[name].units, right.owners[name].owners)
        firsts = {**left.firsts, **right.firsts}
        for name in left.firsts.keys() & right.firsts.keys():
            firsts[name] = pa.concat_tables([left.firsts[name], right.firsts[name]])
        engines = {name: merged_states(one, right.engines[name]) for name, one in left.engines.items()}
        return QueryState(engines, found, owned, firsts)

    def _of(self, state: QueryState, owners: Owners) -> QueryState:
        """The state of some keys."""
        owned = {name: state.owners.get(name, UnitOwners()).of(owners) for name in state.engines}

        def mine(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
            return {
                name: rows_where(rows, is_among(rows[UNIT].to_numpy(), owned[name].units))
                for name, rows in tables.items()
            }

        engines = {name: state_of(one, owned[name].units) for name, one in state.engines.items()}
        return QueryState(engines, mine(state.found), owned, mine(state.firsts))

    def _owners(self, name: str, state: QueryState, ready: Rows) -> UnitOwners:
        """To which key each unit belongs of which the state holds something."""
        evaluator = self.program.evaluators[name]
        every = state.owners.get(name, UnitOwners())
        for source in evaluator.event.sources:
            units = evaluator.units(source, ready[source])
            new = ~is_among(units, every.units)
            if new.any():
                every = every.with_units(units[new], owners_by(rows_where(ready[source], new), self.key))
        held = [known_units(state.engines[name])]
        if name in state.found:
            held.append(state.found[name][UNIT].to_numpy())
        return every.where(np.isin(every.units, np.concatenate(held)))

    def _ready(self, rows: Rows) -> dict[str, pa.Table]:
        return all_derived(self.streams, self.complete(rows), self.program.context)

    def _stepped(self, state: QueryState, ready: Rows, until: Moment) -> tuple[QueryState, dict[str, pa.Table]]:
        engines, waiting, emitted = dict(state.engines), dict(state.found), {}
        for name, evaluator in self.program.evaluators.items():
            mine = {source: ready[source] for source in evaluator.event.sources}
            if any(map(len, mine.values())):
                engines[name], found = evaluator.advance(engines[name], mine)
                if evaluator.event.per is Per.VALUES:
                    waiting[name] = added_up([*([waiting[name]] if name in waiting else []), found])
                elif len(found):
                    emitted[name] = self._results(name, found)
            if until.is_end and name in waiting:
                emitted[name] = self._results(name, waiting.pop(name))
        return replace(state, engines=engines, found=waiting), emitted

    def migrated(self, state: QueryState, before: QueryEvaluator, kept: Collection[str]) -> QueryState:
        names = self.program.evaluators.keys()
        return QueryState(
            {name: state.engines[name] for name in names},
            {name: rows for name, rows in state.found.items() if name in names},
            {name: one for name, one in state.owners.items() if name in names},
            {name: rows for name, rows in state.firsts.items() if name in names},
        )

    def n_kept(self, state: QueryState) -> int:
        return sum(map(_n_kept, state.engines.values())) + sum(map(len, state.firsts.values()))

    def _results(self, name: str, found: pa.Table) -> pa.Table:
        evaluator, program = self.program.evaluators[name], self.program
        whole = combined(evaluator, found)
        return results_of(evaluator.event, whole, program.id_types[name], program.unit.clock)


def _may_give_way(evaluator: QueryEventEvaluator) -> bool:
    """Whether rows may show that the engine of an event cannot answer it."""
    sources = evaluator.strategy.query.sources.values()
    return isinstance(evaluator.engine, Safe) and any(one.markov for one in sources)


def _n_kept(state: EngineState) -> int:
    return len(state.value) if isinstance(state, ForwardState) else int(state.n_states)


EngineState = ForwardState | SafeState | UniversalState | BeliefState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class UnitOwners:
    """The hash of the key to which each unit belongs."""

    units: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))  # in order
    owners: Owners = field(default_factory=lambda: np.empty(0, np.uint64))

    def with_units(self, units: Hashes, owners: Owners) -> UnitOwners:
        """These units, and others, which may be named several times."""
        every, first = np.unique(np.concatenate([self.units, units]), return_index=True)
        return UnitOwners(every, np.concatenate([self.owners, owners])[first])

    def where(self, chosen: Mask) -> UnitOwners:
        return UnitOwners(self.units[chosen], self.owners[chosen])

    def of(self, owners: Owners) -> UnitOwners:
        """The units that belong to some keys, given their hashes, sorted."""
        return self.where(is_among(self.owners, owners))


def known_units(state: EngineState) -> Hashes:
    """The units of which a state holds something, in no order."""
    match state:
        case ForwardState() | BeliefState():
            return state.units
        case SafeState() | UniversalState():
            return _names(state.units)


def state_of(state: EngineState, units: Hashes) -> EngineState:
    """The state of some units, sorted."""
    match state:
        case ForwardState():
            return _chains_of(state, units)
        case SafeState():
            return SafeState(_some(state.units, units))
        case UniversalState():
            return UniversalState(_some(state.units, units))
        case BeliefState():
            mine = is_among(state.units, units)
            chains = {model: _chains_of(one, units) for model, one in state.chains.items()}
            return BeliefState(chains, state.marks, state.units[mine], state.n_times[mine])


def merged_states(left: EngineState, right: EngineState) -> EngineState:
    """The state of all units of two states that have none in common."""
    match left, right:
        case ForwardState(), ForwardState():
            return _chains_together(left, right)
        case SafeState(), SafeState():
            return SafeState({**left.units, **right.units})
        case UniversalState(), UniversalState():
            return UniversalState({**left.units, **right.units})
        case BeliefState(), BeliefState():
            chains = {**left.chains, **right.chains}
            for model in left.chains.keys() & right.chains.keys():
                chains[model] = _chains_together(left.chains[model], right.chains[model])
            units = np.concatenate([left.units, right.units])
            order = np.argsort(units)
            n_times = np.concatenate([left.n_times, right.n_times])[order]
            return BeliefState(chains, {**left.marks, **right.marks}, units[order], n_times)
        case _:  # an engine gives way to another one before it knows any unit
            assert not len(known_units(left)) or not len(known_units(right)), "states of different engines"
            return left if len(known_units(left)) else right


def _chains_of(state: ForwardState, units: Hashes) -> ForwardState:
    kept = np.flatnonzero(is_among(state.units, units))
    counts = np.diff(state.held)[kept]
    entries = ranges(state.held[kept], counts)
    held = np.append(0, np.cumsum(counts))
    return ForwardState(state.units[kept], held, state.value[entries], state.mass[entries], state.begun[entries])


def _chains_together(left: ForwardState, right: ForwardState) -> ForwardState:
    none = np.empty(0, np.int64)
    return merged(left, none, right.units, np.diff(right.held), right.value, right.mass, right.begun)


def _some(held: Mapping[int, T], units: Hashes) -> dict[int, T]:
    wanted = is_among(_names(held), units)
    return {name: one for (name, one), is_wanted in zip(held.items(), wanted, strict=True) if is_wanted}


def _names(units: Mapping[int, object]) -> Hashes:
    return np.fromiter(units, np.uint64, len(units))
