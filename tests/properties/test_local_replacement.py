"""Programs that replace each other in `LocalStream`: the results of the definition, and those of the stream runner."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.rows import Rows
from tests.properties.test_replacement import Switch, expected_after, switches_of
from tests.properties.test_uncertain_replacement import SAMPLING, Switches, live_of, tables_of
from tests.properties.test_uncertain_replacement import switches_of as uncertain_switches

from inkling.analysis.clock import time_unit
from inkling.errors import InputError
from inkling.evaluators.sampling import Sampling
from inkling.local_stream import LocalStream
from inkling.logical.plan import ProgramPlan
from inkling.model.time import Clock
from inkling.model.watermarks import Watermarks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.planner import plan_program
from inkling.query import Program
from inkling.results import result_table
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.replacement import RunningPlan, replaced

Found = dict[str, list[dict[str, object]]]


def add(found: Found, tables: dict[str, pa.Table]) -> None:
    for name, table in tables.items():
        found.setdefault(name, []).extend(table.to_pylist())


def again(rng: random.Random, stream: LocalStream, program: Program, tables: Rows, sampling: Sampling) -> LocalStream:
    """The same stream, sometimes through a snapshot."""
    if rng.random() < 0.6:
        return stream
    return LocalStream.restore(program, stream.snapshot(), arrow_tables(program.plan, tables), sampling=sampling)


def switched(rng: random.Random, switch: Switch) -> tuple[Found, tuple[str, ...]]:
    """The results of the new program, with those of kept events before it, and the kept events."""
    facts = arrow_tables(switch.old.plan, switch.tables)
    stream, early, late = switch.old.open(facts, unbounded=True), Found(), Found()
    for number, (name, row) in enumerate(switch.arrivals):
        if number == switch.cut:
            stream, kept = replaced_by(rng, stream, switch)
        found = stream.push({name: arrow_streams(switch.old.plan, {name: [row]})[name]})
        add(early if number < switch.cut else late, dict(found.tables))
        stream = again(rng, stream, switch.old if number < switch.cut else switch.new, switch.tables, Sampling())
    if switch.cut == len(switch.arrivals):
        stream, kept = replaced_by(rng, stream, switch)
    add(late, dict(stream.finish().tables))
    return {name: [*(early.get(name, []) if name in kept else []), *rows] for name, rows in late.items()}, kept


def replaced_by(rng: random.Random, stream: LocalStream, switch: Switch) -> tuple[LocalStream, tuple[str, ...]]:
    facts = arrow_tables(switch.new.plan, switch.tables)
    changed = stream.replace(switch.new, facts, unbounded=True)
    return again(rng, stream, switch.new, switch.tables, Sampling()), changed.kept


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 5))])
def test_certain_events_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    n_checked = n_kept = 0
    while n_checked < 40:
        for switch in switches_of(rng):
            try:
                found, kept = switched(rng, switch)
            except InputError as rejection:
                if "INK0606" not in str(rejection):
                    raise
                continue
            plan = plan_after(switch) if switch.cut else plan_program(switch.new.physical.program)
            everything = tuple(event.name for event in switch.new.plan.events)
            wanted = expected_after(switch, plan, kept if switch.cut else everything)
            wrong = differences(switch.new.plan, wanted, found)
            assert not wrong, "\n".join([str(switch), *wrong])
            n_checked, n_kept = n_checked + 1, n_kept + bool(kept and switch.cut)
    assert n_kept > 10


def plan_after(switch: Switch) -> PhysicalPlan:
    unit = time_unit(switch.new.plan, {stream.schema.name: Clock.TICKS for stream in switch.new.plan.streams})
    old = switch.old.physical
    return replaced(old, RunningPlan.begun(old, unit), switch.new.physical.program, unit)[1].staged


def pieces(rng: random.Random, switches: Switches) -> list[list[list[tuple[str, dict[str, object]]]]]:
    """The rows of each program, cut into pushes."""
    cut: list[list[list[tuple[str, dict[str, object]]]]] = []
    for part in switches.parts:
        queue, mine = list(part), []
        while queue:
            n = rng.choice([3, 8, 20])
            mine.append(queue[:n])
            queue = queue[n:]
        cut.append(mine)
    return cut


def by_operators(switches: Switches, cut: list[list[list[tuple[str, dict[str, object]]]]]) -> Iterator[Found]:
    """The results of each step of the operators that streams run on Spark, cohort by cohort."""
    first = switches.programs[0].physical
    unit = time_unit(first.program, {one.schema.name: Clock.TICKS for one in first.program.streams})
    plan, running = first.on_clock(Clock.TICKS), RunningPlan.begun(first, unit)
    live = live_of(plan, running, switches)
    state = live.start()
    for number, (program, pushes) in enumerate(zip(switches.programs, cut, strict=True)):
        if number:
            plan, running, _ = replaced(plan, running, program.physical.program, unit)
            following = live_of(plan, running, switches)
            state, live = following.migrated(state, live), following
        for rows in pushes:
            state, emitted = live.step(state, tables_of(plan.program, rows))
            yield shown(plan.program, emitted)
    _, emitted = live.step(state, {}, Watermarks(finished=True))
    yield shown(plan.program, emitted)


def shown(plan: ProgramPlan, emitted: Emitted) -> Found:
    found: Found = {}
    for event in plan.events:
        table = emitted.tables.get(event.name)
        if table is None and event.name in emitted.matches:
            table = result_table(event, emitted.matches[event.name], Clock.TICKS)
        found[event.name] = [] if table is None else table.to_pylist()
    return found


def in_process(
    rng: random.Random, switches: Switches, cut: list[list[list[tuple[str, dict[str, object]]]]]
) -> Iterator[Found]:
    program = switches.programs[0]
    stream = program.open(arrow_tables(program.plan, switches.tables), unbounded=True, sampling=SAMPLING)
    for number, (one, pushes) in enumerate(zip(switches.programs, cut, strict=True)):
        if number:
            stream.replace(one, arrow_tables(one.plan, switches.tables), unbounded=True)
        for rows in pushes:
            stream = again(rng, stream, one, switches.tables, SAMPLING)
            found = stream.push(tables_of(one.plan, rows))
            yield {name: table.to_pylist() for name, table in found.tables.items()}
    yield {name: table.to_pylist() for name, table in stream.finish().tables.items()}


@pytest.mark.parametrize("kind", ["mixture", pytest.param("lost", marks=pytest.mark.long)])
def test_uncertain_events_eq_the_operators_of_streams(kind: str) -> None:
    rng = random.Random(3)
    seen: Counter[str] = Counter()
    while seen["checked"] < 3:
        switches = uncertain_switches(rng, kind)
        if not switches.parts[0]:
            continue
        cut = pieces(rng, switches)
        try:
            wanted = list(by_operators(switches, cut))
        except InputError as rejection:
            if "INK0606" not in str(rejection):
                raise
            with pytest.raises(InputError, match="INK0606"):
                list(in_process(rng, switches, cut))
            continue
        assert list(in_process(rng, switches, cut)) == wanted, str(switches)
        seen["checked"] += 1
        seen["results"] += sum(len(rows) for found in wanted for rows in found.values())
    assert seen["results"] > 10
