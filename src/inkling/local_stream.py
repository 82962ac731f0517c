"""A program that keeps running in this process: push rows, and receive the results that they decide at once."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cached_property
from typing import Protocol

import pyarrow as pa

from inkling.analysis.clock import time_unit
from inkling.analysis.inputs import inputs_by_stream
from inkling.errors import InputError, ResourceError
from inkling.evaluators.interrupts import interrupts_by_name
from inkling.evaluators.memory import limit_bytes, within_budget
from inkling.evaluators.open_matches import open_table
from inkling.evaluators.sampling import Sampling
from inkling.event_results import ArrowResults, counted
from inkling.forecasting.adaptation.counting import counts_for, require_fitting_models, with_counting
from inkling.forecasting.adaptation.drift import Drift
from inkling.forecasting.adaptation.models import (
    LearningModels,
    dumped_models,
    learning_names,
    load_models,
    require_forecasts,
    require_measurable,
    with_first_models,
)
from inkling.forecasting.adaptation.online import OnlineLearning
from inkling.forecasting.adaptation.steering import Rejected, all_or_none, asked, reject_uncertain, steered
from inkling.io import Data, read_table
from inkling.io.normalize import clock_in, declared_clock, stored_columns, times_of_events
from inkling.io.tables import read_tables
from inkling.knowledge.materialize import expression_context, known
from inkling.logical.plan import EventPlan, ProgramPlan, StreamPlan, retracted_outputs
from inkling.logical.settings import SettingError, Settings, StreamWindow, StreamWindows, with_settings, with_windows
from inkling.model.time import Clock, TimeUnit
from inkling.model.watermarks import NEVER, Watermarks
from inkling.physical.plan import PhysicalPlan, Runnable
from inkling.physical.planner import plan_program
from inkling.physical.stages import Placement
from inkling.results import result_schema, result_table, retracted
from inkling.runtime.ahead import guard_of, require_length
from inkling.runtime.deferred import DeferredRows
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.replacement import (
    Changes,
    RunningPlan,
    changes,
    fitting,
    placed_plan,
    read_cohorts,
    replaced,
    require_same_models,
    require_same_past,
    running_of,
    stored_cohorts,
    unsupported_change,
)
from inkling.runtime.revision.changelogs import Changelogs, changelogs_from_bytes, changelogs_to_bytes
from inkling.runtime.stream import StreamProgram, StreamState, nothing
from inkling.runtime.uncertain import Cohort
from inkling.stored import Stored, opened, readable, sealed

_LENGTH = struct.Struct("<q")


class PrintableProgram(Runnable, Protocol):
    """A program that can be printed in the standard layout."""

    def to_ink(self) -> str: ...
    def require_streamable(self, *, unbounded: bool = False, sampling: Sampling | None = None) -> None: ...


class Found(ArrowResults):
    """The results that a push has decided. Tables are built when they are read.

    Examples
    --------
    >>> import inkling
    >>> stream = inkling.parse('''
    ...     STREAM Door(person STRING, room STRING, t BIGINT) TIME t;
    ...     EVENT visit(d.person AS person) AS PATTERN Door d[room = 'lab'];
    ... ''').open()
    >>> stream.push([{"person": "ada", "room": "lab", "t": 1}, {"person": "bob", "room": "lab", "t": 2}])
    <Found visit: 1, rejects: 0, late: 0>
    >>> found = stream.finish()
    >>> found["visit"]["person"].to_pylist(), found.n_results, bool(found)
    (['bob'], 1, True)
    """

    def __init__(self, plan: ProgramPlan, physical: PhysicalPlan, emitted: Emitted, clock: Clock) -> None:
        self._plan, self._physical, self._emitted, self._clock = plan, physical, emitted, clock

    @property
    def n_results(self) -> int:
        """The number of results of all events."""
        return sum(map(len, (*self._emitted.matches.values(), *self._emitted.tables.values())))

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """An Arrow table for each event, and for each output of ON RETRACT."""
        found = {event.name: self._results(event) for event in self._plan.shown}
        outputs = retracted_outputs(self._plan)
        return {**found, **{name: retracted(found[event], name) for event, name in outputs.items()}}

    def _results(self, event: EventPlan) -> pa.Table:
        emitted, name = self._emitted, event.name
        if name in emitted.tables:
            return emitted.tables[name]
        if name in emitted.matches:
            return result_table(event, emitted.matches[name], self._clock)
        return result_schema(event, self._physical.id_types[name], self._clock).empty_table()

    @property
    def late(self) -> pa.Table:
        """Rows that arrived after the results of their time were final, with their delay."""
        return self._emitted.late

    @property
    def rejects(self) -> pa.Table:
        """Rows that violate the declaration of their stream, with the reason."""
        return self._emitted.rejects

    def _counts(self) -> list[str]:
        return [*super()._counts(), f"late: {len(self.late)}"]

    def _remarks(self) -> Iterable[str]:
        yield from super()._remarks()
        if len(self.late):
            yield f"{counted(len(self.late), 'late row')}: <code>.late</code>"


class LocalStream:
    """A running program and its state; made by `Program.open`.

    Whether times are timestamps or ticks is known once the first row has arrived.
    """

    def __init__(
        self,
        program: PrintableProgram,
        tables: Mapping[str, Data] | None = None,
        sampling: Sampling | None = None,
        learn: OnlineLearning | None = None,
        ahead: str | None = None,
        memory: str | int | None = None,
    ) -> None:
        require_length(ahead)
        self._ahead = ahead
        self._memory = None if memory is None else limit_bytes(memory)
        self._unfinished: BaseException | None = None  # what ended a step half way
        self._program, self._sampling, self._learn = program, sampling or Sampling(), learn
        self._given: dict[str, Data] = dict(tables or {})
        given = dict(self._given)
        if learn is not None:
            require_forecasts(program.physical)
            given = with_first_models(program, given, learn)
        self._tables = read_tables(program.plan.tables, given, program.files)
        self._settings: Settings = {}
        self._windows: StreamWindows = {}
        self._placement: Placement | None = None  # of events, once the program has replaced another one
        self._cohorts: tuple[Cohort, ...] = ()
        self._models = None if learn is None else LearningModels(learn, self._tables, learning_names(program.physical))
        self._streams = {stream.schema.name: stream for stream in program.plan.streams}
        self._columns = {name: _columns(stream) for name, stream in self._streams.items()}
        self._clocks: dict[str, Clock] = {}  # of the streams that had rows
        self._live: StreamProgram | None = None
        self._state: StreamState | None = None  # of the program at work, without deferred rows
        self._deferring: DeferredRows | None = None
        # before the first row with a time
        self._watermarks = Watermarks()
        self._n_rejected: Mapping[str, int] = {}
        self._early: Changelogs | None = None  # withdrawals

    def push(self, rows: Mapping[str, Data] | Data) -> Found:
        """Add rows of some streams, by name, or of the only stream; returns the results that they decided."""
        raw = {}
        for name, given in inputs_by_stream(self._program.plan, rows).items():
            self._require_stream(name)
            raw[name] = read_table(given, what=name)
        return self._step(raw)

    def push_event(self, stream: str, event: Mapping[str, object]) -> Found:
        """Add one row of one stream; returns the results that it decided."""
        self._require_stream(stream)
        found = self._deferred_or_decided(stream, event)
        if found is not None:
            return found
        names = [name for name in self._columns[stream] if name in event]
        try:
            columns = [pa.array([event[name]]) for name in names]
        except (pa.ArrowException, OverflowError):
            return self.push({stream: [event]})
        return self._step({stream: pa.Table.from_arrays(columns, names)})

    def _deferred_or_decided(self, stream: str, event: Mapping[str, object]) -> Found | None:
        """What a row decides, if it can be deferred until it does; None if it takes a step of its own."""
        self._require_whole()
        if self._live is None or self._state is None or self._models is not None:
            return None
        if self._deferring is None:
            self._deferring = self._live.deferring()
        self._deferring.begin(self._state.operators, self._state.n_read, self._state.newest)
        decides = self._deferring.take(stream, event)
        if decides is None:
            return None
        return self._found(self._ingested(self._live, self._deferring)) if decides else self._no_results

    def _ingested(self, live: StreamProgram, deferring: DeferredRows) -> Emitted:
        """Ingest all deferred rows."""
        assert self._state is not None
        with self._whole_step():
            self._state, emitted = live.with_deferred(self._state, deferring.deferred())
        deferring.ingested()
        return emitted

    def replace_tables(self, tables: Mapping[str, Data]) -> None:
        """Replace the facts of some tables, and of every rule that depends on them, from the next row on.

        Matches that were found with the old facts stay as they are.
        """
        declared = tuple(table for table in self._program.plan.tables if table.name in tables)
        facts = read_tables(declared, tables, self._program.files)
        self._require_models(self._settings, facts)
        if self._models is not None:
            for name in self._models.learned.keys() & facts.keys():
                self._models.begin_anew(name, facts[name])
        self._given |= tables
        self._migrate(facts, self._settings)

    def replace(
        self, program: PrintableProgram, tables: Mapping[str, Data] | None = None, *, unbounded: bool = False
    ) -> Changes:
        """Replace the program from the next row on; returns the changes.

        Events with an unchanged definition continue, new events begin now. Tables are read again, except those whose
        data was given. A program to which the state cannot be migrated is rejected, and the present one continues.

        Examples
        --------
        >>> import inkling
        >>> doors = "STREAM Door(person STRING, room STRING, t BIGINT) TIME t;"
        >>> lab = "EVENT lab(d.person AS person) AS PATTERN Door d[room = 'lab'];"
        >>> stream = inkling.parse(f"{doors} {lab}").open()
        >>> _ = stream.push([{"person": "ada", "room": "hall", "t": 1}])
        >>> hall = "EVENT hall(d.person AS person) AS PATTERN Door d[room = 'hall'];"
        >>> changes = stream.replace(inkling.parse(f"{doors} {lab} {hall}"))
        >>> changes.kept, changes.started
        (('lab',), ('hall',))
        >>> _ = stream.push([{"person": "bob", "room": "hall", "t": 2}])
        >>> stream.finish()["hall"]["person"].to_pylist()
        ['bob']
        """
        program.require_streamable(unbounded=unbounded, sampling=self._sampling)
        self._require_same_streams(program)
        declared = {table.name for table in program.plan.tables}
        given = {name: data for name, data in {**self._given, **(tables or {})}.items() if name in declared}
        facts = read_tables(program.plan.tables, given, program.files)
        if self._models is not None:
            facts |= {name: self._tables[name] for name in self._models.learned}
        settings = fitting(program.physical.program, self._settings)
        changed, running = self._compared(program, settings)
        read_anew = tuple(name for name, table in facts.items() if not _same(self._tables.get(name), table))
        changed = replace(changed, tables=read_anew)
        require_fitting_models(plan_program(with_settings(program.physical.program, settings)), facts, self._unit)
        if running is not None:
            require_same_past(self._physical.program, program.physical.program, changed)
            require_same_models(program.physical.program, changed)
        self._take_over(program, facts, settings, running)
        return changed

    def _compared(self, program: PrintableProgram, settings: Settings) -> tuple[Changes, RunningPlan | None]:
        """What would change, and where the events of the new program would be; None before the first row."""
        try:
            adapted = self._adapted(program.physical.program, settings)
        except SettingError as problem:
            raise unsupported_change(str(problem), "windows that were changed stay") from None
        if self._live is None:
            return changes(self._physical.program, adapted), None
        before = self._physical.on_clock(self._unit.clock)
        running = self._running or RunningPlan.begun(self._physical, self._unit)
        _, running, changed = replaced(before, running, adapted, self._unit)
        return changed, running

    def _take_over(
        self, program: PrintableProgram, facts: Mapping[str, pa.Table], settings: Settings, running: RunningPlan | None
    ) -> None:
        """Continue with another program, to which the state is migrated."""
        before = self._live
        self._program, self._tables = program, dict(facts)
        self._streams = {stream.schema.name: stream for stream in program.plan.streams}
        self._columns = {name: _columns(stream) for name, stream in self._streams.items()}
        if running is not None:
            self._placement, self._cohorts = running.staged.placement, running.cohorts
        self.__dict__.pop("_digest", None)
        self._migrate({}, settings)
        if before is not None and self._live is not None:
            self._state = self._live.migrated(self._at, before)

    def _require_same_streams(self, program: PrintableProgram) -> None:
        names = {stream.schema.name for stream in program.plan.streams}
        if names != self._streams.keys():
            raise unsupported_change(
                f"the running program reads {', '.join(sorted(self._streams))}, the new one {', '.join(sorted(names))}",
                "a running program keeps its streams",
            )
        if self._clocks and not self._has_same_clock(program):
            raise unsupported_change("the clock of the streams would change", "the state has times in the old unit")
        if self._models is not None and learning_names(program.physical) != learning_names(self._program.physical):
            raise unsupported_change(
                "the models that keep learning would change", "the new program must have forecasts with the same models"
            )

    def _has_same_clock(self, program: PrintableProgram) -> bool:
        declared = [declared_clock(stream.schema) for stream in program.plan.streams]
        if any(clock not in (None, self._clock) for clock in declared):
            return False
        try:
            return time_unit(program.plan, self._clocks) == self._unit
        except InputError:
            return False

    def control(self, forecast: str, **parameters: float | None) -> None:
        """Change settings of a forecast from the next row on: order, confidence, within, spread, horizon.

        A setting overrides the program until it is set to None. The state of every key does not depend on the
        settings, so later forecasts are those of a program with these settings. Invalid settings are rejected, and
        the present ones stay.
        """
        settings = all_or_none(*steered(self._settings, asked(forecast, parameters), self._require_models))
        self._migrate({}, settings)

    def take_messages(self, messages: Data) -> list[Rejected]:
        """Apply settings from rows with the columns `forecast`, `parameter` and `value`; returns the rejected ones."""
        rows = read_table(messages, what="control messages").to_pylist()
        settings, rejected = steered(self._settings, rows, self._require_models)
        if settings != self._settings:
            self._migrate({}, settings)
        return rejected

    def change_windows(self, stream: str, *, lateness: str | None = None, withdrawals: str | None = None) -> None:
        """Change how late rows of a stream may be, and how long rows can be withdrawn, such as `2 HOURS`.

        The new windows override the program from the next row on. A shorter window discards older state; a longer one
        reaches back only as far as the state that is still there.
        """
        self._require_stream(stream)
        before = self._windows.get(stream, StreamWindow())
        window = StreamWindow(lateness or before.lateness, withdrawals or before.withdrawals)
        windows = {**self._windows, stream: window}
        try:
            with_windows(self._program.physical.program, windows)
        except SettingError as problem:
            raise InputError.of("INK0622", f"windows not changed: {problem}") from None
        self._windows = windows
        self._migrate({}, self._settings)
        if self._live is not None:
            self._state = self._live.reconfigured(self._at)

    @property
    def settings(self) -> Settings:
        """The settings that `control` has changed."""
        return self._settings

    @property
    def drift(self) -> Mapping[str, Drift]:
        """The drift of each model that keeps learning: how well its present version fits recent events."""
        return {} if self._models is None else self._models.drift

    def model(self, name: str) -> pa.Table:
        """The present version of a model, as a table for `replace_tables` or a file."""
        return self._tables[name]

    def idle(self, *streams: str) -> Found:
        """Declare streams idle: results do not wait for their rows until they have rows again."""
        for name in streams:
            self._require_stream(name)
        return self._step({}, Watermarks(idle=frozenset(streams)))

    def finish(self) -> Found:
        """Declare the end of all streams, which decides all pending matches; later rows are late."""
        return self._step({}, Watermarks(finished=True))

    @property
    def watermark(self) -> int | None:
        """The time up to which all results are final, in units of the clock; None before the first."""
        if self._live is None:
            return None
        decided = self._live.watermark(self._at)
        return None if decided == NEVER else decided

    def open_matches(self, event: str) -> pa.Table:
        """The partial matches of a sequence or of AND that may still be completed, oldest first.

        `reached` is the number of parts that have happened, `awaits` describes the missing ones, and `latest` is the
        time by which the match must be complete, if there is a limit. Over uncertain streams, `probability` is that of
        the worlds with this partial match. Open matches are computed on demand, from the rows or probabilities in the
        state: for a query over probable streams, partial matches with as many parts and equal values are one row.
        """
        if event not in [one.name for one in self._program.plan.events]:
            raise InputError.of(
                "INK0561",
                f"the program has no event called `{event}`",
                notes=(f"its events are {', '.join(one.name for one in self._program.plan.events)}",),
            )
        found = [] if self._live is None else self._live.open_matches(self._at, event)
        return open_table(found, self._clock)

    def snapshot(self) -> bytes:
        """The state of the running program as bytes, for `restore`."""
        if self._live is not None:
            stages = self._live.to_bytes(self._at)
        else:
            stages = [] if self._early is None else [changelogs_to_bytes(self._early)]
        head = {
            "program": self._digest,
            "clocks": {name: clock.value for name, clock in self._clocks.items()},
            "idle": sorted(self._watermarks.idle),
            "finished": self._watermarks.finished,
            "read": dict(self._n_rejected if self._state is None else self._state.n_read),
            "newest": {} if self._state is None else dict(self._state.newest),
            "ahead": self._ahead,
            "stages": [len(stage) for stage in stages],
            "early": self._live is None,
            "settings": self._settings,
            "windows": {name: asdict(window) for name, window in self._windows.items()},
        }
        if self._placement is not None:
            head["placement"] = asdict(self._placement)
            head["cohorts"] = stored_cohorts(self._cohorts)
        if self._models is not None:
            learned = dumped_models(self._models)
            head["learned"] = len(learned)
            stages = [*stages, learned]
        header = json.dumps(head).encode()
        header += b" " * (-len(header) % 8)
        padded = [stage + b"\0" * (-len(stage) % 8) for stage in stages]
        return sealed(_LENGTH.pack(len(header)), Stored.SNAPSHOT, header, *padded)

    @classmethod
    def restore(
        cls,
        program: PrintableProgram,
        data: bytes,
        tables: Mapping[str, Data] | None = None,
        *,
        sampling: Sampling | None = None,
        learn: OnlineLearning | None = None,
        memory: str | int | None = None,
    ) -> LocalStream:
        """The running program of a snapshot; program, sampling and learning must be the same as then.

        Models that keep learning and changed settings come from the snapshot.
        """
        contents, stream = opened(data, Stored.SNAPSHOT), cls(program, tables, sampling, learn, memory=memory)
        with readable(Stored.SNAPSHOT):
            stream._continue_from(contents)
        return stream

    def _continue_from(self, data: memoryview) -> None:
        (length,) = _LENGTH.unpack_from(data)
        at = _LENGTH.size + length
        head = json.loads(bytes(data[at - length : at]))
        if head["program"] != self._digest:
            raise InputError.of(
                "INK0557",
                "this snapshot was taken of another program, or with other sampling or learning",
                notes=("a state belongs to the program that collected it",),
                helps=("restore it with the same program and options, or open a new stream",),
            )
        self._watermarks = Watermarks(idle=frozenset(head["idle"]), finished=head["finished"])
        self._clocks = {name: Clock(value) for name, value in head["clocks"].items()}
        self._n_rejected, self._ahead = head["read"], head.get("ahead")
        stages = []
        for size in head["stages"]:
            stages.append(bytes(data[at : at + size]))
            at += size + -size % 8
        if "placement" in head:
            self._placement = Placement(**head["placement"])
            self._cohorts = read_cohorts(head["cohorts"])
        self._settings = head.get("settings", {})
        self._windows = {name: StreamWindow(**window) for name, window in head.get("windows", {}).items()}
        if self._models is not None:
            self._tables = {**self._tables, **load_models(self._models, bytes(data[at : at + head["learned"]]))}
        if stages and head["early"]:
            changelogs = self._provisional.changelogs(self._provisional.start())
            assert changelogs is not None, "only changelogs are kept before the first row"
            self._early = changelogs_from_bytes(changelogs, stages[0])
        elif stages:
            self._live = self._compiled()
            self._state = self._live.from_bytes(stages, head["read"], head.get("newest", {}))

    def _step(self, raw: Mapping[str, pa.Table], watermarks: Watermarks | None = None) -> Found:
        for name, rows in raw.items():
            if name not in self._clocks and len(rows):
                self._decide_clock(name, rows)
        if self._live is None:
            return self._before_the_first_row(raw, watermarks or Watermarks())
        at = self._at
        with self._whole_step():
            self._state, emitted = self._live.step(at, raw, watermarks)
        if self._deferring is not None:
            self._deferring.outdated()
        if self._models is not None:
            self._learn_from(self._models, emitted)
        return self._found(emitted)

    def _found(self, emitted: Emitted) -> Found:
        return Found(self._program.plan, self._physical, self._shown(emitted), self._clock)

    @cached_property
    def _no_results(self) -> Found:
        return self._found(nothing(self._clock))

    @contextmanager
    def _whole_step(self) -> Iterator[None]:
        """A step within the memory limit. It may change its state in place, so one that is not finished is the last."""
        try:
            with interrupts_by_name(), within_budget(self._memory):
                yield
        except (ResourceError, MemoryError, KeyboardInterrupt) as problem:
            self._unfinished = problem
            raise

    def _require_whole(self) -> None:
        if self._unfinished is not None:
            raise InputError.of(
                "INK0583",
                "this stream has ended: an earlier push was not finished",
                notes=(str(self._unfinished).partition("\n")[0] or "it was interrupted",),
                helps=("restore the last snapshot, and push the rows since then again",),
            )

    def _shown(self, emitted: Emitted) -> Emitted:
        """What is emitted without the results of hidden events."""
        hidden = {event.name for event in self._physical.program.events if event.hidden}
        matches = {name: found for name, found in emitted.matches.items() if name not in hidden}
        tables = {name: table for name, table in emitted.tables.items() if name not in hidden}
        return replace(emitted, matches=matches, tables=tables)

    def _learn_from(self, models: LearningModels, emitted: Emitted) -> None:
        """Pass counts of events to the models; new versions predict from the next row on."""
        for event in self._physical.program.events:
            name, counted = counts_for(event), emitted.matches.get(event.name)
            if name is not None and counted is not None and len(counted):
                models.take(name, pa.table(dict(counted.values)), (int(counted.end.min()), int(counted.end.max())))
        renewed = models.renewed()
        if renewed:
            self._migrate(renewed, self._settings)

    def _migrate(self, tables: Mapping[str, pa.Table], settings: Settings) -> None:
        self._settle()
        self._deferring = None
        self._tables, self._settings = {**self._tables, **tables}, settings
        if self._models is not None:
            self._models.use(tables)
        for name in ("_provisional", "_physical", "_no_results"):
            self.__dict__.pop(name, None)
        if self._live is not None:
            self._live = self._compiled()

    def _require_models(self, settings: Settings, tables: Mapping[str, pa.Table] | None = None) -> None:
        """Reject invalid settings, and models that do not fit them."""
        reject_uncertain(settings, self._program.physical.uncertain)
        plan = plan_program(with_settings(self._program.physical.program, settings))
        facts = {**self._tables, **(tables or {})}
        require_fitting_models(plan, facts, self._unit)

    @cached_property
    def _physical(self) -> PhysicalPlan:
        """The plan with the present settings, and with the events that count for models."""
        program = self._program.physical.program
        if self._placement is not None:
            return placed_plan(self._adapted(program, self._settings), self._placement)
        if not self._settings and not self._windows and self._models is None:
            return self._program.physical
        return plan_program(self._adapted(program, self._settings))

    def _adapted(self, program: ProgramPlan, settings: Settings) -> ProgramPlan:
        """A program with settings, with the changed windows, and with the events that count for models."""
        adapted = with_windows(with_settings(program, settings), self._windows)
        return adapted if self._models is None else with_counting(adapted, self._models.orders)

    @property
    def _running(self) -> RunningPlan | None:
        """Where events are, once the program has replaced another one; None if all events began together."""
        if self._placement is None:
            return None
        return running_of(self._physical, self._placement, self._cohorts)

    def _before_the_first_row(self, raw: Mapping[str, pa.Table], watermarks: Watermarks) -> Found:
        """A step before the first row with a time: there are no results yet, and watermarks are kept for later."""
        live = self._provisional
        state, emitted = live.step(live.at(self._n_rejected, self._early), raw, watermarks)
        self._watermarks, self._n_rejected = Watermarks.merged([self._watermarks, watermarks]), state.n_read
        self._early = live.changelogs(state)
        return Found(self._program.plan, self._physical, emitted, self._clock)

    def _decide_clock(self, name: str, rows: pa.Table) -> None:
        """Decide from the first row with a time whether the times of a stream are timestamps or ticks."""
        schema = self._streams[name].schema
        if schema.start not in rows.column_names:
            return
        times = times_of_events(rows, schema)
        if times.null_count == len(times):
            return
        before, self._clocks = self._clocks, {**self._clocks, name: clock_in(schema, times)}
        try:
            time_unit(self._program.plan, self._clocks)
        except InputError:
            self._clocks = before
            raise
        if self._learn is not None:
            require_measurable(self._learn, self._clock)
        if self._live is None:
            self._live = self._compiled()
            self._state = self._live.at(self._n_rejected, self._early)
            if self._watermarks != Watermarks():
                self._state, _ = self._live.step(self._state, {}, self._watermarks)

    @property
    def _at(self) -> StreamState:
        self._require_whole()
        self._settle()
        assert self._state is not None, "a program at work has a state"
        return self._state

    def _settle(self) -> None:
        """Ingest deferred rows, which decide nothing."""
        if self._live is not None and self._deferring is not None and not self._deferring.is_empty:
            emitted = self._ingested(self._live, self._deferring)
            assert not any(map(len, emitted.matches.values())), "deferred rows decide nothing"

    @cached_property
    def _provisional(self) -> StreamProgram:
        """The program before the first accepted row."""
        return self._compiled()

    @cached_property
    def _digest(self) -> str:
        """A digest of the program, and of its sampling and learning."""
        text = self._program.to_ink() + (str(self._sampling) if self._is_uncertain else "")
        text += "" if self._learn is None else str(self._learn)
        return hashlib.sha256(text.encode()).hexdigest()

    def _compiled(self) -> StreamProgram:
        facts, unit, clocks = self._facts, self._unit, dict.fromkeys(self._streams, self._clock)
        context = expression_context(facts, unit)
        operators = Operators(self._physical, clocks, facts, context, unit, self._sampling, running=self._running)
        guards = {name: guard_of(stream.schema, self._clock, self._ahead) for name, stream in self._streams.items()}
        return StreamProgram(operators, self._clock, {name: one for name, one in guards.items() if one is not None})

    @property
    def _clock(self) -> Clock:
        """The clock of all streams; before the first row, a clock that fits the durations of the program."""
        if self._clocks:
            return next(iter(self._clocks.values()))
        try:
            return time_unit(self._program.plan, {}).clock
        except InputError:
            return Clock.TIMESTAMP

    @property
    def _is_uncertain(self) -> bool:
        return bool(self._program.physical.uncertain)

    @property
    def _facts(self) -> Mapping[str, pa.Table]:
        """The facts of tables, and those that rules derive from them."""
        return known(self._program.plan, self._tables, self._unit)

    @property
    def _unit(self) -> TimeUnit:
        clocks = self._clocks or dict.fromkeys(self._streams, self._clock)
        return time_unit(self._program.plan, clocks)

    def _require_stream(self, name: str) -> None:
        if name not in self._streams:
            raise InputError.of(
                "INK0554",
                f"the program has no stream called `{name}`",
                notes=(f"its streams are {', '.join(self._streams) or 'none'}",),
            )


def _columns(stream: StreamPlan) -> tuple[str, ...]:
    return tuple(column.name for column in stored_columns(stream.schema, [one.name for one in stream.derived]))


def _same(old: pa.Table | None, new: pa.Table) -> bool:
    return old is not None and old.equals(new)
