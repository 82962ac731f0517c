"""Programs of every family over keys of every type.

Of doubles, 0.0 and -0.0 are one key; a row whose key is null, NaN or lacks a part is no event of a stream with that
KEY, and belongs to no partition.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.conformance.case import Case, Row, Rows, named_apart, with_lateness

from inkling.model.time import Clock

ROOMS = ("hall", "lab")
DAY_US = 86_400_000_000
TIME_0 = 1_780_000_000_000_000
TICK_US = 1_000_000


@dataclass(frozen=True, slots=True)
class KeyType:
    """The columns of a key, and values of which each list is one key."""

    columns: tuple[tuple[str, str], ...]
    keys: tuple[tuple[tuple[Any, ...], ...], ...]
    nobody: tuple[tuple[Any, ...], ...]  # no keys
    clock: Clock = Clock.TICKS

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


KEY_TYPES = {
    "text": KeyType((("k", "STRING"),), ((("p",),), (("",),), (("P",),), (("ß 中",),)), ((None,),)),
    "integer": KeyType((("k", "BIGINT"),), (((0,),), ((-1,),), ((2**53,),), ((2**53 + 1,),)), ((None,),)),
    "double": KeyType(
        (("k", "DOUBLE"),), (((0.0,), (-0.0,)), ((0.1 + 0.2,),), ((0.3,),), ((-5e-324,),)), ((None,), (math.nan,))
    ),
    "pair": KeyType(
        (("k", "STRING"), ("j", "DOUBLE")),
        ((("a", 0.0), ("a", -0.0)), (("b", 0.0),), (("a", 1.0),)),
        ((None, 1.0), ("a", None), ("a", math.nan)),
    ),
    "time": KeyType(
        (("k", "TIMESTAMP"),), (((0,),), ((TIME_0,),), ((TIME_0 + 1,),), ((-DAY_US,),)), ((None,),), Clock.TIMESTAMP
    ),
}


@dataclass(frozen=True, slots=True)
class Template:
    """A program in which `{columns}`, `{key}` and so on are still open, and what makes the rows of one key."""

    text: str
    rows: Callable[[random.Random, Sequence[Row], str], Rows]
    meet: bool = False  # whether keys meet, so that they cannot be looked at one by one
    timestamps: bool = True  # whether it can have them

    @property
    def uncertain(self) -> bool:
        return any(word in self.text for word in ("BETWEEN", "PROBABILITY", "NUMBERED"))


STREAMS = {
    "A": "STREAM A(id STRING, {columns}, v BIGINT, t {time}) ID id KEY {key} TIME t DERIVE change = v - PREV(v);",
    "B": "STREAM B(id STRING, {columns}, v BIGINT, t {time}) ID id TIME t;",
    "O": "STREAM O(id STRING, {columns}, v BIGINT, t {time}) ID id KEY {key} TIME t ORDER BY v;",
    "V": "STREAM V(id STRING, {columns}, v BIGINT, lo {time}, hi {time}) ID id KEY {key} TIME BETWEEN lo AND hi;",
    "P": "STREAM P(id STRING, {columns}, room STRING, t {time}) ID id KEY {key} TIME t PROBABILITY p;",
    "W": "STREAM W(id STRING, {columns}, room STRING, t {time}) ID id KEY {key} TIME t PROBABILITY p GIVEN before;",
    "S": "STREAM S(id STRING, {columns}, n BIGINT, what STRING, t {time}) ID id KEY {key} TIME t NUMBERED BY n"
    " SEGMENTS ROLE what;",
    "I": "STREAM I(id STRING, {columns}, s {time}, e {time}) ID id KEY {key} TIME FROM s TO e;",
}


def _program(streams: str, *events: str) -> str:
    return "\n".join([*(STREAMS[name] for name in streams), *events])


CERTAIN = _program(
    "ABO",
    "EVENT network({key}, b.v AS v) AS PATTERN SEQ(A a, B b[v > a.v]) WITHIN 6 {unit} PARTITION BY {key};",
    "EVENT automaton({key}) AS PATTERN SEQ STRICT(O[v % 3 = 0], O+, O[v % 2 = 1]) PARTITION BY {key} PER END;",
    "EVENT missing({key}) AS PATTERN SEQ(A a, NOT B, A b) WITHIN 6 {unit} PARTITION BY {key} PER INTERVAL;",
    "EVENT changed({key}, a.change AS by) AS PATTERN A a[change > 0] PARTITION BY {key};",
    "EVENT mean({key}, AVG(w.v) AS m) AS PATTERN WINDOW B w LAST 3 EVENTS PARTITION BY {key};",
    "EVENT recent({key}) AS PATTERN SEQ(A a, B b) WITHIN 9 {unit} PARTITION BY {key} CONSUME RECENT;",
    "EVENT restart({key}) AS PATTERN SEQ NEXT(B a, B b) PARTITION BY {key} PER END CONSUME RESTART;",
    "EVENT derived({key}, n.v AS v) AS PATTERN SEQ(network n, A a) WITHIN 12 {unit} PARTITION BY {key};",
)
JOINED = _program(
    "AB",
    "EVENT joined({a_key}, b.v AS v) AS PATTERN SEQ(A a, B b) WHERE {equal} WITHIN 6 {unit};",
    "EVENT values({a_key}) AS PATTERN SEQ(A a, A b) WHERE {equal} PER VALUES;",
    # what is computed may be -0.0 where it is 0.0 elsewhere
    "EVENT zero((a.v - 2) * 0.0 AS z) AS PATTERN A a;",
    "EVENT zeros(z) AS PATTERN SEQ(zero a, zero b) WITHIN 2 {unit} PARTITION BY z;",
)
SEGMENTS = _program(
    "I",
    "EVENT some({x_key}, {y_key}) AS PATTERN SOME I x INTERSECTS SOME I y;",
    "EVENT all({x_key}, {y_key}) AS PATTERN ALL I x STARTS_BEFORE SOME I y;",
)
CHAIN = _program(
    "V",
    "EVENT chain({key}, b.v AS v) AS PATTERN SEQ(V a, V b[v <> a.v]) WITHIN 6 POINTS PARTITION BY {key};",
    "EVENT next({key}) AS PATTERN SEQ NEXT(V a[v = 0], V b, V c) WITHIN 9 POINTS PARTITION BY {key};",
)
QUERY = _program(
    "PW",
    "EVENT regular({key}) AS PATTERN SEQ NEXT(P a[room = 'hall'], P b[room = 'lab']) PARTITION BY {key} PER END;",
    "EVENT markov({key}) AS PATTERN SEQ NEXT(W a, W b) HAVING b.room = 'lab' PARTITION BY {key} PER END;",
    "EVENT ever({key}) AS PATTERN SEQ NEXT(P a[room = 'hall'], W b[room = 'lab']) PARTITION BY {key} PER VALUES;",
)
ANYONE = _program(
    "PB",
    "EVENT anyone AS PATTERN SEQ NEXT(P a[room = 'hall'], P b[room = 'lab' AND {same_as_a}]) PER END;",
    "EVENT then AS PATTERN SEQ NEXT(P a[room = 'hall'], P b[{same_as_a}], B c[v = 1]) PER END;",
    "EVENT sets AS PATTERN SEQ NEXT(P a[room = 'hall'], P b[room = a.room AND {same_as_a}], P c) PER END;",
)
RELATION = _program(
    "S",
    "EVENT meet({x_key}, {y_key}) AS PATTERN SOME S x INTERSECTS SOME S y;",
    "EVENT twice({x_key}, {y_key}) AS PATTERN AT LEAST 2 S x INTERSECTS SOME S y;",
)
WORLDS = _program(
    "PB",
    "EVENT both({key}, b.v AS v) AS PATTERN (P a[room = 'lab']) AND (B b) WITHIN 4 {unit} PARTITION BY {key};",
    "EVENT after({key}) AS PATTERN SEQ(both x, P a[room = 'hall']) WITHIN 9 {unit} PARTITION BY {key} PER END;",
)
TIME_WORLDS = _program(
    "VB", "EVENT either({key}) AS PATTERN (V a[v = 0]) OR (SEQ(B b, V c)) WITHIN 5 {unit} PARTITION BY {key} PER END;"
)


def _sure(rng: random.Random, keys: Sequence[Row], name: str) -> Rows:
    rows: Rows = {one: [] for one in "ABO"}
    for number in range(14):
        row = {"id": f"{name}-{number}", **rng.choice(keys), "v": rng.randrange(4), "t": rng.randrange(12)}
        rows[rng.choice("AAB")].append(row)
    for number in range(6):
        rows["O"].append(
            {"id": f"{name}o{number}", **rng.choice(keys), "v": number + rng.randrange(2) * 7, "t": number}
        )
    return rows


def _lasting(rng: random.Random, keys: Sequence[Row], name: str) -> Rows:
    starts = rng.sample(range(20), 3)
    return {
        "I": [
            {"id": f"{name}-{place}", **rng.choice(keys), "s": start, "e": start + rng.randrange(1, 6)}
            for place, start in enumerate(starts)
        ]
    }


def _vague(rng: random.Random, keys: Sequence[Row], name: str) -> Rows:
    rows: Rows = {"V": [], "B": []}
    for number, time in enumerate(sorted(rng.sample(range(12), 5))):
        row = {"id": f"{name}-{number}", **rng.choice(keys), "v": rng.randrange(2)}
        rows["V"].append({**row, "lo": time, "hi": time + rng.choice((0, 1, 1, 2))})
    for number in range(2):
        rows["B"].append({"id": f"{name}b{number}", **rng.choice(keys), "v": 0, "t": rng.randrange(10)})
    return rows


def _probable(rng: random.Random, keys: Sequence[Row], name: str) -> Rows:
    """Alternatives of one event may spell their key in different ways."""
    rows: Rows = {"P": [], "W": [], "B": []}
    for time in sorted(rng.sample(range(9), 3)):
        share = rng.randint(1, 6) / 8
        for room, p in zip(ROOMS, (share, rng.choice((1 - share, 0.125))), strict=True):
            rows["P"].append({"id": f"{name}p{time}{room}", **rng.choice(keys), "room": room, "t": time, "p": p})
    before: tuple[str | None, ...] = (None,)
    for time in sorted(rng.sample(range(9), 3)):
        for one in before:
            share = rng.randint(1, 7) / 8
            for room, p in zip(ROOMS, (share, 1 - share), strict=True):
                row = {"id": f"{name}w{time}{one}{room}", **rng.choice(keys), "room": room, "t": time}
                rows["W"].append({**row, "p": p, "before": one})
        before = ROOMS
    for number in range(2):
        rows["B"].append({"id": f"{name}b{number}", **rng.choice(keys), "v": number, "t": rng.randrange(10)})
    return rows


def _few_probable(rng: random.Random, keys: Sequence[Row], name: str) -> Rows:
    """The same with few worlds, for keys that meet."""
    rows = _probable(rng, keys, name)
    times = sorted({row["t"] for row in rows["P"]})[:2]
    few = [row for row in rows["P"] if row["t"] in times]
    if name not in "01":
        room = rng.choice(ROOMS)
        few = [{**row, "p": 1.0} for row in few if row["room"] == room]
    return {"P": few, "B": rows["B"][:1]}


def _losing(rng: random.Random, keys: Sequence[Row], name: str) -> Rows:
    times = sorted(rng.sample(range(20), 4))
    lost = {rng.randrange(2, 4)} if name in "01" else set()
    return {
        "S": [
            {"id": f"{name}-{n}", **rng.choice(keys), "n": n, "what": "open" if n % 2 else "close", "t": t}
            for n, t in enumerate(times, start=1)
            if n not in lost
        ]
    }


TEMPLATES = {
    "certain": Template(CERTAIN, _sure),
    "joined": Template(JOINED, _sure, meet=True),
    "segments": Template(SEGMENTS, _lasting, meet=True),
    "chain": Template(CHAIN, _vague, timestamps=False),
    "query": Template(QUERY, _probable),
    "anyone": Template(ANYONE, _few_probable, meet=True),
    "relation": Template(RELATION, _losing, meet=True),
    "worlds": Template(WORLDS, _probable),
    "timeworlds": Template(TIME_WORLDS, _vague, timestamps=False),
}

COMBINATIONS = tuple(
    (family, kind)
    for family, template in TEMPLATES.items()
    for kind, key in KEY_TYPES.items()
    if key.clock is Clock.TICKS or template.timestamps
)


@cache
def keyed_case(family: str, kind: str, seed: int = 0) -> Case:
    """A program of a family over keys of a type."""
    template, key = TEMPLATES[family], KEY_TYPES[kind]
    rng = random.Random(f"{family} {kind} {seed}")
    pieces = []
    for number, spelled in enumerate((*key.keys, key.nobody)):
        rows = template.rows(rng, [dict(zip(key.names, one, strict=True)) for one in spelled], f"{number}")
        pieces.append(rows if key.clock is Clock.TICKS else {name: _timed(some) for name, some in rows.items()})
    others: Rows = {}
    if template.uncertain:  # its worlds are those of events
        others = {name: pieces[-1].pop(name) for name in "VPWS" if name in pieces[-1]}
        pieces[-1] |= {name: [] for name in others}
    if template.meet:
        pieces = [{name: [row for piece in pieces for row in piece[name]] for name in pieces[0]}]
    text = template.text.format(
        columns=", ".join(f"{name} {type_}" for name, type_ in key.columns),
        key=", ".join(key.names),
        a_key=", ".join(f"a.{name} AS {name}" for name in key.names),
        x_key=", ".join(f"x.{name} AS x{name}" for name in key.names),
        y_key=", ".join(f"y.{name} AS y{name}" for name in key.names),
        equal=" AND ".join(f"b.{name} = a.{name}" for name in key.names),
        same_as_a=" AND ".join(f"{name} = a.{name}" for name in key.names),
        time="BIGINT" if key.clock is Clock.TICKS else "TIMESTAMP",
        unit="TICKS" if key.clock is Clock.TICKS else "SECONDS",
    )
    name = f"{family}_{kind}{seed}"
    return with_lateness(named_apart(Case(name, f"{family} by {kind}", text, tuple(pieces), {}, others, key.clock)))


def _timed(rows: list[Row]) -> list[Row]:
    """The same rows, whose ticks are seconds of a day."""
    return [
        {name: TIME_0 + value * TICK_US if name in ("t", "s", "e") else value for name, value in row.items()}
        for row in rows
    ]
