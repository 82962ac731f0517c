"""The evaluator of queries over probable streams (Lahar): its state, and when a result is emitted.

A step takes all rows of some times. Results of PER END are emitted with the step of their time; results of PER VALUES,
which say whether the query is ever true, are emitted at the end of the stream.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from inkling.evaluators.division import EvaluatorPart
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import END, BatchAnswer, EvaluatorContext, Moment, PartEvaluator, Rows
from inkling.evaluators.query.answers import GROUNDING
from inkling.evaluators.query.automaton.forecasts import BeliefState
from inkling.evaluators.query.automaton.forward import ForwardState
from inkling.evaluators.query.division import query_parts
from inkling.evaluators.query.open_matches import open_matches, with_first_events
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
from inkling.model.batch import Mask
from inkling.model.hashes import Hashes
from inkling.physical.plan import PhysicalPlan
from inkling.results import result_schema


@dataclass(frozen=True, slots=True)
class QueryState:
    """Per event: the state of its engine, answers that wait for the end, and the owner of each grounding.

    Owners are kept only where the state can be divided by key. `firsts` has the events with which partial
    matches can have begun, for `open_matches`.
    """

    engines: Mapping[str, EngineState] = field(default_factory=dict)
    found: Mapping[str, pa.Table] = field(default_factory=dict)
    owners: Mapping[str, GroundingOwners] = field(default_factory=dict)
    firsts: Mapping[str, pa.Table] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryEvaluator(PartEvaluator):
    """Answers all queries of a program."""

    program: QueryProgram

    @classmethod
    def of(cls, plan: PhysicalPlan, context: EvaluatorContext) -> QueryEvaluator | None:
        """None where no event of the plan is answered by this evaluator."""
        program = QueryProgram.of(
            plan, context.expressions, context.unit, WorldSampler(), on_stream=context.on_stream, tables=context.facts
        )
        if program is not None and any(map(may_sample, program.evaluators.values())):
            # the number of worlds is computed only when needed: it imports a large library
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
        """Not where an engine may give way to another one, because all keys must change together."""
        return super().is_divisible and not any(map(_may_give_way, self.program.evaluators.values()))

    def split(self, state: QueryState, owners: Owners) -> tuple[QueryState, QueryState]:
        every = np.unique(np.concatenate([owners[:0], *(one.owners for one in state.owners.values())]))
        return self._of(state, owners), self._of(state, np.setdiff1d(every, owners))

    def merge(self, left: QueryState, right: QueryState) -> QueryState:
        found, owned = {**left.found, **right.found}, {**left.owners, **right.owners}
        for name in left.found.keys() & right.found.keys():
            found[name] = pa.concat_tables([left.found[name], right.found[name]])
        for name in left.owners.keys() & right.owners.keys():
            owned[name] = left.owners[name].with_groundings(right.owners[name].groundings, right.owners[name].owners)
        firsts = {**left.firsts, **right.firsts}
        for name in left.firsts.keys() & right.firsts.keys():
            firsts[name] = pa.concat_tables([left.firsts[name], right.firsts[name]])
        engines = {name: _merged(one, right.engines[name]) for name, one in left.engines.items()}
        return QueryState(engines, found, owned, firsts)

    def _of(self, state: QueryState, owners: Owners) -> QueryState:
        """The state of some keys."""
        owned = {name: state.owners.get(name, GroundingOwners()).of(owners) for name in state.engines}

        def mine(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
            return {
                name: rows_where(rows, is_among(rows[GROUNDING].to_numpy(), owned[name].groundings))
                for name, rows in tables.items()
            }

        engines = {name: one.only(owned[name].groundings) for name, one in state.engines.items()}
        return QueryState(engines, mine(state.found), owned, mine(state.firsts))

    def _owners(self, name: str, state: QueryState, ready: Rows) -> GroundingOwners:
        """The owner of each grounding that the state has."""
        evaluator = self.program.evaluators[name]
        every = state.owners.get(name, GroundingOwners())
        for source in evaluator.event.sources:
            groundings = evaluator.groundings(source, ready[source])
            new = ~is_among(groundings, every.groundings)
            if new.any():
                every = every.with_groundings(groundings[new], owners_by(rows_where(ready[source], new), self.key))
        held = [state.engines[name].known]
        if name in state.found:
            held.append(state.found[name][GROUNDING].to_numpy())
        return every.where(np.isin(every.groundings, np.concatenate(held)))

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
        return sum(one.n_states for one in state.engines.values()) + sum(map(len, state.firsts.values()))

    def _results(self, name: str, found: pa.Table) -> pa.Table:
        evaluator, program = self.program.evaluators[name], self.program
        whole = combined(evaluator, found)
        return results_of(evaluator.event, whole, program.id_types[name], program.unit.clock)


def _may_give_way(evaluator: QueryEventEvaluator) -> bool:
    """Whether the engine may turn out to need too many joint values of Markovian streams."""
    sources = evaluator.strategy.query.sources.values()
    return isinstance(evaluator.engine, Safe) and any(one.markov for one in sources)


EngineState = ForwardState | SafeState | UniversalState | BeliefState


@dataclass(frozen=True, slots=True)
class GroundingOwners:
    """The owner of each grounding: the hash of the key that it belongs to."""

    groundings: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))  # ascending
    owners: Owners = field(default_factory=lambda: np.empty(0, np.uint64))

    def with_groundings(self, groundings: Hashes, owners: Owners) -> GroundingOwners:
        """With further groundings, in which duplicates are allowed."""
        every, first = np.unique(np.concatenate([self.groundings, groundings]), return_index=True)
        return GroundingOwners(every, np.concatenate([self.owners, owners])[first])

    def where(self, chosen: Mask) -> GroundingOwners:
        return GroundingOwners(self.groundings[chosen], self.owners[chosen])

    def of(self, owners: Owners) -> GroundingOwners:
        """The groundings that belong to some owners, given in ascending order."""
        return self.where(is_among(self.owners, owners))


def _merged(left: EngineState, right: EngineState) -> EngineState:
    """The state of all groundings of two states of one engine.

    An engine gives way to another one only before it has read an event, so one of two states of different engines is
    empty.
    """
    if type(left) is type(right):
        return left.merged(right)  # type: ignore[arg-type]
    assert not len(left.known) or not len(right.known), "states of different engines"
    return left if len(left.known) else right
