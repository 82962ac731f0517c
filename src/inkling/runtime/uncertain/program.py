"""The events over uncertain streams of a program without an end: push rows, receive results with probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from inkling.analysis.choice import Evaluator
from inkling.analysis.lag import settled_after, waiting_time
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import Context, Moment
from inkling.evaluators.sampling import Sampling
from inkling.evaluators.stage import rows as r
from inkling.evaluators.worlds.estimate import estimate_table, sampled_estimate
from inkling.evaluators.worlds.live.checks import arriving, completed
from inkling.evaluators.worlds.live.lossy import frontier, is_needed
from inkling.evaluators.worlds.live.marks import marks_of
from inkling.evaluators.worlds.live.names import LiveNames
from inkling.evaluators.worlds.live.numbers import Borders
from inkling.evaluators.worlds.live.pending import Pending, settled_by, with_matches
from inkling.evaluators.worlds.live.release import release
from inkling.evaluators.worlds.live.waiting import Draws, Waiting, portions, scaled
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.room import countable
from inkling.io.rejects import NO_REJECTS
from inkling.logical.evaluate import Surroundings
from inkling.logical.in_worlds import CALLED, doubtful_part
from inkling.model.batch import FOREVER
from inkling.model.clock import Measure
from inkling.model.roles import NO_ROLES, Roles
from inkling.model.schema import StreamSchema
from inkling.model.time import Clock
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import NEVER, Clocks, Marks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import read_by_certain_events
from inkling.physical.streams import lateness_of, time_of
from inkling.runtime.late import late_rows, no_late_rows
from inkling.runtime.operators.chain import OperatorChain, Routes
from inkling.runtime.operators.stage import StageOperator
from inkling.runtime.parts import Part, concatenated
from inkling.runtime.registry import Maker, exact_evaluators
from inkling.runtime.stage import LiveStage, LiveState
from inkling.runtime.uncertain.cohort import Cohort, first_cohorts
from inkling.runtime.uncertain.open_matches import WorldShares, with_parts

ROWS_AT_ONCE = 1 << 20
"""About how many rows of worlds are evaluated together."""

ALL = "all streams"
"""The one stream on which the stages in worlds wait: rows reach them when their time is decided."""


@dataclass(frozen=True, slots=True)
class WorldsState:
    """Everything that is remembered of the keys in one bucket."""

    clocks: Clocks
    since: int  # the time after which the streams begin for these events
    decided: int  # up to which time all worlds are known
    roles: Mapping[str, Roles]
    waiting: Mapping[str, Waiting]
    names: LiveNames
    pending: Mapping[str, Pending]
    worlds: tuple[LiveState, ...]
    exact: Mapping[str, Any]  # by choice of the plan: states of the evaluators that need no worlds


@dataclass(frozen=True, slots=True)
class Told:
    """What a step led to: results in the public columns, late rows in the clock's units, rejects."""

    tables: Mapping[str, pa.Table]
    late: pa.Table
    rejects: pa.Table


class LiveWorlds:
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
        plan, placements = plan.answering(cohort.events), cohort.placements
        in_worlds = placements.get(Evaluator.WORLDS)
        self.program = WorldProgram.of(plan, around, measure, placement=in_worlds, scale=cohort.scale)
        self._clock, self._declared, self.events = measure.clock, plan.program, frozenset(cohort.events)
        self._n_worlds, self._delta = sampling.once.plan(self.program.events)
        self._draws = Draws(sampling.seed, self._n_worlds, self.program.scale, measure.clock, tables, cohort.compared)
        inside, fine = self.program.physical, self.program.around
        # in a world, no row is a repeat of another
        self._stages = [LiveStage.of(inside, one.number, tables, fine, distinct=True) for one in inside.stages]
        operators = [StageOperator(stage, measure.clock) for stage in self._stages]
        self._worlds = OperatorChain(operators, Routes(inside, tables, fine))
        self._read_by_certain = read_by_certain_events(plan)
        self._looking_back = {stream.schema.name for stream in self.program.streams if stream.derived}
        context = Context(tables, around, measure, sampling, on_stream=True, placements=placements)
        self.exact = exact_evaluators(plan, context, makers)
        self._in_worlds = {stream.schema.name for stream in self.program.streams}
        read = {*self._in_worlds, *(one.schema.name for some in self.exact.values() for one in some.streams)}
        self._schemas = {one.schema.name: one.schema for one in plan.program.streams if one.schema.name in read}
        waited_for = [stream.schema.name for stream in doubtful_part(plan.program).streams]
        self._lateness = lateness_of(waited_for, plan.program, measure)  # one watermark for all cohorts
        self._reported = reported
        self._waits = {
            event.name: waiting_time(event, self.program.part, measure)
            + settled_after(event, self.program.part, measure)
            for event in self.program.events
        }

    def start(self) -> WorldsState:
        inner = tuple(replace(state, clocks=Clocks({ALL: 0})) for state in self._worlds.start())
        return WorldsState(
            Clocks(self._lateness),
            NEVER,
            NEVER,
            {},
            {},
            LiveNames(),
            {},
            inner,
            {name: one.start() for name, one in self.exact.items()},
        )

    def advance(self, state: WorldsState, rows: Mapping[str, pa.Table], news: Marks) -> tuple[WorldsState, Told]:
        """Take in checked rows of some streams, and news about time."""
        own = {name: some for name, some in rows.items() if name in self._schemas}
        waiting, late, rejects = self._taken_in(state, own)
        clocks, roles = state.clocks.after(news), Marks.together([Marks(roles=state.roles), news]).roles
        waiting = self._completed(state, clocks, waiting, late, rejects)
        waiting = {name: replace(one, roles=roles.get(name, NO_ROLES)) for name, one in waiting.items()}
        decided = max(state.decided, self._decided(waiting, clocks.watermark))
        exact, answered = self._answered(state, waiting, Moment(clocks.watermark, roles))
        waiting = {name: self._still_waiting(name, one, decided) for name, one in waiting.items()}
        after = replace(
            state,
            clocks=clocks,
            roles=roles,
            waiting=waiting,
            exact=exact,
        )
        found: dict[str, list[pa.Table]] = {name: [table] for name, table in answered.items()}
        inside = {name: one for name, one in waiting.items() if name in self._in_worlds}
        for until in portions(self._schemas, inside, state.decided, decided, ROWS_AT_ONCE // self._n_worlds):
            after, told = self._into_worlds(replace(after, decided=until), after.decided)
            for name, table in told.items():
                found.setdefault(name, []).append(table)
        return after, Told(
            {name: concatenated(some) for name, some in found.items()},
            self._own(concatenated([no_late_rows(), *late])),
            self._own(concatenated([NO_REJECTS, *rejects])),
        )

    def _own(self, reports: pa.Table) -> pa.Table:
        """Reports about streams of which nobody else reports."""
        if not self._reported or not len(reports):
            return reports
        return reports.filter(pc.invert(pc.is_in(reports["stream"], pa.array(sorted(self._reported)))))

    @property
    def streams(self) -> Mapping[str, StreamSchema]:
        """What the events over uncertain streams read; certain streams are among them."""
        return self._schemas

    def reconfigured(self, state: WorldsState) -> WorldsState:
        """A state that continues with the windows that the program has now."""
        return replace(state, clocks=replace(state.clocks, lateness=self._lateness))

    def beginning(self, clocks: Clocks) -> WorldsState:
        """The state of events that begin while a program runs: they see what comes after all that has come so far."""
        clocks = replace(clocks, lateness=self._lateness)
        since = max([clocks.watermark, *(clocks.latest.get(name, NEVER) for name in self._schemas)])
        return replace(self.start(), clocks=clocks, since=since)

    def migrated(self, before: LiveWorlds, state: WorldsState) -> WorldsState:
        """A state that the program before has left of the same cohort; some of its events may have stopped."""
        names = {event.name for event in self.program.events}
        stages = zip(self._worlds.operators, before._worlds.operators, state.worlds, strict=True)
        return replace(
            self.reconfigured(state),
            waiting={name: one for name, one in state.waiting.items() if name in self._schemas},
            pending={name: one for name, one in state.pending.items() if name in names},
            worlds=tuple(replace(new.migrated(held, old), clocks=held.clocks) for new, old, held in stages),
            exact={name: one.migrated(state.exact[name], before.exact[name]) for name, one in self.exact.items()},
        )

    def marks(self, rows: Mapping[str, pa.Table]) -> Marks:
        """How far rows say that time has come, and what they call numbered events."""
        return marks_of(self._schemas, rows, self.program.scale)

    def open_matches(self, state: WorldsState, event: str) -> list[OpenMatch]:
        """What has begun up to the latest row and may still be completed, as if no earlier row came any more.

        Where events may be lost, up to the time for which all worlds are known.
        """
        now = max(state.clocks.latest.values(), default=NEVER)
        if state.clocks.watermark >= FOREVER or now <= NEVER:
            return []
        clocks, waiting = replace(state.clocks, watermark=max(now, state.clocks.watermark)), state.waiting
        waiting = self._completed(state, clocks, waiting, [], [])
        for name, evaluator in self.exact.items():
            if event in (one.name for one in evaluator.events):
                mine = {one.schema.name for one in evaluator.streams} & waiting.keys()
                due = {one: _due(waiting[one].rows, evaluator.edge, state.clocks.watermark, now) for one in mine}
                return evaluator.open_matches(state.exact[name], due, event, now)
        if not any(isinstance(self._schemas[name].doubt, LostEvents) for name in self._in_worlds):
            state = replace(state, waiting=waiting)
        else:
            now = state.decided
        _, names, parts = self._released(state, state.decided, now)
        stages = self._stages
        states = [with_parts(*both, parts) for both in zip(stages, state.worlds, strict=True)]
        declared = self._declared.event(event)
        assert declared is not None
        return WorldShares(self._n_worlds, self._delta, self.program.scale).open_matches(
            zip(stages, states, strict=True), declared, names.names(self.program.id_types[event])
        )

    def with_waiting(self, state: WorldsState, rows: Mapping[str, pa.Table], latest: Mapping[str, int]) -> WorldsState:
        """A state in which more rows wait for their time, of streams that have come so far."""
        waiting, _, _ = self._taken_in(state, rows)
        return replace(state, waiting=waiting, clocks=replace(state.clocks, latest=latest))

    def _taken_in(
        self, state: WorldsState, rows: Mapping[str, pa.Table]
    ) -> tuple[dict[str, Waiting], list[pa.Table], list[pa.Table]]:
        """Rows join those that wait, unless they are late or refused."""
        waiting, late, rejects = dict(state.waiting), [], []
        for name, some in rows.items():
            schema = self._schemas[name]
            some, uncountable = countable(schema, some, self.program.scale)
            some, refused = arriving(schema, some)
            rejects += [uncountable, refused]
            behind = some[time_of(schema)].to_numpy() <= state.clocks.watermark
            if behind.any():
                late.append(_late(schema, some.filter(pa.array(behind)), state.clocks))
                some = some.filter(pa.array(~behind))
            if state.since > NEVER:
                some = some.filter(pa.array(some[time_of(schema)].to_numpy() > state.since))
            if name in waiting:
                some = pa.concat_tables([waiting[name].rows, some])
            waiting[name] = replace(waiting.get(name, Waiting(some)), rows=some)
        return waiting, late, rejects

    def _completed(
        self,
        state: WorldsState,
        clocks: Clocks,
        waiting: Mapping[str, Waiting],
        late: list[pa.Table],
        rejects: list[pa.Table],
    ) -> dict[str, Waiting]:
        """What waits without rows that contradict others; these are added to `late` and `rejects`."""
        scale = self.program.scale
        found = {}
        for name, one in waiting.items():
            decided = scaled(state.decided, scale) if name in self._in_worlds else NEVER
            borders = Borders(state.clocks.watermark, clocks.watermark, decided, scale)
            judged = completed(self._schemas[name], one.rows, borders)
            found[name] = replace(one, rows=judged.rows)
            if len(judged.late):
                late.append(_late(self._schemas[name], judged.late, clocks))
            if name not in self._read_by_certain:  # who reports what is refused there
                rejects.append(judged.rejects)
        return found

    def _answered(
        self, state: WorldsState, waiting: Mapping[str, Waiting], now: Moment
    ) -> tuple[dict[str, Any], dict[str, pa.Table]]:
        """What evaluators that need no worlds find in the rows that are due by now."""
        before, states = state.clocks.watermark, dict(state.exact)
        found: dict[str, pa.Table] = {}
        if now.time <= before:
            return states, {}
        for name, evaluator in self.exact.items():
            due = {
                one.schema.name: _due(waiting[one.schema.name].rows, evaluator.edge, before, now.time)
                for one in evaluator.streams
                if one.schema.name in waiting
            }
            states[name], tables = evaluator.step(states[name], due, now)
            found.update(tables)
        return states, found

    def _still_waiting(self, name: str, waiting: Waiting, decided: int) -> Waiting:
        """Rows on their way into worlds; those of other streams do not wait any longer than till they are over."""
        if name in self._in_worlds:
            return waiting
        schema, rows = self._schemas[name], waiting.rows
        needed = rows[time_of(schema)].to_numpy() > decided
        if isinstance(schema.doubt, LostEvents):  # what comes later is compared with the last of its key
            needed = is_needed(schema, schema.doubt, rows, decided, forgetting=False)
        return replace(waiting, rows=rows.filter(pa.array(needed)))

    def _decided(self, waiting: Mapping[str, Waiting], watermark: int) -> int:
        inside = {name: one for name, one in waiting.items() if name in self._in_worlds}
        fronts = [frontier(self._schemas[name], one, watermark) for name, one in inside.items()]
        return min([watermark, *fronts])

    def _into_worlds(self, state: WorldsState, before: int) -> tuple[WorldsState, dict[str, pa.Table]]:
        """Rows whose time is decided now, in all worlds; what the stages find there; what is settled by that."""
        waiting, names, parts = self._released(state, before, state.decided)
        passed = state.decided >= FOREVER
        news = Marks(finished=True) if passed else Marks({ALL: scaled(state.decided, self.program.scale) + 1})
        worlds, moved = self._worlds.step(state.worlds, parts, news if state.decided > NEVER else Marks())
        pending, tables = dict(state.pending), {}
        for event in self.program.events:
            mine = pending.get(event.name, Pending())
            if event.name in moved.matches:
                wait, scale = self._waits[event.name], self.program.scale
                mine = with_matches(event, mine, moved.matches[event.name], names, wait, scale)
            pending[event.name], settled = settled_by(mine, state.decided)
            if settled is not None:
                told = sampled_estimate(event, settled, self._n_worlds, self._delta)
                called = names.names(self.program.id_types[event.name])
                tables[event.name] = estimate_table(event, [told], called, self.program.scale, self._clock)
        after = replace(
            state,
            waiting=waiting,
            names=names.still_needed(self._names_since(state.decided), (one.tokens for one in pending.values())),
            pending=pending,
            worlds=worlds,
        )
        return after, tables

    def _released(
        self, state: WorldsState, before: int, until: int
    ) -> tuple[dict[str, Waiting], LiveNames, list[Part]]:
        """What happens between two times in any world, what waits for longer, and what events are called."""
        waiting, names = dict(state.waiting), state.names
        parts: list[Part] = []
        for name, one in state.waiting.items():
            if name not in self._in_worlds:
                continue
            times = (before, until, state.clocks.watermark)
            waiting[name], released = release(self._schemas[name], one, *times, self._draws)
            names = names.with_events(released.tokens, released.events[r.ID], released.until)
            if len(released.rows):
                parts += self._worlds.routes(name, self._ordered_by_id(name, released.rows))
        return waiting, names, parts

    def _ordered_by_id(self, name: str, rows: pa.Table) -> pa.Table:
        """Rows that keep their declared id where derived columns look back along it."""
        return rows.append_column(r.OWN_ID, rows[CALLED]) if name in self._looking_back else rows

    def _names_since(self, decided: int) -> int | None:
        """Events that ended before this are in no result to come; None where nothing limits that."""
        reach = self.program.reach
        waits = max(self._waits.values(), default=0)
        if reach is None or waits >= FOREVER or decided <= NEVER or decided >= FOREVER:
            return None
        return decided - 2 * (reach + waits) - 1

    @property
    def clock(self) -> Clock:
        return self._clock


def _due(rows: pa.Table, edge: str, before: int, now: int) -> pa.Table:
    """The rows that begin, or end, after one time, up to another."""
    times = rows[edge].to_numpy()
    return rows.filter(pa.array((times > before) & (times <= now)))


def _late(schema: StreamSchema, rows: pa.Table, clocks: Clocks) -> pa.Table:
    """Late rows, at the time by which their stream goes."""
    place = rows.schema.get_field_index(r.END)
    return late_rows(schema.name, rows.set_column(place, r.END, rows[time_of(schema)]), clocks)
