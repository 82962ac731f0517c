"""The running definition of a program, the one before it, and the one that replaces it with the next micro-batch."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from inkling.analysis.clock import time_unit
from inkling.errors import InputError
from inkling.evaluators.sampling import Sampling
from inkling.forecasting.adaptation.counting import require_fitting_models
from inkling.forecasting.adaptation.steering import reject_uncertain
from inkling.logical.plan import ProgramPlan
from inkling.logical.settings import Settings
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan, Runnable
from inkling.physical.planner import plan_program
from inkling.runtime.ahead import FutureGuard, guards_of_ticks
from inkling.runtime.replacement import Changes, RunningPlan, fitting, replaced, require_same_models, require_same_past
from inkling.spark.streaming.checkpoint.definition import Definitions, StoredDefinition, program_of
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.failures import intact
from inkling.spark.streaming.job import Job

BATCHES_TO_REACH_ALL = 2
"""After this many micro-batches, every bucket has a state of the definition: the second one reaches all buckets."""


class Replaceable(Runnable, Protocol):
    """A program with a name and a text, which can replace a running one."""

    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    def require_streamable(self, *, unbounded: bool = False) -> None: ...


@dataclass(frozen=True, slots=True)
class Logs:
    """The last planned and the last finished micro-batch of a checkpoint."""

    planned: int  # the last micro-batch whose rows are fixed, -1 before the first
    done: int  # the last one that is finished

    @classmethod
    def of(cls, checkpoint: CheckpointFolder) -> Logs:
        spark = checkpoint.inside("spark")
        return cls(_last(spark.inside("offsets")), _last(spark.inside("commits")))

    @property
    def next_batch(self) -> int:
        return self.planned if self.planned > self.done else self.done + 1

    @property
    def repeated(self) -> int:
        """The micro-batch that may have been delivered in part, -1 without one."""
        return self.planned if self.planned > self.done else -1


def _last(folder: CheckpointFolder) -> int:
    return max((int(name) for name in folder.names() if name.isdigit()), default=-1)


class DefinitionVersions:
    """Decides which definition computes a micro-batch, and stores the decision before.

    The definition that began a micro-batch also finishes it: after a crash, a partly delivered micro-batch is delivered
    again by the same definition.
    """

    def __init__(self, checkpoint: CheckpointFolder, ahead: str | None = None) -> None:
        """`ahead` overrides how far in the future rows may be."""
        self._checkpoint, self._ahead = checkpoint, ahead
        self._stored = Definitions(checkpoint.inside("inkling").inside("definitions"))
        self._logs = Logs.of(checkpoint)
        self._changing = threading.RLock()  # settings and models change from other threads than programs
        self._waiting: StoredDefinition | None = None
        self._current: StoredDefinition | None = None
        self._job: Job | None = None

    @property
    def current(self) -> StoredDefinition:
        assert self._current is not None, "begin first"
        return self._current

    @property
    def job(self) -> Job:
        assert self._job is not None, "begin first"
        return self._job

    @property
    def is_waiting(self) -> bool:
        """Whether another definition waits for the next micro-batch."""
        return self._waiting is not None

    @property
    def following(self) -> StoredDefinition:
        """The waiting definition, or else the current one."""
        return self._waiting or self.current

    @property
    def last_done(self) -> int:
        """The last micro-batch that is finished, -1 before the first."""
        return Logs.of(self._checkpoint).done

    def begin(
        self,
        program: Replaceable,
        tables: Mapping[str, pa.Table],
        clocks: Mapping[str, Clock],
        n_buckets: int,
        sampling: Sampling,
        counting: Mapping[str, int] | None = None,
    ) -> Changes:
        """Open a checkpoint with a program; returns the changes since the last run, which `commit` applies."""
        self._logs = Logs.of(self._checkpoint)
        numbers = self._stored.numbers()
        if self._logs.planned < 0:
            placement = program.physical.placement
            first = StoredDefinition(0, 0, program.name, program.text, tables, placement, n_buckets, clocks, sampling)
            is_guarded = bool(guards_of_ticks(program.plan, clocks, self._ahead))
            first = replace(first, counting=counting or {}, is_guarded=is_guarded)
            plan = plan_program(first.adapted(program.physical.program))
            _require_models(plan, first)
            running = RunningPlan.begun(plan, time_unit(plan.program, clocks))
            self._put(replace(first, placement=running.staged.placement, cohorts=running.cohorts))
            return Changes()
        with intact(self._checkpoint.path):
            assert numbers, "its folder `inkling` holds no program"
            earlier = self._stored.read(numbers[-2]).job(None) if len(numbers) > 1 else None
            self._take(self._stored.read(numbers[-1]), earlier)
        if self.job.is_uncertain:
            _require_same_worlds(self.current.sampling, sampling)
        return self.propose(program, tables, clocks, counting)

    def propose(
        self,
        program: Replaceable,
        tables: Mapping[str, pa.Table],
        clocks: Mapping[str, Clock],
        counting: Mapping[str, int] | None = None,
    ) -> Changes:
        """Let a program replace the running one with the next micro-batch; returns the changes.

        Changed settings of forecasts stay, if the program still has the forecast and they are valid for it.
        """
        _require_same_inputs(self.current.clocks, clocks)
        if not self.current.is_guarded:
            _require_no_guards(guards_of_ticks(program.plan, clocks, self._ahead))
        plan = program.physical.program
        with self._changing:
            wanted = replace(
                self.following,
                name=program.name,
                text=program.text,
                tables=tables,
                clocks=clocks,
                settings=fitting(plan, self.following.settings),
                counting=counting or {},
            )
            return self._wait(wanted, plan)

    def adapt(
        self,
        settings: Settings | None = None,
        tables: Mapping[str, pa.Table] | None = None,
        heard: int | str | None = None,
    ) -> Changes:
        """Continue the program with other settings of forecasts, or other facts; returns the changes."""
        with self._changing:
            base = self.following
            wanted = replace(
                base,
                tables={**base.tables, **(tables or {})},
                settings=base.settings if settings is None else settings,
                heard=base.heard if heard is None else heard,
            )
            return self._wait(wanted, program_of(wanted.text, wanted.name))

    def require_settings(self, settings: Settings) -> None:
        """Reject settings that are invalid for the program that runs next, or that its models do not allow."""
        base = replace(self.following, settings=settings)
        plan = plan_program(base.program)
        reject_uncertain(settings, plan.uncertain)
        _require_models(plan, base)

    def _wait(self, wanted: StoredDefinition, program: ProgramPlan) -> Changes:
        old, program = self.job.plan, wanted.adapted(program)
        unit = time_unit(program, wanted.clocks)
        new, running, changed = replaced(old, self.job.running, program, unit)
        _require_models(new, wanted)
        tables = wanted.tables
        facts = tuple(name for name, table in tables.items() if not _same(self.current.tables.get(name), table))
        changed = replace(changed, tables=facts)
        self._waiting = None
        if changed:
            require_same_past(old.program, new.program, changed)
            require_same_models(new.program, changed)
            placement = running.staged.placement
            following = replace(wanted, number=self.current.number + 1, placement=placement, cohorts=running.cohorts)
            self._waiting = following
        return changed

    def starting(self) -> None:
        """Note the micro-batch that a new query repeats; it belongs to the current definition."""
        self._logs = Logs.of(self._checkpoint)

    def is_due(self, batch: int) -> bool:
        """Whether a micro-batch that begins now belongs to the waiting definition."""
        return self.is_waiting and batch > self._logs.repeated and self._has_reached_all(batch)

    def switch(self, batch: int) -> None:
        """Make the waiting definition the current one from this micro-batch on."""
        with self._changing:
            assert self._waiting is not None, "nothing waits"
            self._put(replace(self._waiting, first_batch=batch), self.job)
            self._waiting = None

    def commit(self) -> None:
        """Switch while no query runs, if the next micro-batch is a new one."""
        self._logs = Logs.of(self._checkpoint)
        if self.is_due(self._logs.next_batch):
            self.switch(self._logs.next_batch)

    def _has_reached_all(self, batch: int) -> bool:
        return self.current.number == 0 or batch >= self.current.first_batch + BATCHES_TO_REACH_ALL

    def _put(self, definition: StoredDefinition, earlier: Job | None = None) -> None:
        self._stored.write(definition)
        self._take(definition, earlier)

    def _take(self, definition: StoredDefinition, earlier: Job | None) -> None:
        self._current = definition
        self._job = definition.job(None if earlier is None else earlier.without_facts(), self._ahead)


def _require_same_worlds(old: Sampling, new: Sampling) -> None:
    if old != new:
        raise InputError.of(
            "INK0606",
            "this checkpoint was begun with other settings of sampling",
            notes=(f"it has {old}", f"requested now: {new}"),
            helps=("use the same settings, or a new checkpoint",),
        )


def _require_no_guards(guards: Mapping[str, FutureGuard]) -> None:
    for name, guard in guards.items():
        raise InputError.of(
            "INK0609",
            f"this checkpoint was begun without a guard of the times of `{name}`, which are integers",
            notes=(
                f"now it has AHEAD {guard.length}",
                "the operator of the guard is part of a query from its first run",
            ),
            helps=("start with a new checkpoint, or switch the guard off with `--ahead none`",),
        )


def _require_models(plan: PhysicalPlan, definition: StoredDefinition) -> None:
    require_fitting_models(plan, definition.tables, time_unit(plan.program, definition.clocks))


def _same(old: pa.Table | None, new: pa.Table) -> bool:
    return old is not None and old.equals(new)


def _require_same_inputs(old: Mapping[str, Clock], new: Mapping[str, Clock]) -> None:
    if old == new:
        return
    if old.keys() != new.keys():
        message = f"the running program reads {', '.join(sorted(old))}, the new one {', '.join(sorted(new))}"
        note = "the checkpoint stores the read positions of exactly these streams"
    else:
        message = "the clock of the streams would change"
        note = "the state has times in the old unit"
    raise InputError.of("INK0606", message, notes=(note,), helps=("start the program with a new checkpoint",))
