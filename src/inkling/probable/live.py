"""The evaluator of queries over probable streams: what its state holds, and when a result is emitted.

Rows are due when all rows of their time are there. Results are emitted at once; whether something ever happens, at the
end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from inkling.evaluators.division import Part
from inkling.evaluators.probable.beliefs import BeliefState
from inkling.evaluators.probable.lanes import Sampling as Lanes
from inkling.evaluators.probable.regular import ChainState
from inkling.evaluators.probable.safe import SafeState
from inkling.evaluators.probable.universal import UniversalState
from inkling.evaluators.protocol import END, Answer, Context, Moment, PartEvaluator, Rows
from inkling.evaluators.sampling import Sampling, lanes_of
from inkling.evaluators.stage.derive import all_derived
from inkling.io.normalize import START
from inkling.logical.plan import Per
from inkling.physical.plan import PhysicalPlan
from inkling.probable.division import query_parts
from inkling.probable.program import ProbableProgram, may_sample
from inkling.probable.results import added_up, combined, results_of, sampled_text
from inkling.results import result_schema

SPARE = 1e-9
"""By how much answers of safe plans may be too low on a stream, so that what they keep has a limit."""


EngineState = ChainState | SafeState | UniversalState | BeliefState


@dataclass(frozen=True, slots=True)
class QueryState:
    """Per event, the state of its engine, and what was found so far where only the end can tell."""

    engines: Mapping[str, EngineState] = field(default_factory=dict)
    found: Mapping[str, pa.Table] = field(default_factory=dict)


@dataclass(frozen=True)
class QueryEvaluator(PartEvaluator):
    """Answers all queries of a program."""

    program: ProbableProgram

    @classmethod
    def of(cls, plan: PhysicalPlan, context: Context) -> QueryEvaluator | None:
        """None where no event of the plan is a query."""
        spare = SPARE if context.on_stream else 0.0
        program = ProbableProgram.of(plan, context.around, context.measure, Lanes(), spare=spare, tables=context.facts)
        if program is not None and any(map(may_sample, program.evaluators.values())):
            # only then: how many worlds a sample needs takes a large library to compute
            program = replace(program, sampling=lanes_of(context.sampling or Sampling()))
        return None if program is None else cls(program)

    @property
    def state_type(self) -> type[QueryState]:
        return QueryState

    @property
    def edge(self) -> str:
        return START

    def answer(self, rows: Rows) -> Answer:
        ids, clock = self.program.id_types, self.program.measure.clock
        nothing = {one.name: result_schema(one, ids[one.name], clock).empty_table() for one in self.events}
        tables = {**nothing, **self.step(self.start(), rows, END)[1]}
        note = sampled_text(tables, self.program)
        return Answer(tables, () if note is None else (note,))

    def parts(self) -> list[Part]:
        return query_parts(self.program)

    def start(self) -> QueryState:
        return QueryState({name: one.start() for name, one in self.program.evaluators.items()})

    def step(self, state: QueryState, rows: Rows, until: Moment) -> tuple[QueryState, dict[str, pa.Table]]:
        ready = all_derived(self.streams, self.complete(rows), self.program.around)
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
        return QueryState(engines, waiting), emitted

    def migrated(self, state: QueryState, before: QueryEvaluator) -> QueryState:
        names = self.program.evaluators.keys()
        return QueryState(
            {name: state.engines[name] for name in names},
            {name: rows for name, rows in state.found.items() if name in names},
        )

    def n_kept(self, state: QueryState) -> int:
        return sum(map(_n_kept, state.engines.values()))

    def _results(self, name: str, found: pa.Table) -> pa.Table:
        evaluator, program = self.program.evaluators[name], self.program
        whole = combined(evaluator, found)
        return results_of(evaluator.event, whole, program.id_types[name], program.measure.clock)


def _n_kept(state: EngineState) -> int:
    return len(state.value) if isinstance(state, ChainState) else int(state.n_states)
