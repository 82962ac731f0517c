"""Running programs that are replaced: kept events find what they would have found, new ones what began with them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pytest
from tests.kit.arrival import permitted_order, with_lateness
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.comparison import differences
from tests.kit.oracle import expression_context
from tests.kit.programs import Options, random_program
from tests.kit.rows import Rows
from tests.kit.streams import Row, random_rows, random_tables
from tests.kit.universe import DERIVED, Declared, Kind

import inkling
from inkling.analysis.choice import Evaluator
from inkling.analysis.clock import time_unit
from inkling.errors import InklingError, InputError
from inkling.evaluators.sampling import Sampling
from inkling.logical.plan import EventPlan, ProgramPlan
from inkling.meaning.semantics import Result, derive
from inkling.meaning.streams import world_of
from inkling.model.event import Event, World
from inkling.model.time import Clock
from inkling.model.watermarks import NEVER, Watermarks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.streams import streams_behind, streams_of_event
from inkling.query import Program
from inkling.results import result_table
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.replacement import Changes, changes, planned_after
from inkling.runtime.stream import StreamProgram, StreamState

pytestmark = pytest.mark.long

CASES_PER_SEED = 130
SEEDS = range(4)
SWITCHES_PER_PAIR = 5
CONDITIONS = ("x > 0", "x <> 2", "s = 'a'", "s <> 'b'", "y < 2.0", "x <= 2 AND s <> 'c'")
WITHOUT = Options(n_events=3, without=frozenset({"ties with order"}))

Found = dict[str, list[dict[str, object]]]


@dataclass(frozen=True, slots=True)
class Switch:
    """Two programs, rows in the order in which they come, and how many of them come before the switch."""

    old: Program
    new: Program
    rows: Rows
    tables: Rows
    arrivals: list[tuple[str, Row]]
    cut: int
    lateness: int

    def __str__(self) -> str:
        listed = [f"{name}: {row}" for name, row in self.arrivals]
        tables = [f"{name}: {row}" for name, rows in self.tables.items() for row in rows]
        at = [f"--- switch ---\n{self.new.text}\n---"]
        return "\n".join([self.old.text, *tables, *listed[: self.cut], *at, *listed[self.cut :]])


def _declared(rng: random.Random) -> list[Declared]:
    likely = [Kind.ORDERED, Kind.ORDERED, *Kind]  # most automata need an order
    kinds = [rng.choice(likely)] * 2 if rng.random() < 0.7 else rng.sample(list(Kind), 2)
    names = {Kind.POINTS: "AB", Kind.ORDERED: "VW", Kind.INTERVALS: "LM"}
    chosen = kinds[: rng.randint(1, 2)]
    return [
        Declared(names[kind][place], kind, True, "seq", rng.choice(list(DERIVED)) if rng.random() < 0.25 else "")
        for place, kind in enumerate(chosen)
    ]


def _events(rng: random.Random, streams: list[Declared], letter: str) -> tuple[str, list[str]]:
    """Declarations, and some events whose names start with a letter."""
    declarations, *events = random_program(rng, streams, WITHOUT).split("\nEVENT ")
    ordered = [stream.name for stream in streams if stream.kind is Kind.ORDERED]
    if ordered and rng.random() < 0.7:
        events.append(f"e9{_regular(rng, ordered)}")
    return declarations, ["EVENT " + re.sub(r"\be(\d)(_late)?\b", rf"{letter}\1\2", event) for event in events]


def _regular(rng: random.Random, sources: list[str]) -> str:
    """The rest of an event for which automata are used."""
    parts = [
        f"{rng.choice(sources)} v{number}[{rng.choice(CONDITIONS)}]{rng.choice(['', '', '+', '?'])}"
        for number in range(3)
    ]
    if rng.random() < 0.3:
        parts.insert(rng.randint(1, 2), f"NOT {rng.choice(sources)} [{rng.choice(CONDITIONS)}]")
    policy = rng.choice(["ANY", "NEXT", "STRICT"])
    rest = rng.choice(["", "PARTITION BY k "]) + rng.choice(["", "CONSUME RESTART "])
    return f" AS PATTERN SEQ {policy} ({', '.join(parts)}) {rest}PER END;"


def _programs(rng: random.Random, streams: list[Declared], lateness: int) -> tuple[Program, Program]:
    """A program and one that has some of its events in some order, and others."""
    while True:
        declarations, first = _events(rng, streams, "e")
        _, second = _events(rng, streams, "f")
        declarations = with_lateness(declarations, lateness)
        twins = [re.sub(r"\be(\d)(_late)?\b", r"g\1\2", event) for event in first] if rng.random() < 0.4 else []
        old = [event for event in (*first, *second, *twins) if rng.random() < 0.7]
        new = [event for event in (*first, *second, *twins) if rng.random() < 0.7]
        if rng.random() < 0.3:
            new = [re.sub(r"\bf0(_late)?\b", r"e0\1", event) for event in new if not event.startswith("EVENT e0")]
        rng.shuffle(new)
        try:
            pair = tuple(inkling.parse("\n".join([declarations, *events])) for events in (old, new) if events)
        except InklingError:
            continue
        if len(pair) == 2:
            return pair


def switches_of(rng: random.Random) -> Iterator[Switch]:
    """Some switches between two programs."""
    streams, lateness = _declared(rng), rng.choice([0, 2, 4])
    old, new = _programs(rng, streams, lateness)
    for _ in range(SWITCHES_PER_PAIR):
        yield _switch(rng, streams, lateness, old, new)


def _switch(rng: random.Random, streams: list[Declared], lateness: int, old: Program, new: Program) -> Switch:
    rows = random_rows(rng, streams, n_events=rng.randint(4, 6), bad_rows=False)
    queues = {
        name: [some[place] for place in permitted_order(rng, [_end(row) for row in some], lateness)]
        for name, some in rows.items()
    }
    arrivals = []
    while any(queues.values()):
        name = rng.choice([name for name, queue in queues.items() if queue])
        arrivals.append((name, queues[name].pop(0)))
    return Switch(old, new, rows, random_tables(rng), arrivals, rng.randint(0, len(arrivals)), lateness)


def _end(row: Row) -> int:
    value = row.get("ended", row.get("t"))
    assert isinstance(value, int)
    return value


def _live(plan: PhysicalPlan, switch: Switch) -> StreamProgram:
    context = expression_context(plan.program, switch.tables, Clock.TICKS)
    clocks = {stream.schema.name: Clock.TICKS for stream in plan.program.streams}
    tables, unit = arrow_tables(plan.program, switch.tables), time_unit(plan.program, clocks)
    return StreamProgram(Operators(plan, clocks, tables, context, unit, Sampling()), Clock.TICKS)


def _run(rng: random.Random, switch: Switch, plan: PhysicalPlan) -> tuple[Found, Found]:
    """What is found before the switch, and after it."""
    old, new = _live(switch.old.physical, switch), _live(plan, switch)
    before, after = switch.arrivals[: switch.cut], switch.arrivals[switch.cut :]
    state, early = _fed(rng, old, old.start(), switch.old.physical.program, before)
    state = _restored(new, new.migrated(_restored(old, state), old))
    state, late = _fed(rng, new, state, plan.program, after)
    _, emitted = new.step(state, {}, Watermarks(finished=True))
    _add(late, plan.program, emitted)
    return early, late


def _fed(
    rng: random.Random, live: StreamProgram, state: StreamState, plan: ProgramPlan, arrivals: list[tuple[str, Row]]
) -> tuple[StreamState, Found]:
    found: Found = {}
    queue = list(arrivals)
    while queue:
        n = rng.choice([1, 1, 2, 5])
        piece, queue = queue[:n], queue[n:]
        rows: Rows = {stream.schema.name: [] for stream in plan.streams}
        for name, row in piece:
            rows[name].append(row)
        given = {name: table for name, table in arrow_streams(plan, rows).items() if len(table)}
        state, emitted = live.step(state, given)
        _add(found, plan, emitted)
        if rng.random() < 0.3:
            state = _restored(live, state)
    return state, found


def _restored(live: StreamProgram, state: StreamState) -> StreamState:
    return live.from_bytes(live.to_bytes(state), state.n_read, state.newest)


def _add(found: Found, plan: ProgramPlan, emitted: Emitted) -> None:
    for event in plan.events:
        table: pa.Table = result_table(event, emitted.matches[event.name], Clock.TICKS)
        found.setdefault(event.name, []).extend(table.to_pylist())


def expected_after(switch: Switch, plan: PhysicalPlan, kept: tuple[str, ...]) -> dict[str, tuple[Result, ...]]:
    """Kept events see everything; the others what ends after all that came before the switch."""
    program = switch.new.plan
    context = expression_context(program, switch.tables, Clock.TICKS)
    world = world_of(program, switch.rows, context)
    derived: tuple[Event, ...] = ()
    known_at: dict[Event, int] = {}
    results: dict[str, tuple[Result, ...]] = {}
    for event in program.events:
        base = world.events
        if event.name not in kept:
            stage = _stage_of(plan, event.name)
            base = _seen(switch, program, stage, kept, base)
        everything = (*base, *derived)
        if event.name not in kept:
            beginning = _beginning(switch, event, _stage_of(plan, event.name))
            everything = tuple(one for one in everything if one.end.time > beginning)
        found = derive(event, World(everything), context, known_at)
        derived = (*derived, *(one.event for one in found))
        known_at.update((one.event, one.result.detected_at) for one in found)
        results[event.name] = tuple(one.result for one in found)
    return results


def _stage_of(plan: PhysicalPlan, event: str) -> int:
    return next(stage.number for stage in plan.stages if any(step.event.name == event for step in stage.steps))


def _seen(
    switch: Switch, program: ProgramPlan, stage: int, kept: tuple[str, ...], base: tuple[Event, ...]
) -> tuple[Event, ...]:
    """Rows as a stage sees them: columns that look back begin anew unless the stage read the stream before."""
    before = switch.old.physical.stages[stage]
    stays = any(step.event.name in kept for step in before.steps)
    read = {given.source for given in before.inputs} if stays else set()
    afterwards: Rows = {stream.schema.name: [] for stream in program.streams}
    for name, row in switch.arrivals[switch.cut :]:
        if _end(row) > _watermark(switch, stage):
            afterwards[name].append(row)
    anew = world_of(program, afterwards, expression_context(program, switch.tables, Clock.TICKS))
    looking_back = {stream.schema.name for stream in program.streams if stream.derived} - read
    return (
        *(one for one in base if one.source not in looking_back),
        *(one for one in anew.events if one.source in looking_back),
    )


def _latest(switch: Switch) -> dict[str, int]:
    latest: dict[str, int] = {}
    for name, row in switch.arrivals[: switch.cut]:
        latest[name] = max(_end(row), latest.get(name, NEVER))
    return latest


def _watermark(switch: Switch, stage: int) -> int:
    behind = streams_behind(switch.old.physical.stages[stage], switch.old.physical)
    latest = _latest(switch)
    return min((latest[name] - switch.lateness - 1 if name in latest else NEVER for name in behind), default=NEVER)


def _beginning(switch: Switch, event: EventPlan, stage: int) -> int:
    latest = _latest(switch)
    times = [latest.get(name, NEVER) for name in streams_of_event(event, switch.new.plan)]
    return max([_watermark(switch, stage), *times])


def _differences(rng: random.Random, switch: Switch, seen: Counter[str]) -> list[str]:
    said = changes(switch.old.physical.program, switch.new.physical.program)
    try:
        plan = planned_after(switch.old.physical, switch.new.rewritten.plan)
    except InputError as rejection:
        if "INK0606" not in str(rejection):
            raise
        seen["rejected"] += 1
        return []
    early, late = _run(rng, switch, plan)
    whole = {name: [*early.get(name, []), *rows] if name in said.kept else rows for name, rows in late.items()}
    expected = expected_after(switch, plan, said.kept)
    _count(seen, said, expected, early)
    seen["kept by automata"] += sum(
        step.event.name in said.kept and step.evaluator is Evaluator.AUTOMATON
        for stage in plan.stages
        for step in stage.steps
    )
    return differences(switch.new.plan, expected, whole)


def _count(
    seen: Counter[str], said: Changes, expected: Mapping[str, tuple[Result, ...]], early: Mapping[str, list[object]]
) -> None:
    seen["checked"] += 1
    seen["kept, with results on both sides"] += sum(
        0 < len(early.get(name, ())) < len(expected[name]) for name in said.kept
    )
    seen["new, with results"] += sum(bool(expected[name]) for name in (*said.started, *said.restarted))
    seen["restarted"] += bool(said.restarted)
    seen["stopped"] += bool(said.stopped)


@pytest.mark.parametrize("seed", SEEDS)
def test_replaced_eq_definition(seed: int) -> None:
    rng = random.Random(seed)
    seen: Counter[str] = Counter()
    while seen["checked"] < CASES_PER_SEED:
        for switch in switches_of(rng):
            found = _differences(rng, switch, seen)
            assert not found, "\n".join([str(switch), *found])
    told = ("kept, with results on both sides", "kept by automata", "new, with results", "restarted", "stopped")
    assert min(seen[one] for one in told) > 5, seen


def test_there_are_five_hundred_cases() -> None:
    assert len(SEEDS) * CASES_PER_SEED >= 500
