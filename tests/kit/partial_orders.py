"""Random patterns of single events that nothing else can prevent, over imprecise times, with streams for many keys.

Nested sequences, AND, OR, limits on differences of times, and several repetitions over one stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.kit.chains import ChainCase
from tests.kit.oracle import bound

from inkling.errors import InklingError
from inkling.logical.plan import ProgramPlan

STREAMS = """
STREAM A(id STRING, k INT, v INT, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi
    WEIGHTS weights;
STREAM B(id STRING, k INT, v INT, lo BIGINT, hi BIGINT) ID id KEY k TIME BETWEEN lo AND hi;
STREAM C(id STRING, k INT, v INT, t BIGINT) ID id KEY k TIME t;
"""
TIME = {"A": "lo", "B": "hi", "C": "t"}
MOST_WORLDS = 36

Rows = dict[str, list[dict[str, Any]]]


def partial_order_cases(seed: int, n_programs: int, n_keys: int) -> Iterator[ChainCase]:
    """Programs of one event `x`, each with small streams for so many keys."""
    yield from _cases(Random(seed), n_programs, n_keys, lambda random: _Writer(random).event())


def over_events_cases(seed: int, n_programs: int, n_keys: int) -> Iterator[ChainCase]:
    """The same, where `x` reads other events."""
    yield from _cases(Random(seed), n_programs, n_keys, _over_events)


def _cases(random: Random, n_programs: int, n_keys: int, write: Callable[[Random], str]) -> Iterator[ChainCase]:
    for _ in range(n_programs):
        plan: ProgramPlan | None = None
        while plan is None:
            try:
                plan = bound(STREAMS + write(random))
            except InklingError:
                continue
            if not {"A", "B"} & {source for event in plan.events for source in event.sources}:  # nothing is uncertain
                plan = None
        yield ChainCase(plan, tuple(_rows(random, key) for key in range(n_keys)))


def _over_events(random: Random) -> str:
    first = random.choice(("SEQ(A a, B b)", "A a AND B b", "SEQ(B b, A a[v > 0])", "B b"))
    value = random.choice(("b.v", "b.v + 1", "b.v"))
    within = f"WITHIN {random.choice((2, 3, 4))} POINTS"
    text = f"EVENT y AS PATTERN {first} {within} PARTITION BY k RETURN {value} AS w;\n"
    tests = random.choice(("", "[w > 0]", "[w = c.v]", "[END(y1) - c.t < 3]"))
    other = random.choice(("C c", "A c")) if "c.t" not in tests else "C c"
    second = random.choice((f"SEQ({other}, y y1{tests})", f"{other} AND y y1{tests}"))
    if not tests:
        second = random.choice((second, "SEQ(y y1, y y2)", f"SEQ(y y1, {other}[v >= y1.w])", "y y1 AND A c[v = y1.w]"))
    having = random.choice(("", "", " HAVING END(y1) - START(y1) < 3"))
    if random.random() < 0.2:  # one more level
        text += "EVENT z AS PATTERN SEQ(y y0, A d) WITHIN 6 POINTS PARTITION BY k RETURN y0.w AS w;\n"
        second = second.replace("y y1", "z y1").replace("y y2", "z y2")
    return text + f"EVENT x AS PATTERN {second} WITHIN {random.choice((4, 6, 9))} POINTS{having} PARTITION BY k;"


class _Writer:
    """Writes one event; a bound variable is a name with its stream."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._number = 0
        self._bound: list[tuple[str, str]] = []
        self._named: list[str] = []

    def event(self) -> str:
        random = self._random
        pattern = self._repetitions() if random.random() < 0.2 else self._pattern(random.choice((1, 2, 2, 3)), 4)
        within = random.choice((2, 3, 4, 5, 7, 9))
        having = [self._limit(*random.sample(self._bound, 2))] if len(self._bound) > 1 else []
        having += [
            f"END({name}) - START({name}) {random.choice(('<', '<='))} {random.randrange(1, 4)}" for name in self._named
        ]
        kept = [one for one in having if random.random() < 0.3]
        clause = f" HAVING {' AND '.join(kept)}" if kept else ""
        return f"EVENT x AS PATTERN {pattern} WITHIN {within} POINTS{clause} PARTITION BY k;"

    def _repetitions(self) -> str:
        """Several repetitions that may be over the same stream."""
        random = self._random
        parts = []
        for number in range(random.choice((2, 2, 3))):
            stream = random.choice(("A", "A", "B", "A | B"))
            often = random.choice(("+", "+", "{1,2}", "{2,3}", "?" if number else "+", ""))
            test = random.choice(("", "", "[v > 0]", "[v < 2]"))
            parts.append(f"{stream} r{number}{test}{often}")
        return f"SEQ({', '.join(parts)})"

    def _pattern(self, depth: int, most: int) -> str:
        random = self._random
        if depth == 0 or most < 2:
            return self._leaf()
        operator = random.choice(("SEQ", "SEQ", "AND", "OR"))
        n = random.choice((2, 2, 3)) if most > 2 else 2
        parts = [self._pattern(random.randrange(depth), most // n + (number < most % n)) for number in range(n)]
        if operator == "SEQ":
            return f"SEQ({', '.join(map(self._nested, parts))})"
        return f" {operator} ".join(map(self._nested, parts))

    def _nested(self, pattern: str) -> str:
        random = self._random
        if not (" AND " in pattern or " OR " in pattern or pattern.startswith("SEQ")):
            return pattern
        clauses = ""
        if random.random() < 0.3:
            clauses = f" WITHIN {random.choice((1, 2, 3, 4))} POINTS"
        name = ""
        if random.random() < 0.3:
            self._number += 1
            name = f" n{self._number}"
            self._named.append(name.strip())
        return f"({pattern}{clauses}){name}"

    def _leaf(self) -> str:
        random = self._random
        stream = random.choice("AABBC")
        self._number += 1
        name, tests = f"e{self._number}", []
        if random.random() < 0.2:
            tests.append(f"v {random.choice(('<', '=', '<>'))} {random.randrange(3)}")
        if self._bound and random.random() < 0.2:
            tests.append(f"{name}.v {random.choice(('=', '<=', '<>'))} {random.choice(self._bound)[0]}.v")
        if self._bound and random.random() < 0.25:
            tests.append(self._limit((name, stream), random.choice(self._bound)))
        self._bound.append((name, stream))
        condition = " AND ".join(tests)
        return f"{stream} {name}[{condition}]" if tests else f"{stream} {name}"

    def _limit(self, one: tuple[str, str], other: tuple[str, str]) -> str:
        random = self._random
        left, right = (f"{name}.{TIME[stream]}" for name, stream in (one, other))
        operator = random.choice(("<", "<=", ">", ">=", "="))
        amount = random.choice(("1", "2", "3", "1.5", "-1", f"{other[0]}.v", f"{one[0]}.v + 1"))
        if random.random() < 0.3:
            return f"{left} {operator} {right} + {amount}"
        return f"{left} - {right} {operator} {amount}"


def _rows(random: Random, key: int) -> Rows:
    rows: Rows = {"A": [], "B": [], "C": []}
    n_worlds = 1
    for number in range(random.choice((3, 4, 5, 5, 6))):
        name = random.choice("AAABBBC")
        row: dict[str, Any] = {"id": f"{key}-{number}", "k": key, "v": random.randrange(3)}
        at, width = random.randrange(6), random.choice((1, 1, 2, 2, 3, 4))
        if name == "C":
            rows[name].append({**row, "t": at})
            continue
        width = min(width, max(1, MOST_WORLDS // n_worlds))
        n_worlds *= width
        row |= {"lo": at, "hi": at + width - 1}
        if name == "A":
            weights = [float(random.choice((0, 1, 1, 2, 5))) for _ in range(width)]
            row["weights"] = weights if any(weights) and random.random() < 0.5 else None
        rows[name].append(row)
    return rows
