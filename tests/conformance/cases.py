"""The table of cases: golden ones, and uncertain ones of every family and of several at once.

Random cases come from the generators of the kit, with fixed seeds; programs that are written out have random rows.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache

from tests.conformance.case import Case, Row, Rows, named_apart, with_ids, with_lateness
from tests.conformance.golden import golden_case
from tests.kit.exact_events import chains_of, relations_of, strategies_of
from tests.kit.lost_programs import lost_case
from tests.kit.programs import Options
from tests.kit.queries import random_query
from tests.kit.regular_queries import random_regular
from tests.kit.safe_queries import PATTERNS, safe_program, safe_rows
from tests.kit.streams import is_packable
from tests.kit.uncertain import Uncertainties, random_uncertain_cases
from tests.kit.universe import Kind, Uncertain

import inkling
from inkling.logical.plan import ProgramPlan
from inkling.model.uncertainty import ProbableValue

POINTS = Options((Kind.POINTS,), bad_rows=False, partitioned=True)
ROOMS = ("hall", "lab")


@cache
def golden(name: str, *, ids: bool = False) -> Case:
    """A golden case; with `ids`, all of its streams have some."""
    case = golden_case(name)
    return with_lateness(named_apart(with_ids(case) if ids else case))


@cache
def family_cases(family: str, seed: int) -> tuple[Case, ...]:
    """The cases of a family, other ones for another seed."""
    made = FAMILIES[family](random.Random(f"{family} {seed}"))
    cases = (Case(f"{family}{seed}{chr(97 + n)}", family, *one) for n, one in enumerate(made))
    return tuple(with_lateness(named_apart(with_ids(case))) for case in cases)


Candidate = tuple[str, tuple[Rows, ...], Rows]
"""The text of a program, the pieces of its rows, and its tables."""
Made = Iterator[Candidate | tuple[str, tuple[Rows, ...], Rows, Rows]]
"""The same, and rows of runners only."""


def _telling(make: Callable[[random.Random], Candidate], n: int) -> Callable[[random.Random], Made]:
    """The first random cases of which some result is neither certain nor impossible."""

    def made(rng: random.Random) -> Made:
        found = 0
        while found < n:
            candidate = make(rng)
            results = Case("candidate", "", *candidate).expected.values()
            if any(0 < one.probability < 1 for some in results for one in some):
                found += 1
                yield candidate

    return made


CHAIN_STREAMS = "".join(
    f"STREAM {name}(id STRING, k STRING, v BIGINT, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi{more};\n"
    for name, more in (("A", ""), ("B", " WEIGHTS w"), ("C", " AT MOST 3 TICKS"))
)
CHAIN_STREAMS += "STREAM D(id STRING, k STRING, v BIGINT, t BIGINT) ID id KEY k TIME t;\n"
CHAINS = (
    "EVENT e1(k) AS PATTERN SEQ(A a, B b, C c[v <> a.v]) WITHIN 9 POINTS PARTITION BY k;",
    "EVENT e2(a.v AS v) AS PATTERN SEQ(A a, B b) WITHIN 9 POINTS PARTITION BY k CONFIDENCE >= 0.4;",
    "EVENT e3 AS PATTERN SEQ NEXT(A a, D d, C c) WITHIN 12 POINTS PARTITION BY k RETURN c.v AS v;",
    "EVENT e4 AS PATTERN SEQ STRICT(A a, B b) WITHIN 6 POINTS PARTITION BY k OVER (A, B, C);",
    "EVENT e5 AS PATTERN SEQ(A a, NOT D, B b) WITHIN 9 POINTS PARTITION BY k EXACT;",
    "EVENT e6 AS PATTERN SEQ(NOT D, A a, NOT C) WITHIN 4 POINTS PARTITION BY k;",
    "EVENT e7 AS PATTERN SEQ NEXT(A a, B b[v >= LAST(b).v]+, C c) WITHIN 12 POINTS PARTITION BY k;",
    "EVENT e8 AS PATTERN SEQ NEXT(A a, B b+ EAGER, C c) WITHIN 12 POINTS PARTITION BY k;",
    "EVENT e9 AS PATTERN SEQ((A a AND B b WITHIN 4 POINTS), C c) WITHIN 9 POINTS PARTITION BY k;",
    "EVENT e10(a.v AS v) AS PATTERN SEQ(A a, B b[b.lo - a.lo < 4]) WITHIN 9 POINTS PARTITION BY k EXACT;",
    "EVENT e11 AS PATTERN (SEQ(A a, C b) OR (A c AND C d WITHIN 3 POINTS)) WITHIN 6 POINTS PARTITION BY k;",
    "EVENT e12 AS PATTERN SEQ(A a+, A | B b+) WITHIN 5 POINTS PARTITION BY k;",
    "EVENT e13 AS PATTERN SEQ(A a, C c) WITHIN 5 POINTS PARTITION BY k RETURN c.v AS w;",
    "EVENT e15 AS PATTERN SEQ(A a, B b[contains('POLYGON((0 0, 2 0, 2 3, 0 3, 0 0))', a.v + 0.5, v + 0.5)]) "
    "WITHIN 9 POINTS PARTITION BY k;",
    "EVENT e14(k) AS PATTERN e13 one[w > 0] AND B b[v <> one.w] WITHIN 9 POINTS PARTITION BY k;",
)


def _chains(rng: random.Random) -> Made:
    """Every key is active for a while only, so that others must carry time on for it."""
    yield "\n".join([CHAIN_STREAMS, *CHAINS]), tuple(_imprecise(rng, f"k{key}", 5 * key) for key in range(9)), {}


def _imprecise(rng: random.Random, key: str, since: int) -> Rows:
    """Rows of one key in a few dozen worlds."""
    rows: Rows = {name: [] for name in "ABCD"}
    left = 40
    for number in range(8):
        name, at = rng.choice("AABBCCD"), since + rng.randrange(9)
        row: Row = {"id": f"{key}-{number}", "k": key, "v": rng.randrange(3)}
        if name == "D":
            rows[name].append({**row, "t": at})
            continue
        width = min(rng.choice((1, 2, 2, 3)), left)
        left = max(1, left // width)
        row |= {"lo": at, "hi": at + width - 1}
        if name == "B" and rng.random() < 0.5:
            row["w"] = [float(rng.choice((1, 2, 5))) for _ in range(width)]
        rows[name].append(row)
    return rows


def _queries(shape: str, n: int) -> Callable[[random.Random], Made]:
    def one(rng: random.Random) -> Candidate:
        case = random_query(rng, shape, worlds=64)
        return case.text, (case.rows,), {}

    return _telling(one, n)


def _regular(rng: random.Random) -> Candidate:
    case = random_regular(rng, keys=4)
    return case.text, tuple({"S": rows} for rows in case.keys), {}


def _safe(rng: random.Random) -> Candidate:
    text = safe_program(rng, rng.choice([*PATTERNS.values()]), rng.choice(("END", "VALUES")))
    kinds = {one.schema.name: _kind(one.schema.uncertainty) for one in inkling.parse(text).plan.streams}
    return text, (safe_rows(rng, kinds, 64),), {}


def _kind(uncertainty: object) -> str:
    if not isinstance(uncertainty, ProbableValue):
        return "certain"
    return "chain" if uncertainty.given else "independent"


def _relation(rng: random.Random) -> Candidate:
    while True:
        case = lost_case(rng, n_events=2, most_lost=3, situations=rng.random() < 0.2)
        if "s BIGINT" not in case.text:  # segments of one key that overlap are sampled
            return case.text, (case.rows,), {}


def _needs_worlds(plan: ProgramPlan) -> bool:
    apart = {*chains_of(plan), *strategies_of(plan), *relations_of(plan)}
    return not apart and is_packable(plan)


def _worlds(uncertain: tuple[Uncertain, ...], n: int) -> Callable[[random.Random], Made]:
    def one(rng: random.Random) -> Candidate:
        uncertainties = Uncertainties(most_worlds=(64,), uncertain=uncertain, options=POINTS, accept=_needs_worlds)
        (case,) = random_uncertain_cases(rng, 1, uncertainties)
        # cases of a pack that had keys in common would have worlds in common, and too many of them to enumerate
        mark = f"{rng.randrange(10**6)}"
        rows = {name: [{**row, "k": f"{row['k']}{mark}"} for row in some] for name, some in case.rows.items()}
        return case.text, (rows,), dict(case.tables)

    return _telling(one, n)


def _mixtures(rng: random.Random) -> Made:
    pieces = tuple(mixed_rows(rng, f"k{key}") for key in range(6))
    yield MIXED_STREAMS + MIXTURE, pieces, {"near": [{"one": "hall", "other": "lab"}]}


MIXED_STREAMS = """
STREAM Vague(id STRING, k STRING, v BIGINT, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi;
STREAM At(id STRING, k STRING, room STRING, t BIGINT) ID id KEY k TIME t PROBABILITY p;
STREAM Walk(id STRING, k STRING, room STRING, t BIGINT) ID id KEY k TIME t PROBABILITY p GIVEN before;
STREAM Sure(id STRING, k STRING, v BIGINT, t BIGINT) ID id KEY k TIME t DERIVE change = v - PREV(v);
TABLE near(one STRING, other STRING) FROM 'near.csv';
RULE reach(a, b) IF near(a, b);
RULE reach(b, a) IF near(a, b);
"""
MIXTURE = """
-- Each family beside the others, and certain events beside uncertain ones.
EVENT rise(k, a.v AS v) AS PATTERN SEQ(Vague a[v < 2], Vague b[v > 0]) WITHIN 6 TICKS PARTITION BY k;
EVENT moved(k) AS PATTERN SEQ NEXT(At a[room = 'hall'], At b[room = 'lab']) PARTITION BY k PER END;
EVENT walked(k) AS PATTERN SEQ NEXT(Walk a[room = 'hall'], Walk b) HAVING b.room = 'lab' PARTITION BY k PER END;
EVENT sure(k, b.change AS by) AS PATTERN SEQ(Sure a, Sure b[change > 0]) WITHIN 6 TICKS PARTITION BY k;
EVENT mean(k, AVG(w.v) AS m) AS PATTERN WINDOW Sure w LAST 3 EVENTS PARTITION BY k;
EVENT latest(k) AS PATTERN SEQ(Sure a, Sure b) WITHIN 9 TICKS PARTITION BY k CONSUME RECENT;
-- Derived events over uncertain ones and over certain ones.
EVENT rising(k, b.v AS v) AS PATTERN SEQ(Vague a[v < 2], Vague b[v > 0]) WITHIN 6 TICKS PARTITION BY k PER END;
EVENT after_rise(k, r.v AS v) AS PATTERN SEQ(rising r, Sure s) WITHIN 9 TICKS PARTITION BY k PER INTERVAL;
EVENT quiet(k) AS PATTERN SEQ(Vague a, NOT Sure) WITHIN 5 TICKS PARTITION BY k;
EVENT seen(k, w.m AS m) AS PATTERN SEQ(mean w, Vague a) WITHIN 9 TICKS PARTITION BY k;
-- Tables and rules, read by uncertain events.
EVENT next_door(k, a.room AS old, b.room AS new) AS PATTERN SEQ(At a, At b) WHERE reach(a.room, b.room)
  WITHIN 6 TICKS PARTITION BY k PER INTERVAL;
EVENT changed(k) AS PATTERN SEQ(At a, At b[concat(a.room, ' to ', room) = 'hall to lab']) WITHIN 6 TICKS
  PARTITION BY k PER INTERVAL;
EVENT went(k) AS PATTERN SEQ NEXT(Walk a[near(room, 'lab')], Walk b[room = 'lab']) PARTITION BY k PER END;
-- Several kinds of uncertainty and a certain stream in one pattern.
EVENT three(k, s.v AS v) AS PATTERN SEQ(Vague a, Sure s, At b[room = 'lab']) WITHIN 12 TICKS PARTITION BY k;
EVENT either(k) AS PATTERN (Vague a[v = 2]) OR (Walk b[room = 'lab']) PARTITION BY k PER END;
EVENT both(k) AS PATTERN (At a[room = 'hall']) AND (Vague b[v > 0]) WITHIN 4 TICKS PARTITION BY k PER VALUES;
"""


def mixed_rows(rng: random.Random, key: str) -> Rows:
    """Rows of one key in at most a few hundred worlds."""
    rows: Rows = {"Vague": [], "At": [], "Walk": [], "Sure": []}
    for number, time in enumerate(sorted(rng.sample(range(12), 3))):
        named: Row = {"id": f"{key}v{number}", "k": key}
        rows["Vague"].append({**named, "v": rng.randrange(3), "lo": time, "hi": time + rng.randrange(2)})
    for number, time in enumerate(sorted(rng.sample(range(12), 2))):
        share = rng.randint(1, 6) / 8
        for room, p in zip(ROOMS, (share, rng.choice((1 - share, 0.125))), strict=True):
            rows["At"].append({"id": f"{key}a{number}{room}", "k": key, "room": room, "t": time, "p": p})
    before: tuple[str | None, ...] = (None,)
    for number, time in enumerate(sorted(rng.sample(range(12), 2))):
        for one in before:
            share = rng.randint(1, 7) / 8
            for room, p in zip(ROOMS, (share, 1 - share), strict=True):
                name = f"{key}w{number}{one}{room}"
                rows["Walk"].append({"id": name, "k": key, "room": room, "t": time, "p": p, "before": one})
        before = ROOMS
    for number, time in enumerate(sorted(rng.sample(range(14), 4))):
        rows["Sure"].append({"id": f"{key}s{number}", "k": key, "v": rng.randrange(3), "t": time})
    return rows


REVISABLE = ("Vague", "At", "Sure")
"""Streams with rows that are taken back; without one of its rows, a chain of alternatives would be another one."""


def _revised(rng: random.Random) -> Made:
    """The mixture on streams that do not wait for late rows, and of which some rows are taken back."""
    ((text, pieces, tables, *_),) = _mixtures(rng)

    def declared(found: re.Match[str]) -> str:
        late = "LATENESS 4 TICKS SPECULATIVE"
        if found[1] not in REVISABLE:
            return f"STREAM {found[1]}({found[2]} {late};"
        return f"STREAM {found[1]}(op STRING, {found[2]} {late} OP op FOR 100 TICKS;"

    withdrawn: Rows = {name: [] for name in REVISABLE}
    for piece in pieces:
        for name in REVISABLE:
            for row in piece[name]:
                row["op"] = "+"
            wrong = _wrong(rng, piece[name])
            withdrawn[name] += [*wrong, *({**dict.fromkeys(row), "id": row["id"], "op": "-"} for row in wrong)]
    yield re.sub(r"STREAM (\w+)\(([^;]*);", declared, text), pieces, tables, withdrawn


def _wrong(rng: random.Random, rows: list[Row]) -> list[Row]:
    """Rows at times at which their key has none yet, so that they contradict nothing while they stand."""
    free = [time for time in range(14) if all(time not in (row.get("t"), row.get("lo")) for row in rows)]
    chosen = rng.sample(rows, min(2, len(rows)))
    moved = zip(chosen, rng.sample(free, len(chosen)), strict=True)
    return [
        {**row, "id": f"{row['id']}!", **({"t": time} if "t" in row else {"lo": time, "hi": time + 1})}
        for row, time in moved
    ]


FAMILIES: dict[str, Callable[[random.Random], Made]] = {
    "chain": _chains,
    "regular": _telling(_regular, 3),
    "extended": _queries("extended", 4),
    "safe": _telling(_safe, 4),
    "overlap": _queries("overlap", 2),
    "unsafe": _queries("unsafe", 4),
    "relation": _telling(_relation, 5),
    "timeworld": _worlds((Uncertain.TIME, Uncertain.WEIGHTED_TIME, Uncertain.NOTHING), 4),
    "valueworld": _worlds((Uncertain.VALUE, Uncertain.CHAIN, Uncertain.NOTHING), 4),
    "lossworld": _worlds((Uncertain.LOST, Uncertain.LOST_MARKS, Uncertain.NOTHING), 4),
    "mixture": _mixtures,
    "revised": _revised,
}
