"""The description of a streaming query for its workers, which Spark pickles with the query."""

from __future__ import annotations

import gc
import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from inkling.analysis.clock import time_unit
from inkling.evaluators.sampling import Sampling
from inkling.forecasting.adaptation.counting import counts_for
from inkling.logical.evaluate import ExpressionContext
from inkling.model.time import Clock
from inkling.physical.plan import PhysicalPlan
from inkling.physical.streams import lateness_of
from inkling.runtime.ahead import FutureGuard
from inkling.runtime.operators.of_plan import Operators, addresses_of
from inkling.runtime.operators.protocol import StreamOperator
from inkling.runtime.registry import MAKERS, Maker
from inkling.runtime.replacement import RunningPlan
from inkling.runtime.routing import UNCERTAIN


@dataclass(frozen=True)
class Job:
    """A planned program with the facts of its tables, and the number of buckets."""

    plan: PhysicalPlan
    running: RunningPlan
    clocks: Mapping[str, Clock]
    tables: Mapping[str, pa.Table]
    context: ExpressionContext
    clock: Clock
    n_buckets: int
    digest: bytes
    definition: int = 0  # the number of the definition
    earlier: Job | None = None  # the definition before, from which buckets may still have states
    sampling: Sampling = field(default_factory=Sampling)
    makers: Mapping[str, Maker] = field(default_factory=dict)  # of evaluators of events over uncertain streams
    guards: Mapping[str, FutureGuard] | None = None  # of integer times; None without an operator for them

    @classmethod
    def of(
        cls,
        plan: PhysicalPlan,
        running: RunningPlan,
        clocks: Mapping[str, Clock],
        tables: Mapping[str, pa.Table],
        context: ExpressionContext,
        clock: Clock,
        n_buckets: int,
        sampling: Sampling,
        guards: Mapping[str, FutureGuard] | None = None,
    ) -> Job:
        plan = plan.on_clock(clock)
        about = plan, running, clocks, tables, context, n_buckets, sampling, guards
        digest = hashlib.sha256(pickle.dumps(about)).digest()
        makers = dict(MAKERS) if plan.uncertain else {}
        made = cls(plan, running, clocks, tables, context, clock, n_buckets, digest, sampling=sampling, makers=makers)
        return replace(made, guards=guards)

    @property
    def staged(self) -> PhysicalPlan:
        """The plan of the certain events, which run in stages."""
        return self.running.staged

    @property
    def is_uncertain(self) -> bool:
        """Whether some event depends on an uncertain stream; it then runs in an operator behind all stages."""
        return bool(self.plan.uncertain)

    @property
    def revises(self) -> bool:
        """Whether results can be withdrawn, so that changelogs of the streams are the first operator."""
        return self.plan.program.revises

    @cached_property
    def addresses(self) -> tuple[int, ...]:
        """The addresses of the operators, in the order in which rows pass them."""
        return addresses_of(self.plan, self.staged, is_guarded=self.guards is not None)

    def answered_at(self, address: int) -> tuple[str, ...]:
        """The events that an operator answers; none for guards and changelogs, which pass rows on."""
        if address == UNCERTAIN:
            found = [event.name for event in self.plan.program.events if event.name in self.plan.uncertain]
        elif address < 0:
            found = []
        else:
            found = [step.event.name for step in self.staged.stages[address].steps]
        shown = {name for _, name in self.reported}
        return tuple(name for name in found if name in shown) or tuple(found)

    @property
    def lateness(self) -> dict[str, int]:
        """By stream, how much earlier than its latest row a new row may be, in units of the clock."""
        return lateness_of(self.stream_names, self.plan.program, time_unit(self.plan.program, self.clocks))

    @property
    def n_operators(self) -> int:
        return len(self.addresses)

    def operators(self) -> Operators:
        """All operators of the program, made once per worker."""
        if self.digest not in _operators:
            known = {self.digest} if self.earlier is None else {self.digest, self.earlier.digest}
            for other in _operators.keys() - known:
                del _operators[other]
            unit = time_unit(self.plan.program, self.clocks)
            _operators[self.digest] = Operators(
                self.plan,
                self.clocks,
                self.tables,
                self.context,
                unit,
                self.sampling,
                self.makers,
                self.running,
                self.guards,
            )
        return _operators[self.digest]

    def operator(self, address: int) -> StreamOperator[Any]:
        """Compiled once per worker."""
        operators = self.operators()
        if not operators.is_compiled(address):
            _ = operators[address]
            # Spark collects garbage after every task; everything loaded by now need not be scanned again
            gc.freeze()
        return operators[address]

    @property
    def stream_names(self) -> list[str]:
        return [stream.schema.name for stream in self.plan.program.streams]

    @property
    def event_names(self) -> list[str]:
        return [event.name for event in self.plan.program.events]

    @property
    def reported(self) -> list[tuple[int, str]]:
        """The events whose results a run shows, with their numbers."""
        return [(number, event.name) for number, event in enumerate(self.plan.program.events) if not event.hidden]

    @property
    def counted(self) -> dict[int, str]:
        """The models that keep learning, by the number of the event that counts for them."""
        found = enumerate(map(counts_for, self.plan.program.events))
        return {number: model for number, model in found if model is not None}

    def without_facts(self) -> Job:
        """The job as far as its states need it: without facts."""
        return replace(self, tables={}, context=replace(self.context, tables={}), earlier=None)

    def restored(self, address: int, data: bytes, definition: int) -> Any:
        """The state of an operator, migrated if it comes from the definition before this one."""
        operator = self.operator(address)
        if definition == self.definition:
            return operator.from_bytes(data)
        if self.revises:  # then only windows and settings of forecasts can be different
            return operator.reconfigured(operator.from_bytes(data))
        earlier = self.earlier
        assert earlier is not None, f"a state of definition {definition}, of which nothing is known"
        assert earlier.definition == definition, f"a state of definition {definition}, not of {earlier.definition}"
        before = earlier.operator(address)
        return operator.migrated(before.from_bytes(data), before)


_operators: dict[bytes, Operators] = {}
