"""The events over uncertain streams of a running program: rows in, results with probabilities out.

Rows are buffered until the watermark passes them. Then rows that contradict others are rejected, and each evaluator
ingests the other rows of the streams that it reads.

A *cohort* is a set of events that began together. A program that replaces a running one keeps some events and starts
others, which read the streams from then on; so each cohort has its own buffered rows and evaluator states. Draws of
worlds depend only on the seed and the rows, so all cohorts see the same worlds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.gaps.arriving import numbered_on
from inkling.evaluators.gaps.rows import roles_of
from inkling.evaluators.gaps.sequence_log import NOT_GIVEN, is_needed
from inkling.evaluators.memory import working_on
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import EvaluatorContext, Moment, StartDecisions, StreamEvaluator
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.format import concatenated
from inkling.evaluators.stage.rows.keys import Owners, owners_by
from inkling.io.checks.acceptable import checked
from inkling.io.checks.numbers import with_numbers
from inkling.io.duplicates import without_duplicates
from inkling.io.normalize import END, START
from inkling.io.rejects import NO_REJECTS, Complaint, Reason, rejected_rows
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.rewrites.in_worlds import uncertain_part
from inkling.logical.settings import is_forecast
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.model.time import FARTHEST, TimeUnit
from inkling.model.uncertainty import ImpreciseTime, LostEvents, ProbableValue
from inkling.model.watermarks import NEVER, Clocks, Watermarks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import read_by_certain_events
from inkling.physical.streams import lateness_of, streams_of_event, time_of
from inkling.results import most_probable
from inkling.runtime.buffered import Buffered, BufferedState
from inkling.runtime.late import NO_LATE_ROWS, late_rows
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.registry import Maker, beginnings, uncertain_evaluators


def watermarks_of(schemas: Mapping[str, StreamSchema], rows: Mapping[str, pa.Table], scale: int) -> Watermarks:
    """The latest time per stream, within the range of a clock of this scale, and the roles of numbered events."""
    latest, roles = {}, {}
    for name, schema in schemas.items():
        if name not in rows:
            continue
        some, _ = countable(schema, rows[name], scale)
        if len(some):
            latest[name] = int(some[time_of(schema)].to_numpy().max())
        if isinstance(schema.uncertainty, LostEvents) and schema.uncertainty.role is not None:
            roles[name] = roles_of(some.filter(some[schema.uncertainty.number].is_valid()), schema.uncertainty)
    return Watermarks(latest, roles=roles)


def countable(schema: StreamSchema, rows: pa.Table, scale: int) -> tuple[pa.Table, pa.Table]:
    """Rows with times in the range of a sub-tick clock, and rejects for the others."""
    farthest = FARTHEST // scale
    far = np.maximum(np.abs(rows[START].to_numpy()), np.abs(rows[END].to_numpy())) > farthest
    if scale == 1 or not far.any():
        return rows, NO_REJECTS
    plain = rows.select([name for name in rows.column_names if not name.startswith("@")])
    complaint = Complaint(Reason.BAD_TIME, schema.start, far, f"a time within {farthest} of zero")
    return rows.filter(pa.array(~far)), rejected_rows(schema.name, plain, schema.id, [complaint])


def arriving(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Accepted rows and rejects, by checks of each row."""
    match schema.uncertainty:
        case ImpreciseTime():
            return checked(schema, rows)
        case LostEvents():
            return with_numbers(schema, schema.uncertainty, rows)
        case _:
            return rows, NO_REJECTS


def completed(
    schema: StreamSchema, rows: pa.Table, before: int, now: int, open_since: int, begun: int = NEVER
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Rows without those of the time that is complete now that contradict each other or what was before; rejects.

    Besides, rows of numbered keys that came too late although their own time was open: see `numbered_on`. The stream is
    read from the time `begun` on.
    """
    time = rows[time_of(schema)].to_numpy()
    due, late = (time > before) & (time <= now), rows.slice(0, 0)
    is_over = isinstance(schema.uncertainty, LostEvents) and now >= FOREVER > before
    if not due.any() and not is_over:
        return rows, NO_REJECTS, late
    fresh = rows.filter(pa.array(due))
    if isinstance(schema.uncertainty, LostEvents):
        known = rows.filter(pa.array(time <= before))
        begun, is_over = begun if begun > NEVER else NOT_GIVEN, now >= FOREVER
        fresh, rejects, late = numbered_on(
            schema, schema.uncertainty, known, fresh, open_since, begun=begun, is_over=is_over
        )
    else:
        fresh, rejects = _good(schema, fresh)
    return pa.concat_tables([rows.filter(pa.array(~due)), fresh]), rejects, late


def _good(schema: StreamSchema, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    match schema.uncertainty:
        case ProbableValue():
            return checked(_step_by_step(schema, schema.uncertainty), rows)
        case _:
            return without_duplicates(schema, rows)


def _step_by_step(schema: StreamSchema, uncertainty: ProbableValue) -> StreamSchema:
    """A chain whose past is not at hand: rows after one value are alternatives of each other."""
    return replace(schema, key=(*schema.key, *uncertainty.given), uncertainty=ProbableValue(uncertainty.probability))


@dataclass(frozen=True, slots=True)
class Cohort:
    """Events that began together, and by evaluator what was decided when they began."""

    number: int
    events: tuple[str, ...]
    begun: Mapping[str, StartDecisions]

    @classmethod
    def of(cls, number: int, events: Iterable[str], plan: PhysicalPlan, unit: TimeUnit) -> Cohort:
        """A cohort of events of a plan that begin now."""
        names = tuple(events)
        return cls(number, names, beginnings(plan.answering(names), unit))


def first_cohorts(plan: PhysicalPlan, unit: TimeUnit) -> tuple[Cohort, ...]:
    """All events over uncertain streams, which begin together."""
    events = [event.name for event in plan.program.events if event.name in plan.uncertain]
    return (Cohort.of(0, events, plan, unit),) if events else ()


def cohorts_after(
    old: Sequence[Cohort], kept: Collection[str], plan: PhysicalPlan, unit: TimeUnit
) -> tuple[Cohort, ...]:
    """The cohorts of a plan that replaces another one: old cohorts with their kept events, then cohorts of new events.

    A new event begins at the latest row of the streams that it depends on, so events with the same streams form a
    cohort.
    """
    staying = [replace(one, events=tuple(name for name in one.events if name in kept)) for one in old]
    known = {name for one in staying for name in one.events}
    begun: dict[tuple[str, ...], list[str]] = {}
    for event in plan.program.events:
        if event.name in plan.uncertain and event.name not in known:
            begun.setdefault(streams_of_event(event, plan.program), []).append(event.name)
    first = max((one.number for one in old), default=-1) + 1
    started = (Cohort.of(number, names, plan, unit) for number, names in enumerate(begun.values(), first))
    return (*(one for one in staying if one.events), *started)


class UncertainProgram(Buffered):
    """The evaluators of one cohort with buffered rows; compiled once, used for any number of states."""

    evaluators: dict[str, StreamEvaluator[Any]]

    def __init__(
        self,
        plan: PhysicalPlan,
        tables: Mapping[str, pa.Table],
        expressions: ExpressionContext,
        unit: TimeUnit,
        sampling: Sampling,
        makers: Mapping[str, Maker] | None = None,
        cohort: Cohort | None = None,
        reported: frozenset[str] = frozenset(),
    ) -> None:
        """Answers the events of a cohort, or all events.

        Late and rejected rows of the streams `reported` are left out.
        """
        plan = plan.on_clock(unit.clock)
        if cohort is None:
            (cohort,) = first_cohorts(plan, unit)
        plan, self.events = plan.answering(cohort.events), frozenset(cohort.events)
        context = EvaluatorContext(tables, expressions, unit, sampling, on_stream=True, begun=cohort.begun)
        self.evaluators = uncertain_evaluators(plan, context, makers)
        self.scale = max(one.scale for one in self.evaluators.values())
        read = {stream.schema.name for one in self.evaluators.values() for stream in one.streams}
        self.streams = {one.schema.name: one.schema for one in plan.program.streams if one.schema.name in read}
        waited_for = [stream.schema.name for stream in uncertain_part(plan.program).streams]
        self._lateness = lateness_of(waited_for, plan.program, unit)  # all cohorts have the same watermark
        self._read_by_certain = read_by_certain_events(plan)
        self._reported = reported
        events = (event for event in plan.program.events if event.name in self.events and not is_forecast(event))
        self._tops = {event.name: event.top for event in events if event.top is not None}

    @property
    def lateness(self) -> Mapping[str, int]:
        return self._lateness

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The columns by which states are split: those of all evaluators, or none."""
        keys = {one.key if one.is_divisible else () for one in self.evaluators.values()}
        return keys.pop() if len(keys) == 1 else ()

    def owners(self, name: str, rows: pa.Table) -> Owners:
        return owners_by(rows, self.key)

    def advance(
        self, state: BufferedState, rows: Mapping[str, pa.Table], watermarks: Watermarks
    ) -> tuple[BufferedState, Emitted]:
        """Ingest checked rows of some streams, and watermarks."""
        own = {name: some for name, some in rows.items() if name in self.streams}
        waiting, late, rejected = self._ingested(state, own)
        clocks, roles = (
            state.clocks.after(watermarks),
            Watermarks.merged([Watermarks(roles=state.roles), watermarks]).roles,
        )
        waiting = self._completed(state, clocks, waiting, late, rejected)
        after, found = replace(state, clocks=clocks, waiting=waiting, roles=roles), dict[str, pa.Table]()
        if clocks.watermark > state.clocks.watermark or roles != state.roles:
            states = dict(state.evaluators)
            for name, evaluator in self.evaluators.items():
                due = self._due(evaluator, waiting, state.clocks.watermark, clocks.watermark)
                working_on(evaluator.events[0].name)
                states[name], tables = evaluator.step(states[name], due, Moment(clocks.watermark, roles, state.since))
                found.update(tables)
            best, found = self._ranked(state.best, found, clocks.watermark)
            after = replace(after, evaluators=states, best=best)
            after = replace(after, waiting={name: self._still_waiting(after, name) for name in waiting})
        reports = self._own(concatenated([NO_LATE_ROWS, *late])), self._own(concatenated([NO_REJECTS, *rejected]))
        return after, Emitted(*reports, tables=found)

    def _ranked(
        self, best: Mapping[str, pa.Table], found: Mapping[str, pa.Table], now: int
    ) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
        """The results that TOP keeps so far, and the results to emit: those that it keeps when the streams end."""
        kept, emitted = dict(best), dict(found)
        for name, top in self._tops.items():
            some = [tables[name] for tables in (kept, emitted) if name in tables]
            if some:
                kept[name] = most_probable(pa.concat_tables(some), top)
                emitted[name] = kept[name].slice(0, 0)
        return (kept, emitted) if now < FOREVER else ({}, emitted | kept)

    def watermark(self, state: BufferedState) -> int:
        """The time up to which all results were emitted."""
        decided = (one.decided(state.evaluators[name]) for name, one in self.evaluators.items())
        return min([state.clocks.watermark, *(time for time in decided if time is not None)])

    def beginning(self, clocks: Clocks) -> BufferedState:
        """The state of events that are added while a program runs: they read only later rows."""
        clocks = replace(clocks, lateness=self._lateness)
        since = max([clocks.watermark, *(clocks.latest.get(name, NEVER) for name in self.streams)])
        return replace(self.start(), clocks=clocks, since=since)

    def migrated(self, before: UncertainProgram, state: BufferedState) -> BufferedState:
        """The migrated state of the same cohort in the replaced program; some of its events may be removed."""
        pairs = self.evaluators.items()
        return replace(
            self.reconfigured(state),
            waiting={name: rows for name, rows in state.waiting.items() if name in self.streams},
            evaluators={
                name: one.migrated(state.evaluators[name], before.evaluators[name], self.events) for name, one in pairs
            },
            best={name: results for name, results in state.best.items() if name in self.events},
        )

    def open_matches(self, state: BufferedState, event: str) -> list[OpenMatch]:
        """Open matches up to the latest row, if no earlier row arrives."""
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
        self, state: BufferedState, rows: Mapping[str, pa.Table], latest: Mapping[str, int]
    ) -> BufferedState:
        """The state with more buffered rows, and these latest times of streams."""
        waiting, _, _ = self._ingested(state, rows)
        return replace(state, waiting=waiting, clocks=replace(state.clocks, latest=latest))

    def _ingested(
        self, state: BufferedState, rows: Mapping[str, pa.Table]
    ) -> tuple[dict[str, pa.Table], list[pa.Table], list[pa.Table]]:
        """Buffers rows, unless they are late or rejected."""
        waiting, late, rejects = dict(state.waiting), [], []
        for name, some in rows.items():
            schema = self.streams[name]
            some, uncountable = countable(schema, some, self.scale)
            some, rejected = arriving(schema, some)
            rejects += [uncountable, rejected]
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
        state: BufferedState,
        clocks: Clocks,
        waiting: Mapping[str, pa.Table],
        late: list[pa.Table],
        rejects: list[pa.Table],
    ) -> dict[str, pa.Table]:
        """The buffered rows without contradictory ones, which are added to `late` and `rejects`."""
        found = {}
        for name, rows in waiting.items():
            times = state.clocks.watermark, clocks.watermark, self._open_since(state, name), state.since
            found[name], rejected, missed = completed(self.streams[name], rows, *times)
            if len(missed):
                late.append(_late(self.streams[name], missed, clocks))
            if name not in self._read_by_certain:  # else the operators of certain events report them
                rejects.append(rejected)
        return found

    def _open_since(self, state: BufferedState, stream: str) -> int:
        """The time from which on lost events of new keys count; a sub-tick clock has times between ticks."""
        found = [
            time if one.scale == 1 or abs(time) >= FOREVER else time + 1
            for name, one in self._readers(stream)
            for time in (one.decided(state.evaluators[name]), one.forgotten(state.evaluators[name]))
            if time is not None and time > NEVER
        ]
        return max(found, default=NOT_GIVEN)

    def _still_waiting(self, state: BufferedState, name: str) -> pa.Table:
        """Rows after the watermark; of numbered events, also the rows that later rows are compared with.

        Numbered keys that are complete are dropped if an evaluator drops them too, unless a timeout closes them.
        """
        schema, rows = self.streams[name], state.waiting[name]
        if isinstance(schema.uncertainty, LostEvents):
            forgotten = any(one.decided(state.evaluators[other]) is not None for other, one in self._readers(name))
            forgetting = forgotten and schema.uncertainty.timeout is None
            needed = is_needed(schema, schema.uncertainty, rows, self.watermark(state), forgetting=forgetting)
        else:
            needed = rows[time_of(schema)].to_numpy() > state.clocks.watermark
        return rows if needed.all() else rows.filter(pa.array(needed))

    def _readers(self, stream: str) -> Iterable[tuple[str, StreamEvaluator[Any]]]:
        """The evaluators that read a stream, by name."""
        for name, one in self.evaluators.items():
            if any(stream == each.schema.name for each in one.streams):
                yield name, one

    def _due(
        self, evaluator: StreamEvaluator[Any], waiting: Mapping[str, pa.Table], before: int, now: int
    ) -> dict[str, pa.Table]:
        """The buffered rows after `before` and not after `now` of the streams that an evaluator reads."""
        found = {}
        for name in (one.schema.name for one in evaluator.streams if one.schema.name in waiting):
            times = waiting[name][time_of(self.streams[name])].to_numpy()
            found[name] = waiting[name].filter(pa.array((times > before) & (times <= now)))
        return found

    def _own(self, reports: pa.Table) -> pa.Table:
        """Late rows, or rejects, of streams that no other cohort reports."""
        if not self._reported or not len(reports):
            return reports
        return reports.filter(pc.invert(pc.is_in(reports["stream"], pa.array(sorted(self._reported)))))


def _late(schema: StreamSchema, rows: pa.Table, clocks: Clocks) -> pa.Table:
    """Late rows; their time is the one that the watermark of their stream depends on."""
    place = rows.schema.get_field_index(r.END)
    return late_rows(schema.name, rows.set_column(place, r.END, rows[time_of(schema)]), clocks)
