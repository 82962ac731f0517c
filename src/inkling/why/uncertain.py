"""The explanation of an event over uncertain streams: the worlds that have a result, and its derivations there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling import local
from inkling.evaluators.query.course import Course, likeliest_course
from inkling.evaluators.query.program import QueryEventEvaluator, QueryProgram
from inkling.evaluators.query.sets.sampled import WorldSampler
from inkling.evaluators.sampling import Sampling, half_width, interval
from inkling.evaluators.stage.rows.derive import all_derived
from inkling.evaluators.worlds.answer import event_ids_of
from inkling.evaluators.worlds.details.examine import Examined, components_of_results, examined_in, result_key
from inkling.evaluators.worlds.details.likeliest import Likeliest, likeliest
from inkling.evaluators.worlds.details.variants import Worlds, event_tokens
from inkling.evaluators.worlds.probabilities.combine import identities
from inkling.evaluators.worlds.probabilities.estimate import estimate_table, exact_estimate, sampled_estimate
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.run import WorldData
from inkling.evaluators.worlds.streams.assignment import WorldAssignment, world_rows
from inkling.io import Data
from inkling.io.normalize import ID, START
from inkling.knowledge.proofs import Proofs
from inkling.local import IngestedInputs
from inkling.logical import plan as p
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import Per
from inkling.logical.rewrites.in_worlds import in_worlds, uncertain_events
from inkling.logical.rewrites.rules import rewrite
from inkling.meaning.streams import plain, whole_number
from inkling.model.batch import MatchBatch
from inkling.model.event import Value
from inkling.model.schema import Column
from inkling.model.types import Type
from inkling.physical.plan import PhysicalPlan, Runnable
from inkling.physical.planner import plan_program
from inkling.program_files import ProgramFiles
from inkling.results import ROUNDING, in_time, most_probable, reaches
from inkling.why.explanation import InWorlds, LikeliestCourse, Looked, Why, WithResult
from inkling.why.forecasts import ForecastWhy
from inkling.why.progress import PatternProgress, answers, progress_of
from inkling.why.trees import Derivation, Trees, columns_of


@dataclass(frozen=True)
class OneWorld:
    """A program and its inputs in one world; `written` is the event in the user's words."""

    written: p.EventPlan
    plan: p.ProgramPlan
    ingested: IngestedInputs
    columns: Mapping[str, tuple[Column, ...]]
    ids: Mapping[Value, Value]
    proofs: Proofs
    scale: int

    @classmethod
    def of(
        cls,
        data: WorldData,
        part: p.ProgramPlan,
        event: p.EventPlan,
        ingested: IngestedInputs,
        proofs: Proofs,
        worlds: Worlds,
        number: int,
    ) -> OneWorld:
        """The world with a number; `part` has the event and what it depends on, as the user wrote them."""
        program = data.program
        sources = {}
        ids: dict[Value, Value] = {}
        for stream, assignment in zip(worlds.streams, worlds.assignment, strict=True):
            here = np.flatnonzero(assignment.worlds == number)
            times = None if assignment.times is None else assignment.times[here]
            one = WorldAssignment(assignment.rows[here], np.zeros(len(here), np.int64), times)
            name = stream.schema.name
            sources[name] = world_rows(stream.rows, stream.tokens, one, stream.time_columns, program.scale)
            input_ids = stream.rows[ID].take(one.rows).to_pylist()
            ids.update(zip(stream.tokens.view(np.int64)[one.rows].tolist(), input_ids, strict=True))
        known = replace(ingested, sources=sources, context=program.context)
        world = in_worlds(part, sub_tick=program.scale > 1)
        return cls(event, world, known, columns_of(part), ids, proofs, program.scale)

    @property
    def event(self) -> p.EventPlan:
        found = self.plan.event(self.written.name)
        assert found is not None
        return found

    @cached_property
    def matches(self) -> Mapping[str, MatchBatch]:
        return answers(self.plan, self.ingested)

    def progress(self) -> PatternProgress:
        """How far the pattern gets in this world."""
        return progress_of(self.event, self.plan, self.ingested, self.written)

    def tree(self, identity: int) -> Derivation:
        """The derivation of a result in this world."""
        own = identities(self.written, self.matches[self.event.name])
        (place, *_) = np.flatnonzero(own == np.uint64(identity)).tolist()
        return self._tree(place)

    def tree_of(self, row: Mapping[str, object]) -> Derivation:
        """The derivation of a result, given in public columns, whose event has PER END or PER VALUES."""
        matches = self.matches[self.event.name]
        alike = np.ones(len(matches), bool)
        if self.event.per is Per.END:
            alike &= matches.end == whole_number(row["end"]) * self.scale
        for output in self.written.head:
            values = matches.values[output.name].to_pylist()
            alike &= np.array([plain(one) == plain(row[output.name]) for one in values], bool)
        return self._tree(int(np.flatnonzero(alike)[0]))

    def _tree(self, place: int) -> Derivation:
        trees = Trees(self.plan, self.ingested, self.matches, self.columns, self.proofs, self.ids.get, self.scale)
        return trees.of(self.event, place)


MOST_ROWS = 20_000_000
"""The most rows of sampled worlds, approximately, for all results; with more data, fewer worlds are sampled."""

MOST_ROWS_AT_ONCE = 4_000_000
"""The same for the worlds of one result, which are all in memory at once."""

FEWEST_WORLDS = 256
"""The fewest worlds that are sampled, for any amount of data."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of a program that an event depends on, as a program that a runner accepts."""

    plan: p.ProgramPlan
    physical: PhysicalPlan
    files: ProgramFiles


class UncertainWhy(Why):
    """Why an uncertain event has the results that it has; made by `Program.why`."""

    def __init__(
        self,
        program: Runnable,
        event: str,
        inputs: Mapping[str, Data],
        tables: Mapping[str, Data] | None,
        sampling: Sampling,
    ) -> None:
        super().__init__(program, event, inputs, tables)
        self._inputs, self._tables, self._files = inputs, tables, program.files
        self._sampling = sampling

    @cached_property
    def progress(self) -> PatternProgress:
        """How far the pattern got in the most probable world, part by part."""
        return self._in_one(self.most_probable_world)

    @cached_property
    def most_probable_world(self) -> Likeliest:
        return likeliest(self._data, self._sampling, np.ones(self._data.parts.count, bool))

    def most_probable_rows(self) -> dict[str, pa.Table]:
        """The rows of each stream in the most probable world, in the order of time."""
        likely = self.most_probable_world.worlds
        world = self._world(likely, 0)
        clock, found = self._ingested.unit.clock, {}
        for stream in self._plan.streams:
            rows = world.ingested.sources[stream.schema.name].sort_by(START)
            columns = [one for one in stream.schema.columns if one.name in rows.column_names]
            shown = {
                one.name: in_time(rows[one.name], clock) if one.type is Type.TIME else rows[one.name] for one in columns
            }
            found[stream.schema.name] = pa.table(shown)
        return found

    def progress_around(self, ids: Iterable[Value]) -> PatternProgress | None:
        """How far the pattern got in the most probable world of the parts of the data that hold these events.

        None if some event is unknown.
        """
        wanted = {str(one) for one in ids}
        chosen = np.zeros(self._data.parts.count, bool)
        known: set[str] = set()
        for stream, component in zip(self._data.streams, self._data.parts.of_rows, strict=True):
            own = stream.rows[ID].cast(pa.string())
            found = pc.is_in(own, pa.array(sorted(wanted), pa.string())).to_numpy(zero_copy_only=False)
            chosen[component[found]] = True
            known |= {one for one in own.filter(pa.array(found)).to_pylist() if one is not None}
        if known != wanted:
            return None
        return self._in_one(likeliest(self._data, self._sampling, chosen))

    @cached_property
    def results(self) -> pa.Table:
        """The results that a run reports, with their probabilities."""
        part = _Part(self._plan, plan_program(rewrite(self._plan).plan), self._files)
        return local.run(part, self._inputs, self._tables, self._sampling).tables[self._event.name]

    @cached_property
    def possible(self) -> pa.Table:
        """The results of at least one world: those that a run reports, then those that it drops, by probability."""
        reported = self.results
        remaining = Counter(result_key(self._event, row) for row in reported.to_pylist())
        others = []
        found = most_probable(self._estimates, len(self._estimates))
        for place, row in enumerate(found.to_pylist()):
            key = result_key(self._event, row)
            if remaining[key]:
                remaining[key] -= 1
            else:
                others.append(place)
        if not others:
            return reported
        left_out = found.take(pa.array(others, pa.int64()))
        return pa.concat_tables([reported, left_out.cast(reported.schema)])

    def results_with(self, ids: Iterable[Value]) -> list[int]:
        """The numbers, from 1, of the possible results that depend on all these events.

        If alternatives of one event have different ids, each of them names the event.
        """
        events: dict[str, set[int]] = {}
        for stream in self._data.streams:
            input_ids = stream.rows[ID].cast(pa.string()).to_pylist()
            for one, token in zip(input_ids, event_tokens(stream).tolist(), strict=True):
                if one is not None:
                    events.setdefault(one, set()).add(token)
        wanted = [events.get(str(one), set()) for one in ids]
        in_worlds: dict[object, list[Value]] = {}  # a run may list fewer events of a result than worlds do
        for row in self._estimates.to_pylist():
            in_worlds.setdefault(result_key(self._event, row), []).extend(row["lineage"])
        found = []
        for place, row in enumerate(self.possible.to_pylist(), start=1):
            lineage = [*row["lineage"], *in_worlds.get(result_key(self._event, row), [])]
            own = set().union(*(events.get(str(one), set()) for one in lineage))
            if all(tokens & own for tokens in wanted):
                found.append(place)
        return found

    @property
    def n_sampled(self) -> int:
        """The number of sampled worlds; 0 if the worlds of all parts of the data were enumerated."""
        return self._n_worlds if self._data.is_sampled.any() else 0

    @property
    def unseen(self) -> float:
        """The upper bound, with confidence 1 - delta, on the probability of a result that no sampled world has."""
        if not self.n_sampled:
            return 0.0
        return float(interval(np.zeros(1, np.int64), self.n_sampled, self._sampling.delta)[1][0])

    @property
    def sampling(self) -> Sampling:
        return self._sampling

    def tree(self, number: int = 1) -> Derivation:
        """The derivation of a result in the most probable world that has it; results are numbered from 1."""
        found = self.worlds(number)
        if found.having:
            return found.having[0].tree
        if found.course is not None:
            return found.course.tree
        raise LookupError(f"no examined world has result {number}")

    def worlds(self, number: int = 1) -> InWorlds:
        """The worlds that have a result, and its derivations there; results are numbered from 1."""
        self._require(number)
        row = self.possible.slice(number - 1, 1)
        (probability,), (error,), (method,) = (row[name].to_pylist() for name in ("probability", "error", "method"))
        left_out = self.left_out(number)
        most = self._most_worlds(components_of_results(self._data, {self._event.name: row}), MOST_ROWS_AT_ONCE)
        (found,) = examined_in(self._data, self._sampling, {self._event.name: row}, most)[self._event.name]
        course = self._course(number)
        if found is None:
            return InWorlds(probability, error, method, left_out, course=course)
        is_sample = found.worlds.components is None
        width = half_width(np.array([found.n_having]), found.n_worlds, self._sampling.delta)[0] if is_sample else 0.0
        return InWorlds(
            probability,
            error,
            method,
            left_out,
            Looked(found.n_worlds, found.n_having, found.n_events, is_sample, float(width)),
            tuple(WithResult(one, self._tree(found, one.world)) for one in found.having),
            found.lacking,
            found.dependences,
            found.influences,
            course,
        )

    def left_out(self, number: int) -> str | None:
        """The clause by which a run drops a possible result; None if it reports the result."""
        self._require(number)
        if number <= len(self.results):
            return None
        probability = self.possible["probability"][number - 1].as_py()
        confidence, top = self._event.confidence, self._event.top
        if confidence is not None and not reaches(np.array([probability]), confidence, ROUNDING)[0]:
            return f"CONFIDENCE {'>' if confidence.strict else '>='} {confidence.threshold:g}"
        return "CONFIDENCE" if top is None else f"TOP {top}"

    def _tree(self, found: Examined, world: int) -> Derivation:
        one = self._world(found.worlds, world)
        return one.tree(found.identity)

    def _course(self, number: int) -> LikeliestCourse | None:
        """The most probable course of events up to a result of a query."""
        if self._query is None:
            return None
        (row,) = self.possible.slice(number - 1, 1).to_pylist()
        end = whole_number(row["end"])
        ready = all_derived(self._plan.streams, {one.schema.name: one.rows for one in self._data.streams}, self._facts)
        source = self._query.strategy.query.subgoals[-1].source
        is_last = pc.equal(ready[source][ID].cast(pa.string()), str(row["lineage"][0]))
        grounding = self._query.groundings(source, ready[source].filter(is_last))[0]
        course = likeliest_course(self._query, ready, grounding, end)
        if course is None:
            return None
        assignment = [
            WorldAssignment(rows, np.zeros(len(rows), np.int64))
            for rows in (course.rows.get(one.schema.name, np.empty(0, np.int64)) for one in self._data.streams)
        ]
        worlds = Worlds(self._data.streams, assignment, np.ones(1), None)
        world = self._world(worlds, 0)
        tree = world.tree_of(row)
        return LikeliestCourse(course.probability, course.together(self._leaves(tree, course)), tree)

    def _leaves(self, tree: Derivation, course: Course) -> dict[str, np.ndarray]:
        """The rows of a derivation, by stream, among those of the course that it was found on."""
        ids: dict[str, set[Value]] = {}
        for leaf in tree.rows():
            ids.setdefault(leaf.source, set()).update(leaf.ids)
        found = {}
        for stream in self._data.streams:
            name = stream.schema.name
            rows = course.rows.get(name, np.empty(0, np.int64))
            found[name] = rows[[one in ids.get(name, ()) for one in stream.rows[ID].take(rows).to_pylist()]]
        return found

    @cached_property
    def _query(self) -> QueryEventEvaluator | None:
        """The evaluator of the event, if it is a query."""
        physical = plan_program(rewrite(self._plan).plan)
        program = QueryProgram.of(
            physical, self._facts, self._ingested.unit, WorldSampler(), tables=self._ingested.facts
        )
        return None if program is None else program.evaluators.get(self._event.name)

    @property
    def _facts(self) -> ExpressionContext:
        return self._ingested.context

    def _world(self, worlds: Worlds, number: int) -> OneWorld:
        return OneWorld.of(self._data, self._plan, self._event, self._ingested, self._proofs, worlds, number)

    def _in_one(self, world: Likeliest) -> PatternProgress:
        return self._world(world.worlds, 0).progress()

    @cached_property
    def _data(self) -> WorldData:
        uncertain = uncertain_events(self._plan)
        bare = tuple(
            replace(event, confidence=None, top=None, demand=None) if event.name in uncertain else event
            for event in self._plan.events
        )
        physical = plan_program(rewrite(replace(self._plan, events=bare)).plan)
        program = WorldProgram.of(physical, self._ingested.context, self._ingested.unit, with_chains=True)
        return WorldData.of(program, self._ingested.sources, self._ingested.facts, self._sampling.exact_up_to)

    @property
    def _n_worlds(self) -> int:
        return self._most_worlds(self._data.is_sampled, MOST_ROWS)

    def _most_worlds(self, chosen: np.ndarray, most_rows: int) -> int:
        n_rows = sum(int(np.count_nonzero(chosen[component])) for component in self._data.parts.of_rows)
        return min(self._sampling.n_worlds, max(FEWEST_WORLDS, most_rows // max(1, n_rows)))

    @cached_property
    def _estimates(self) -> pa.Table:
        """All results of the event in worlds, with their probabilities there."""
        data, name = self._data, self._event.name
        event = next(one for one in data.program.events if one.name == name)
        parts = [exact_estimate(event, counted[name])] if (counted := data.enumerated()) else []
        if self.n_sampled:
            drawn = data.sampled(self._sampling, 0, self.n_sampled, data.is_sampled)
            parts.append(sampled_estimate(event, drawn[name], self.n_sampled, self._sampling.delta))
        names = event_ids_of(data, data.program.id_types[name])
        return estimate_table(event, parts, names, data.program.scale, self._ingested.unit.clock)


def why(
    program: Runnable,
    event: str,
    inputs: Mapping[str, Data],
    tables: Mapping[str, Data] | None = None,
    sampling: Sampling | None = None,
) -> Why:
    """Why an event has the results that it has over these inputs, or none."""
    if event in uncertain_events(program.plan):
        return UncertainWhy(program, event, inputs, tables, sampling or Sampling())
    found = program.plan.event(event)
    if found is not None and found.forecast is not None:
        return ForecastWhy(program, event, inputs, tables)
    return Why(program, event, inputs, tables)
