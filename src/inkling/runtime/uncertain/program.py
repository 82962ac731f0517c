"""The events over uncertain streams of a program without an end: push rows, receive results with probabilities.

Rows are buffered until no earlier one can come. Then rows that contradict others are refused, and every evaluator takes
the rest of the streams that it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators import state as codec
from inkling.evaluators.numbered.posts import UNSAID, is_needed
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import Context, Moment, StreamEvaluator
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage import rows as r
from inkling.io.rejects import NO_REJECTS
from inkling.logical.evaluate import Surroundings
from inkling.logical.in_worlds import doubtful_part
from inkling.model.batch import FOREVER
from inkling.model.clock import Measure
from inkling.model.roles import Roles
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import NEVER, Clocks, Marks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import read_by_certain_events
from inkling.physical.streams import lateness_of, time_of
from inkling.runtime.late import late_rows, no_late_rows
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.parts import concatenated
from inkling.runtime.registry import Maker, uncertain_evaluators
from inkling.runtime.uncertain.checks import arriving, completed, countable
from inkling.runtime.uncertain.cohort import Cohort, first_cohorts


@dataclass(frozen=True, slots=True)
class UncertainState:
    """Everything that is remembered of the keys in one bucket."""

    clocks: Clocks
    since: int  # the time after which the streams begin for these events
    roles: Mapping[str, Roles]
    waiting: Mapping[str, pa.Table]  # rows that are not due yet; of numbered keys also what later rows must fit
    evaluators: Mapping[str, Any]  # their states, by choice of the plan


class UncertainProgram:
    """Compiled once; takes checked and typed rows of all streams of a program."""

    def __init__(
        self,
        plan: PhysicalPlan,
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        measure: Measure,
        sampling: Sampling,
        makers: Mapping[str, Maker] | None = None,
        cohort: Cohort | None = None,
        reported: frozenset[str] = frozenset(),
    ) -> None:
        """Answers the events of a cohort, or all; what is late or refused of `reported` streams is told by others."""
        plan = plan.on_clock(measure.clock)
        if cohort is None:
            (cohort,) = first_cohorts(plan, measure)
        plan, self.events = plan.answering(cohort.events), frozenset(cohort.events)
        context = Context(tables, around, measure, sampling, on_stream=True, begun=cohort.begun)
        self.evaluators = uncertain_evaluators(plan, context, makers)
        self.scale = max(one.scale for one in self.evaluators.values())
        read = {stream.schema.name for one in self.evaluators.values() for stream in one.streams}
        self.streams = {one.schema.name: one.schema for one in plan.program.streams if one.schema.name in read}
        waited_for = [stream.schema.name for stream in doubtful_part(plan.program).streams]
        self._lateness = lateness_of(waited_for, plan.program, measure)  # one watermark for all cohorts
        self._read_by_certain = read_by_certain_events(plan)
        self._reported = reported

    def start(self) -> UncertainState:
        states = {name: one.start() for name, one in self.evaluators.items()}
        return UncertainState(Clocks(self._lateness), NEVER, {}, {}, states)

    def advance(
        self, state: UncertainState, rows: Mapping[str, pa.Table], news: Marks
    ) -> tuple[UncertainState, Emitted]:
        """Take in checked rows of some streams, and news about time."""
        own = {name: some for name, some in rows.items() if name in self.streams}
        waiting, late, refused = self._taken_in(state, own)
        clocks, roles = state.clocks.after(news), Marks.together([Marks(roles=state.roles), news]).roles
        waiting = self._completed(state, clocks, waiting, late, refused)
        after, found = UncertainState(clocks, state.since, roles, waiting, state.evaluators), dict[str, pa.Table]()
        if clocks.watermark > state.clocks.watermark or roles != state.roles:
            states = dict(state.evaluators)
            for name, evaluator in self.evaluators.items():
                due = self._due(evaluator, waiting, state.clocks.watermark, clocks.watermark)
                states[name], tables = evaluator.step(states[name], due, Moment(clocks.watermark, roles))
                found.update(tables)
            after = replace(after, evaluators=states)
            after = replace(after, waiting={name: self._still_waiting(after, name) for name in waiting})
        reports = self._own(concatenated([no_late_rows(), *late])), self._own(concatenated([NO_REJECTS, *refused]))
        return after, Emitted(*reports, tables=found)

    def watermark(self, state: UncertainState) -> int:
        """The time up to which everything that is known was emitted."""
        decided = (one.decided(state.evaluators[name]) for name, one in self.evaluators.items())
        return min([state.clocks.watermark, *(time for time in decided if time is not None)])

    def reconfigured(self, state: UncertainState) -> UncertainState:
        """A state that continues with the windows that the program has now."""
        return replace(state, clocks=replace(state.clocks, lateness=self._lateness))

    def beginning(self, clocks: Clocks) -> UncertainState:
        """The state of events that begin while a program runs: they see what comes after all that has come so far."""
        clocks = replace(clocks, lateness=self._lateness)
        since = max([clocks.watermark, *(clocks.latest.get(name, NEVER) for name in self.streams)])
        return replace(self.start(), clocks=clocks, since=since)

    def migrated(self, before: UncertainProgram, state: UncertainState) -> UncertainState:
        """A state that the program before has left of the same cohort; some of its events may have stopped."""
        pairs = self.evaluators.items()
        return replace(
            self.reconfigured(state),
            waiting={name: rows for name, rows in state.waiting.items() if name in self.streams},
            evaluators={name: one.migrated(state.evaluators[name], before.evaluators[name]) for name, one in pairs},
        )

    def open_matches(self, state: UncertainState, event: str) -> list[OpenMatch]:
        """What has begun up to the latest row and may still be completed, as if no earlier row came any more."""
        before, now = state.clocks.watermark, max(state.clocks.latest.values(), default=NEVER)
        if before >= FOREVER or now <= NEVER:
            return []
        waiting = self._completed(state, replace(state.clocks, watermark=max(now, before)), state.waiting, [], [])
        for name, evaluator in self.evaluators.items():
            if event in (one.name for one in evaluator.events):
                due = self._due(evaluator, waiting, before, now)
                return evaluator.open_matches(state.evaluators[name], due, event, now)
        raise AssertionError(f"no evaluator answers {event}")

    def with_waiting(
        self, state: UncertainState, rows: Mapping[str, pa.Table], latest: Mapping[str, int]
    ) -> UncertainState:
        """A state in which more rows wait for their time, of streams that have come so far."""
        waiting, _, _ = self._taken_in(state, rows)
        return replace(state, waiting=waiting, clocks=replace(state.clocks, latest=latest))

    def n_kept(self, state: UncertainState) -> int:
        """Rows, open matches and open results that are remembered."""
        held = sum(one.n_kept(state.evaluators[name]) for name, one in self.evaluators.items())
        return held + sum(map(len, state.waiting.values()))

    def to_bytes(self, state: UncertainState) -> bytes:
        states = (state.evaluators[name] for name in self.evaluators)
        return codec.to_bytes((replace(state, evaluators={}), *states))

    def from_bytes(self, data: bytes) -> UncertainState:
        kinds = (UncertainState, *(one.state_type for one in self.evaluators.values()))
        state, *states = codec.from_bytes(data, tuple[kinds])  # type: ignore[valid-type]
        return replace(state, evaluators=dict(zip(self.evaluators, states, strict=True)))

    def _taken_in(
        self, state: UncertainState, rows: Mapping[str, pa.Table]
    ) -> tuple[dict[str, pa.Table], list[pa.Table], list[pa.Table]]:
        """Rows join those that wait, unless they are late or refused."""
        waiting, late, rejects = dict(state.waiting), [], []
        for name, some in rows.items():
            schema = self.streams[name]
            some, uncountable = countable(schema, some, self.scale)
            some, refused = arriving(schema, some)
            rejects += [uncountable, refused]
            behind = some[time_of(schema)].to_numpy() <= state.clocks.watermark
            if behind.any():
                late.append(_late(schema, some.filter(pa.array(behind)), state.clocks))
                some = some.filter(pa.array(~behind))
            if state.since > NEVER:
                some = some.filter(pa.array(some[time_of(schema)].to_numpy() > state.since))
            waiting[name] = pa.concat_tables([waiting[name], some]) if name in waiting else some
        return waiting, late, rejects

    def _completed(
        self,
        state: UncertainState,
        clocks: Clocks,
        waiting: Mapping[str, pa.Table],
        late: list[pa.Table],
        rejects: list[pa.Table],
    ) -> dict[str, pa.Table]:
        """What waits without rows that contradict others; these are added to `late` and `rejects`."""
        found = {}
        for name, rows in waiting.items():
            times = state.clocks.watermark, clocks.watermark, self._open_since(state, name)
            found[name], refused, missed = completed(self.streams[name], rows, *times)
            if len(missed):
                late.append(_late(self.streams[name], missed, clocks))
            if name not in self._read_by_certain:  # who reports what is refused there
                rejects.append(refused)
        return found

    def _open_since(self, state: UncertainState, stream: str) -> int:
        """Since when lost events of a stream can still be placed; a finer clock has moments right after each time."""
        found = [
            time if one.scale == 1 or abs(time) >= FOREVER else time + 1
            for name, one in self._readers(stream)
            if (time := one.decided(state.evaluators[name])) is not None and time > NEVER
        ]
        return max(found, default=UNSAID)

    def _still_waiting(self, state: UncertainState, name: str) -> pa.Table:
        """Rows that are not due yet; of numbered events, also those with which later ones are compared.

        Numbered keys that are over are forgotten where some evaluator forgets them too, unless a timeout closes them.
        """
        schema, rows = self.streams[name], state.waiting[name]
        if isinstance(schema.doubt, LostEvents):
            forgotten = any(one.decided(state.evaluators[other]) is not None for other, one in self._readers(name))
            forgetting = forgotten and schema.doubt.timeout is None
            needed = is_needed(schema, schema.doubt, rows, self.watermark(state), forgetting=forgetting)
        else:
            needed = rows[time_of(schema)].to_numpy() > state.clocks.watermark
        return rows if needed.all() else rows.filter(pa.array(needed))

    def _readers(self, stream: str) -> Iterable[tuple[str, StreamEvaluator[Any]]]:
        """The evaluators of a stream."""
        for name, one in self.evaluators.items():
            if any(stream == each.schema.name for each in one.streams):
                yield name, one

    def _due(
        self, evaluator: StreamEvaluator[Any], waiting: Mapping[str, pa.Table], before: int, now: int
    ) -> dict[str, pa.Table]:
        """The rows that an evaluator reads of the times after one, up to another."""
        found = {}
        for name in (one.schema.name for one in evaluator.streams if one.schema.name in waiting):
            times = waiting[name][time_of(self.streams[name])].to_numpy()
            found[name] = waiting[name].filter(pa.array((times > before) & (times <= now)))
        return found

    def _own(self, reports: pa.Table) -> pa.Table:
        """Reports about streams of which nobody else reports."""
        if not self._reported or not len(reports):
            return reports
        return reports.filter(pc.invert(pc.is_in(reports["stream"], pa.array(sorted(self._reported)))))


def _late(schema: StreamSchema, rows: pa.Table, clocks: Clocks) -> pa.Table:
    """Late rows, at the time by which their stream goes."""
    place = rows.schema.get_field_index(r.END)
    return late_rows(schema.name, rows.set_column(place, r.END, rows[time_of(schema)]), clocks)
