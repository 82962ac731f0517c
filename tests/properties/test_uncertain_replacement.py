"""Running programs over uncertain streams that are replaced twice: kept events find what they would have found without
a switch, new ones what they find in the rows that come after all that had come before."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pytest
from tests.conformance.cases import MIXED_STREAMS, MIXTURE, mixed_rows
from tests.kit.arrival import coming_by, permitted_order, with_lateness
from tests.kit.arrow import arrow_streams, arrow_tables
from tests.kit.oracle import expression_context
from tests.kit.rows import Rows
from tests.kit.streams import Row

import inkling
from inkling.analysis.clock import time_unit
from inkling.errors import InputError
from inkling.evaluators.sampling import Sampling
from inkling.logical.plan import ProgramPlan
from inkling.logical.rewrites.in_worlds import uncertain_events, uncertain_part
from inkling.model.time import Clock
from inkling.model.watermarks import NEVER, Watermarks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.streams import streams_of_event
from inkling.query import Program
from inkling.results import result_table
from inkling.runtime.operators.of_plan import Operators
from inkling.runtime.operators.protocol import Emitted
from inkling.runtime.replacement import RunningPlan, replaced
from inkling.runtime.stream import StreamProgram, StreamState

pytestmark = pytest.mark.long

SAMPLING = Sampling(epsilon=0.25, delta=0.25, seed=7)
LATENESS = 2
CASES = 6
LOST_STREAMS = """
STREAM Jam(id STRING, k STRING, n BIGINT, total BIGINT, t BIGINT) ID id KEY k TIME t
  NUMBERED BY n SEGMENTS COUNT total TIMEOUT 30 TICKS;
STREAM Sure(id STRING, k STRING, v BIGINT, t BIGINT) ID id KEY k TIME t;
"""
LOST = """
EVENT share(x.k AS one, y.k AS other) AS PATTERN SOME Jam x INTERSECTS SOME Jam y HAVING x.k < y.k;
EVENT likely(x.k AS one, y.k AS other) AS PATTERN SOME Jam x INTERSECTS SOME Jam y HAVING x.k < y.k
  CONFIDENCE > 0.3 EARLY;
EVENT during(x.k AS one, y.k AS other) AS PATTERN SOME Jam x CONTAINS SOME Jam y HAVING x.k <> y.k;
EVENT rung(a.k AS k) AS PATTERN SEQ(Jam a, Sure s) WITHIN 6 TICKS;
EVENT soon(a.k AS k, s.v AS v) AS PATTERN SEQ(Jam a[k = 'a'], Sure s, Jam b[k = 'b']) WITHIN 6 TICKS;
EVENT sure(a.v AS v) AS PATTERN SEQ(Sure a, Sure b) WITHIN 6 TICKS;
"""

Found = dict[str, list[str]]
Arrivals = list[tuple[str, Row]]


@dataclass(frozen=True)
class Switches:
    """Programs that take each other's place, rows in the order in which they come, and how many each of them gets."""

    programs: tuple[Program, ...]
    parts: tuple[Arrivals, ...]
    tables: Rows

    def __str__(self) -> str:
        shown = zip(self.programs, self.parts, strict=True)
        return "\n---\n".join("\n".join([one.text, *map(str, part)]) for one, part in shown)


def _mixture(rng: random.Random) -> tuple[str, str, Rows, Rows]:
    """Chains, queries and worlds by key, beside certain events."""
    rows: Rows = {name: [] for name in ("Vague", "At", "Walk", "Sure")}
    for key in ("k0", "k1"):
        for number in range(3):
            for name, some in mixed_rows(rng, f"{key}-{number}").items():
                rows[name] += [_moved({**row, "k": key}, 13 * number) for row in some]
    return MIXED_STREAMS, MIXTURE, rows, {"near": [{"one": "hall", "other": "lab"}]}


def _moved(row: Row, ticks: int) -> Row:
    return {name: value + ticks if name in ("t", "lo", "hi") else value for name, value in row.items()}


def _lost(rng: random.Random) -> tuple[str, str, Rows, Rows]:
    """Relations and worlds of segments with lost ends, without a key."""
    rows: Rows = {"Jam": [], "Sure": []}
    for key, total in (("a", 6), ("b", 10), ("c", 14)):
        for n, t in enumerate(sorted(rng.sample(range(4 + 2 * total), total)), start=1):
            if n in (1, total) or rng.random() < 0.7:
                rows["Jam"].append({"id": f"{key}{n}", "k": key, "n": n, "total": total, "t": t})
    for t in sorted(rng.sample(range(36), 9)):
        rows["Sure"].append({"id": f"s{t}", "k": "a", "v": rng.randrange(3), "t": t})
    return LOST_STREAMS, LOST, rows, {}


def switches_of(rng: random.Random, kind: str) -> Switches:
    streams, text, rows, tables = {"mixture": _mixture, "lost": _lost}[kind](rng)
    streams = with_lateness(streams, LATENESS)
    if kind == "mixture":
        programs = tuple(_program(rng, streams, _some(rng, text)) for _ in range(3))
    else:  # kept or stopped; tests/properties/test_lost_replacement.py adds some
        fewer = [text]
        while len(fewer) < 3:
            fewer.append(_some(rng, fewer[-1]))
        programs = tuple(inkling.parse(streams + one) for one in fewer)
    arrivals = _arrivals(rng, programs[0].plan, rows)
    cuts = sorted(rng.sample(range(len(arrivals)), 2))
    return Switches(programs, (arrivals[: cuts[0]], arrivals[cuts[0] : cuts[1]], arrivals[cuts[1] :]), tables)


def _some(rng: random.Random, text: str) -> str:
    """Some of the events and what they read, among them one over an uncertain stream."""
    needs = {"after_rise": "rising", "seen": "mean"}
    parts = text.split("EVENT ")[1:]
    events = {part.split("(")[0]: f"EVENT {part.split('--')[0]}" for part in parts}
    names = {name for name in events if rng.random() < 0.65}
    names |= {needs[name] for name in names if name in needs}
    if not names - {"sure", "mean", "latest"}:
        return _some(rng, text)
    return "\n".join(one for name, one in events.items() if name in names)


def _program(rng: random.Random, streams: str, text: str) -> Program:
    """A program in which a few of the events have another window."""
    parts = [f"EVENT {part}" for part in text.split("EVENT ")[1:]]
    return inkling.parse(
        streams + "".join(one.replace("WITHIN 6", "WITHIN 5") if rng.random() < 0.2 else one for one in parts)
    )


def _arrivals(rng: random.Random, plan: ProgramPlan, rows: Rows) -> Arrivals:
    schemas = {stream.schema.name: stream.schema for stream in plan.streams}
    every = [(name, row) for name, some in rows.items() for row in some]
    times = [int(str(row[coming_by(schemas[name])])) for name, row in every]
    return [every[place] for place in permitted_order(rng, list(times), LATENESS)]


def live_of(plan: PhysicalPlan, running: RunningPlan | None, switches: Switches) -> StreamProgram:
    context = expression_context(plan.program, switches.tables, Clock.TICKS)
    clocks = {stream.schema.name: Clock.TICKS for stream in plan.program.streams}
    tables, unit = arrow_tables(plan.program, switches.tables), time_unit(plan.program, clocks)
    return StreamProgram(Operators(plan, clocks, tables, context, unit, SAMPLING, running=running), Clock.TICKS)


def _fed(
    rng: random.Random, live: StreamProgram, state: StreamState, plan: ProgramPlan, arrivals: Arrivals
) -> tuple[StreamState, Found]:
    found: Found = {}
    queue = list(arrivals)
    while queue:
        n = rng.choice([3, 8, 20])
        piece, queue = queue[:n], queue[n:]
        state, outcome = live.step(state, tables_of(plan, piece))
        _add(found, plan, outcome)
    return live.from_bytes(live.to_bytes(state), state.n_read, state.newest), found


def tables_of(plan: ProgramPlan, arrivals: Arrivals) -> dict[str, pa.Table]:
    rows: Rows = {stream.schema.name: [] for stream in plan.streams}
    for name, row in arrivals:
        rows[name].append(row)
    return {name: table for name, table in arrow_streams(plan, rows).items() if len(table)}


def _add(found: Found, plan: ProgramPlan, outcome: Emitted) -> None:
    assert not len(outcome.late), outcome.late
    assert not len(outcome.rejects), outcome.rejects
    for event in plan.events:
        mine = found.setdefault(event.name, [])
        if event.name in outcome.tables:
            mine += map(_shown, outcome.tables[event.name].to_pylist())
        elif event.name in outcome.matches:
            mine += map(_shown, result_table(event, outcome.matches[event.name], Clock.TICKS).to_pylist())


def _shown(row: dict[str, object]) -> str:
    """When a result is known depends on how far time has come; all else does not."""
    return str({name: round(value, 6) if isinstance(value, float) else value for name, value in row.items()})


@dataclass(slots=True)
class Began:
    """Where the streams begin for an event, and what it found since."""

    border: int
    found: list[str]


class Clocks:
    """How far time has come, from the rows alone."""

    def __init__(self) -> None:
        self.latest: dict[str, int] = {}
        self.watermark = NEVER

    def after(self, plan: ProgramPlan, arrivals: Arrivals) -> None:
        schemas = {stream.schema.name: stream.schema for stream in plan.streams}
        for name, row in arrivals:
            self.latest[name] = max(int(str(row[coming_by(schemas[name])])), self.latest.get(name, NEVER))
        waited_for = [stream.schema.name for stream in uncertain_part(plan).streams]
        told = [self.latest[name] - LATENESS - 1 if name in self.latest else NEVER for name in waited_for]
        self.watermark = max(self.watermark, min(told))

    def border(self, name: str, plan: ProgramPlan) -> int:
        event = plan.event(name)
        assert event is not None
        return max([self.watermark, *(self.latest.get(one, NEVER) for one in streams_of_event(event, plan))])


def _differences(rng: random.Random, switches: Switches, seen: Counter[str]) -> Iterator[str]:
    clocks = Clocks()
    first = switches.programs[0].physical
    unit = time_unit(first.program, {one.schema.name: Clock.TICKS for one in first.program.streams})
    plan, running = first.on_clock(Clock.TICKS), RunningPlan.begun(first, unit)
    live = live_of(plan, running, switches)
    state, began = live.start(), {event.name: Began(NEVER, []) for event in plan.program.events}
    for number, (program, part) in enumerate(zip(switches.programs, switches.parts, strict=True)):
        if number:
            try:
                following, running, said = replaced(plan, running, program.physical.program, unit)
            except InputError as rejection:
                if "INK0606" not in str(rejection):
                    raise
                seen["rejected"] += 1
                return
            new = live_of(following, running, switches)
            state = new.migrated(state, live)
            state = new.from_bytes(new.to_bytes(state), state.n_read, state.newest)
            began = {name: one for name, one in began.items() if name in said.kept}
            for name in (*said.started, *said.restarted):
                began[name] = Began(clocks.border(name, following.program), [])
            seen["kept"] += len(said.kept)
            seen["cohorts"] = max(seen["cohorts"], len(running.cohorts))
            plan, live = following, new
        state, found = _fed(rng, live, state, plan.program, part)
        for name, rows in found.items():
            began[name].found += rows
        clocks.after(plan.program, part)
    _, outcome = live.step(state, {}, Watermarks(finished=True))
    last: Found = {}
    _add(last, plan.program, outcome)
    seen["checked"] += 1
    uncertain = uncertain_events(plan.program)
    for name, one in began.items():
        if name not in uncertain and one.border > NEVER:
            continue  # tests/properties/test_replacement.py
        mine, expected = sorted([*one.found, *last[name]]), _expected(switches, name, one.border)
        seen["kept, with results" if one.border == NEVER else "new, with results"] += bool(expected)
        if mine != expected:
            surplus, missing = Counter(mine) - Counter(expected), Counter(expected) - Counter(mine)
            yield f"{name} since {one.border}: found {[*surplus]}, instead of {[*missing]}"


def _expected(switches: Switches, name: str, border: int) -> list[str]:
    """What the last program finds in rows that come after a time, in one piece."""
    plan = switches.programs[-1].physical
    schemas = {stream.schema.name: stream.schema for stream in plan.program.streams}
    arrivals = [one for part in switches.parts for one in part]  # of equal alternatives, the first is named
    rows = [(name, row) for name, row in arrivals if int(str(row[coming_by(schemas[name])])) > border]
    live, found = live_of(plan, None, switches), Found()
    state, outcome = live.step(live.start(), tables_of(plan.program, rows))
    _add(found, plan.program, outcome)
    _, outcome = live.step(state, {}, Watermarks(finished=True))
    _add(found, plan.program, outcome)
    return sorted(found[name])


@pytest.mark.parametrize("kind", ["mixture", "lost"])
def test_replaced_eq_a_run_from_where_events_begin(kind: str) -> None:
    rng = random.Random(3)
    seen: Counter[str] = Counter()
    while seen["checked"] < CASES:
        switches = switches_of(rng, kind)
        found = list(_differences(rng, switches, seen))
        assert not found, "\n".join([str(switches), *found])
    assert seen["kept, with results"] > CASES, seen
    if kind == "mixture":
        assert seen["new, with results"] > CASES, seen
        assert seen["cohorts"] > 2, seen


SURE = "EVENT sure(k) AS PATTERN SEQ(Sure a, Sure b) WITHIN 6 TICKS PARTITION BY k;"
RISE = "EVENT rise(k) AS PATTERN SEQ(Vague a, Vague b) WITHIN 6 TICKS PARTITION BY k;"
UNKEYED = "EVENT high(a.v AS v) AS PATTERN SEQ(Vague a, Sure b) WITHIN 6 TICKS;"


@pytest.mark.parametrize(
    ("streams", "old", "new", "reason"),
    [
        (MIXED_STREAMS, SURE, SURE + RISE, "has no events over uncertain streams, the new one some"),
        (MIXED_STREAMS, SURE + RISE, SURE, "has some events over uncertain streams, the new one none"),
        (MIXED_STREAMS, SURE + RISE, SURE + RISE + UNKEYED, "would be divided by another key"),
    ],
    ids=["uncertain", "certain", "key"],
)
def test_what_a_query_cannot_change_is_rejected(streams: str, old: str, new: str, reason: str) -> None:
    plan, program = inkling.parse(streams + old).physical, inkling.parse(streams + new).plan
    unit = time_unit(program, {stream.schema.name: Clock.TICKS for stream in program.streams})
    with pytest.raises(InputError, match=reason) as caught:
        replaced(plan, RunningPlan.begun(plan, unit), program, unit)
    assert caught.value.diagnostics[0].code == "INK0606"
