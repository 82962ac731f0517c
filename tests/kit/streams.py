"""Random rows of small streams, with ties, nulls and rows in any order; and many streams packed into one."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from tests.kit.rows import Rows
from tests.kit.universe import KEYS, NUMBERS, TEXTS, WHOLE_NUMBERS, Declared, Kind

from inkling.logical.plan import ProgramPlan
from inkling.model.event import Value

Row = dict[str, Value]
LAST_TIME = 7


def random_rows(rng: random.Random, streams: Sequence[Declared], *, n_events: int, bad_rows: bool = True) -> Rows:
    """About `n_events` events per key, spread over the streams.

    Times are few, so that ties happen; places are unique, so that ordered events are totally ordered.
    """
    rows: Rows = {stream.name: [] for stream in streams}
    places = rng.sample(range(-50, 50), n_events * len(KEYS))
    for key in KEYS:
        for _ in range(rng.randint(n_events // 2, n_events)):
            stream = rng.choice(list(streams))
            number = sum(len(some) for some in rows.values())
            rows[stream.name].append(random_row(rng, stream, number, key, places.pop()))
    if bad_rows and rng.random() < 0.1:
        _spoil(rng, rows, streams)
    for some in rows.values():
        rng.shuffle(some)
    return rows


def random_tables(rng: random.Random) -> Rows:
    pairs = [{"one": one, "other": other} for one in TEXTS for other in TEXTS]
    limits = [{"s": text, "top": top} for text in (*TEXTS, None) for top in WHOLE_NUMBERS]
    return {
        "near": [dict(row) for row in rng.sample(pairs, rng.randint(0, 5))],
        "lim": [dict(row) for row in rng.sample(limits, rng.randint(0, 5))],
    }


def is_packable(plan: ProgramPlan) -> bool:
    """Whether keys never meet, so that streams can be put side by side under keys of their own."""
    by_key = all([column.name for column in event.partition] == ["k"] for event in plan.events)
    return by_key and all(stream.schema.id is not None for stream in plan.streams)


def pack(datasets: Iterable[Rows]) -> Rows:
    """Many small datasets as one: the keys and ids of each get its number in front."""
    packed: Rows = {}
    for number, rows in enumerate(datasets):
        for name, some in rows.items():
            packed.setdefault(name, []).extend(_renamed(row, number) for row in some)
    return packed


def _renamed(row: Row, number: int) -> Row:
    prefixed = {
        column: f"{number:06d}:{value}" for column, value in row.items() if column in ("k", "id") and value is not None
    }
    return {**row, **prefixed}


def random_row(rng: random.Random, stream: Declared, number: int, key: str, place: int) -> Row:
    """A row of a certain stream."""
    start = rng.randint(0, LAST_TIME)
    times: Row
    match stream.kind:
        case Kind.POINTS:
            times = {"t": start}
        case Kind.ORDERED:
            times = {"t": start, "seq": place}
        case Kind.INTERVALS:
            times = {"begun": start, "ended": start + rng.randint(0, 4)}
    return {
        "id": f"{stream.name.lower()}{number}",
        "k": key,
        "x": _or_null(rng, rng.choice(WHOLE_NUMBERS)),
        "y": _or_null(rng, rng.choice(NUMBERS)),
        "s": _or_null(rng, rng.choice(TEXTS)),
        **times,
    }


def _or_null(rng: random.Random, value: Value) -> Value:
    return None if rng.random() < 0.08 else value


def _spoil(rng: random.Random, rows: Rows, streams: Sequence[Declared]) -> None:
    """Add a row that is no event, for want of a key or a time."""
    stream = rng.choice(list(streams))
    row = random_row(rng, stream, sum(len(some) for some in rows.values()), KEYS[0], 99)
    row["k" if rng.random() < 0.5 or stream.kind is Kind.INTERVALS else "t"] = None
    rows[stream.name].append(row)
