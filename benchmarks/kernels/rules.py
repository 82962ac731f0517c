"""Interval rules over one batch: sequences, absences, conjunctions and shared patterns on events joined by an id.

Streams of three types take turns at random; an id has eight events on average, of which few make a match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.meter import best_of
from benchmarks.results import Baseline, Goal, Row, quantity
from inkling.analysis.clock import measure_for
from inkling.evaluators.stage.batches import event_batch, key_codes
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.whole import rows_of
from inkling.io import normalize
from inkling.logical.evaluate import Surroundings
from inkling.query import Program, parse

LEAST_RATE = 1e6
MOST_GROWTH = 1.5
MOST_SHARED = 1.5
COPIES = 16
EVENTS_PER_ID = 8

STREAMS = "".join(
    f"STREAM {name}(event BIGINT, id BIGINT, x BIGINT, t BIGINT) ID event KEY id TIME t;\n" for name in "ABC"
)
PATTERNS = {
    "W1, three in sequence": "SEQ(A a, B b, C c) WHERE b.id = a.id AND c.id = a.id",
    "W4, absence": "SEQ(A a, NOT C[id = a.id], B b) WHERE b.id = a.id",
    "W5, conjunction of three": "A a AND B b AND C c WHERE b.id = a.id AND c.id = a.id",
    "W6, sequence with alternatives": "SEQ(A a, (B b[id = a.id] OR C c[id = a.id]))",
}


@dataclass(frozen=True, slots=True)
class Ready:
    """A stage with all its rows, as the evaluators get them."""

    run: Callable[[], int]
    n_events: int


def run(events: int, repeats: int, seed: int) -> Iterator[Row]:
    """Each pattern at full size, and what an event costs beside a hundredth of the size."""
    small, large = streams(max(events // 100, 1_000), seed), streams(events, seed)
    for name, pattern in PATTERNS.items():
        few, many = (_ready(_program(pattern), data) for data in (small, large))
        less, more = best_of(repeats + 1, few.run, many.run)
        growth = (more.seconds / many.n_events) / (less.seconds / few.n_events)
        yield Row(
            name,
            f"{quantity(many.n_events)} events",
            more.seconds,
            more.cpu_seconds,
            many.n_events,
            f"{quantity(more.answer)} matches",
            (Baseline.of(f"{quantity(few.n_events)} events", less),),
            (
                Goal("events/s", many.n_events / more.seconds, least=LEAST_RATE),
                Goal("cost of an event beside the small size", growth, most=MOST_GROWTH),
            ),
        )
    yield _shared(streams(max(events // 10, 1_000), seed), repeats)


def streams(events: int, seed: int) -> dict[str, pa.Table]:
    """Three streams with `events` rows together; of each id, most events are of one type."""
    rng = np.random.default_rng(seed)
    n_ids = max(events // EVENTS_PER_ID, 1)
    ids = rng.integers(0, n_ids, events)
    kind = np.where(rng.random(events) < 0.7, ids % 3, rng.integers(0, 3, events))
    number, value = np.arange(events), rng.integers(0, 100, events)
    return {
        name: pa.table({"event": number[chosen], "id": ids[chosen], "x": value[chosen], "t": number[chosen]})
        for place, name in enumerate("ABC")
        for chosen in [np.flatnonzero(kind == place)]
    }


def _shared(data: Mapping[str, pa.Table], repeats: int) -> Row:
    pattern = "SEQ(A a, B b, C c) WHERE b.id = a.id AND c.id = a.id AND c.x < 5"
    alone = _ready(_program(pattern), data)
    many = _ready(_program(*[pattern] * COPIES), data)
    one, all_ = best_of(repeats + 1, alone.run, many.run)
    return Row(
        f"W8, {COPIES} equal patterns",
        f"{quantity(many.n_events)} events",
        all_.seconds,
        all_.cpu_seconds,
        many.n_events,
        f"{quantity(all_.answer)} matches",
        (Baseline.of("one of them", one),),
        (Goal("cost beside one", all_.seconds / one.seconds, most=MOST_SHARED),),
    )


def _program(*patterns: str) -> Program:
    events = [f"EVENT e{place}(a.id AS id) AS PATTERN {pattern};" for place, pattern in enumerate(patterns)]
    return parse("\n".join([STREAMS, *events]))


def _ready(program: Program, data: Mapping[str, pa.Table]) -> Ready:
    """The engine of the only stage over its rows; conditions on one event are answered already."""
    (stage,) = program.physical.stages
    read = {stream.schema.name: normalize(data[stream.schema.name], stream.schema) for stream in program.plan.streams}
    around = Surroundings({}, measure_for(program.plan, {name: one.clock for name, one in read.items()}))
    rows = rows_of(stage, {name: one.rows for name, one in read.items()}, {}, around).combine_chunks()
    codes, _ = key_codes(rows, len(stage.key_types))
    base = event_batch(stage, rows, codes)
    engine = StageEngine(stage, {}, around)
    return Ready(lambda: sum(map(len, engine.rest(rows, codes, base, {}).values())), len(base))

