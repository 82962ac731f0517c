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
from inkling.analysis.clock import time_unit
from inkling.evaluators.certain import rows_of
from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.rows.batches import event_batch, key_codes
from inkling.io import normalize
from inkling.knowledge.materialize import expression_context, known
from inkling.query import Program, parse

LEAST_RATE = 1e6
MOST_GROWTH = 1.5
MOST_SHARED = 1.5
COPIES = 16
EVENTS_PER_ID = 8
MOST_KNOWN = 1.2
FEW_COMPANIES, MANY_LINKS, RING = 1_000, 100_000, 10
SUPPLY_CHAIN = """
STREAM Inc(event BIGINT, company BIGINT, t BIGINT) ID event TIME t;
TABLE link(supplier BIGINT, customer BIGINT) FROM 'links.csv';
RULE in_chain(x, y) IF link(x, y);
RULE in_chain(x, z) IF in_chain(x, y) AND link(y, z);
EVENT trend AS PATTERN SEQ(Inc a, Inc b) WHERE in_chain(a.company, b.company) WITHIN 10 TICKS;
"""

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
    yield _known(max(events // 10, 1_000), repeats, seed)


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


def _known(events: int, repeats: int, seed: int) -> Row:
    """Pairs of companies that a chain of links connects, with few and with many links between as many companies.

    The companies that events speak of are all linked to something, so that none can be left out beforehand.
    """
    rng = np.random.default_rng(seed)
    data = {
        "Inc": pa.table(
            {"event": np.arange(events), "company": rng.integers(0, FEW_COMPANIES, events), "t": np.arange(events)}
        )
    }
    few, many = (
        _ready(parse(SUPPLY_CHAIN), data, {"link": _links(n_links)}) for n_links in (FEW_COMPANIES, MANY_LINKS)
    )
    less, more = best_of(repeats + 1, few.run, many.run)
    return Row(
        f"W9, {quantity(MANY_LINKS)} links between companies",
        f"{quantity(many.n_events)} events",
        more.seconds,
        more.cpu_seconds,
        many.n_events,
        f"{quantity(more.answer)} matches",
        (Baseline.of(f"{quantity(FEW_COMPANIES)} links", less),),
        (
            Goal("events/s", many.n_events / more.seconds, least=LEAST_RATE),
            Goal("cost beside few links", more.seconds / less.seconds, most=MOST_KNOWN),
        ),
    )


def _links(n_links: int) -> pa.Table:
    """Rings of ten companies; only the first ones are spoken of, the others just have to be known."""
    company = np.arange(n_links)
    following = company // RING * RING + (company + 1) % RING
    return pa.table({"supplier": company, "customer": following})


def _program(*patterns: str) -> Program:
    events = [f"EVENT e{place}(a.id AS id) AS PATTERN {pattern};" for place, pattern in enumerate(patterns)]
    return parse("\n".join([STREAMS, *events]))


def _ready(program: Program, data: Mapping[str, pa.Table], tables: Mapping[str, pa.Table] | None = None) -> Ready:
    """The engine of the only stage over its rows; conditions on one event are answered, and facts derived, already."""
    (stage,) = program.physical.stages
    read = {stream.schema.name: normalize(data[stream.schema.name], stream.schema) for stream in program.plan.streams}
    unit = time_unit(program.plan, {name: one.clock for name, one in read.items()})
    facts = known(program.plan, tables or {}, unit)
    context = expression_context(facts, unit)
    rows = rows_of(stage, {name: one.rows for name, one in read.items()}, facts, context).combine_chunks()
    codes, _ = key_codes(rows, len(stage.key_types))
    base = event_batch(stage, rows, codes)
    engine = StageEngine(stage, facts, context)
    return Ready(lambda: sum(map(len, engine.results(rows, codes, base).values())), len(base))
