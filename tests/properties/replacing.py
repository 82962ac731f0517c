"""A program over uncertain streams that replaces a running one after some rows, in this process."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.kit.arrow import arrow_streams
from tests.kit.oracle import expression_context
from tests.kit.rows import Rows
from tests.kit.streams import Row

from inkling.analysis.clock import time_unit
from inkling.evaluators.sampling import Sampling
from inkling.logical.plan import ProgramPlan
from inkling.model.time import Clock, TimeUnit
from inkling.model.watermarks import Watermarks
from inkling.physical.plan import PhysicalPlan
from inkling.query import Program
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.replacement import Changes, RunningPlan, replaced
from inkling.runtime.stream import StreamProgram, StreamState

Arrivals = Sequence[tuple[str, Row]]
Found = dict[str, list[dict[str, object]]]


def replaced_at(
    rng: random.Random, old: Program, new: Program, arrivals: Arrivals, cut: int, sampling: Sampling
) -> tuple[Found, Changes]:
    """All results of the events of the new program, and what changed after the first `cut` rows."""
    unit = time_unit(old.plan, {stream.schema.name: Clock.TICKS for stream in old.plan.streams})
    before, running = old.physical.on_clock(Clock.TICKS), RunningPlan.begun(old.physical, unit)
    first = _live(before, running, unit, sampling)
    found: Found = {event.name: [] for event in (*old.plan.events, *new.plan.events)}
    state = _pushed(rng, first, first.start(), old.plan, arrivals[:cut], found)
    plan, running, changed = replaced(before, running, new.physical.program, unit)
    second = _live(plan, running, unit, sampling)
    state = second.migrated(first.from_bytes(first.to_bytes(state), state.n_read, state.newest), first)
    state = second.from_bytes(second.to_bytes(state), state.n_read, state.newest)
    state = _pushed(rng, second, state, new.plan, arrivals[cut:], found)
    _add(found, second.step(state, {}, Watermarks(finished=True))[1])
    return found, changed


def _live(plan: PhysicalPlan, running: RunningPlan, unit: TimeUnit, sampling: Sampling) -> StreamProgram:
    clocks = {stream.schema.name: Clock.TICKS for stream in plan.program.streams}
    context = expression_context(plan.program, {}, Clock.TICKS)
    return StreamProgram(Operators(plan, clocks, {}, context, unit, sampling, running=running), Clock.TICKS)


def _pushed(
    rng: random.Random, live: StreamProgram, state: StreamState, plan: ProgramPlan, arrivals: Arrivals, found: Found
) -> StreamState:
    queue = list(arrivals)
    while queue:
        n = rng.choice([1, 3, 8])
        piece, queue = queue[:n], queue[n:]
        rows: Rows = {stream.schema.name: [] for stream in plan.streams}
        for name, row in piece:
            rows[name].append(row)
        given = {name: table for name, table in arrow_streams(plan, rows).items() if len(table)}
        state, emitted = live.step(state, given)
        assert not len(emitted.rejects), emitted.rejects.to_pylist()
        _add(found, emitted)
    return state


def _add(found: Found, emitted: Emitted) -> None:
    for name, table in emitted.tables.items():
        found[name] += table.to_pylist()
