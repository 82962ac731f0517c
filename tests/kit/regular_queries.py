"""Random regular patterns over one stream of alternatives, by its key, with few worlds."""

from __future__ import annotations

import random
from dataclasses import dataclass

from inkling.model.event import Value

VALUES = (1, 2, 3)
TESTS = ("[v = 1]", "[v = 2]", "[v = 3]", "[v <= 2]", "[v <> 2]", "[v >= 2 AND v < 3]", "")

Row = dict[str, Value]


@dataclass(frozen=True, slots=True)
class RegularCase:
    """A program with one event, `q`, over a stream `S`, and rows of several keys, each with worlds of its own."""

    text: str
    keys: tuple[list[Row], ...]

    @property
    def rows(self) -> list[Row]:
        return [row for rows in self.keys for row in rows]

    @property
    def times(self) -> list[int]:
        return sorted({int(str(row["t"])) for row in self.rows})


def random_regular(rng: random.Random, *, keys: int = 5, worlds: int = 20, per: str | None = None) -> RegularCase:
    """A pattern that is regular, or nearly always so."""
    chained, restart = rng.random() < 0.5, rng.random() < 0.25
    head = "(k)" if rng.random() < 0.5 else ""
    clauses = f" PARTITION BY k PER {per or rng.choice(('END', 'END', 'VALUES'))}"
    clauses = (f" WITHIN {rng.randint(2, 4)} EVENTS" if rng.random() < 0.25 else "") + clauses
    clauses += " CONSUME RESTART" if restart else ""
    pattern = random_pattern(rng)
    stream = declaration(chained=chained, ordered="COMPLEMENT" in pattern)
    text = f"{stream}\nEVENT q{head} AS PATTERN {pattern}{clauses};"
    return RegularCase(text, tuple(random_rows(rng, key, worlds, chained=chained) for key in range(1, keys + 1)))


def declaration(*, chained: bool, ordered: bool = False) -> str:
    given, order = " GIVEN g" if chained else "", " ORDER BY k" if ordered else ""
    return f"STREAM S(t BIGINT, k BIGINT, v BIGINT) KEY k TIME t{order} PROBABILITY p{given};"


def random_pattern(rng: random.Random, depth: int = 2) -> str:
    kind = rng.choice(("sequence", "sequence", "sequence", "or", "leaf"))
    if depth == 0 or kind == "leaf":
        return f"S{rng.choice(TESTS)}"
    if kind == "or":
        return f"({random_pattern(rng, depth - 1)}) OR ({random_pattern(rng, depth - 1)})"
    policy = rng.choice(("", "STRICT ", "NEXT "))
    parts = [_part(rng, depth) for _ in range(rng.choice((2, 3, 3)))]
    parts[0], parts[-1] = (
        one if "?" not in one and "*" not in one else f"S{rng.choice(TESTS)}" for one in (parts[0], parts[-1])
    )
    if rng.random() < 0.3:
        absence = f"NOT S{rng.choice(TESTS[:-1])}"
        if policy == "STRICT ":
            absence = f"COMPLEMENT({rng.choice(('SEQ STRICT(_*, {}, _*)', '{}', 'SEQ STRICT({}+)'))})".format(
                f"S{rng.choice(TESTS)}"
            )
        parts = [f"S{rng.choice(TESTS)}", absence, f"S{rng.choice(TESTS)}", *parts[2:]]
    return f"SEQ {policy}({', '.join(parts)})"


def _part(rng: random.Random, depth: int) -> str:
    one = f"S{rng.choice(TESTS)}"
    kind = rng.choice(("one", "times", "times", "inner"))
    if kind == "times":
        return one + rng.choice(("+", "*", "*", "?", "?", "{2}", "{1,2}", "{2,}"))
    return f"({random_pattern(rng, depth - 1)})" if kind == "inner" and depth > 1 else one


def random_rows(rng: random.Random, key: int, worlds: int, *, chained: bool) -> list[Row]:
    """Alternatives of a key, while there are worlds left."""
    rows: list[Row] = []
    left = [worlds]
    possible: set[Value] = {None}
    for time in [time for time in range(1, rng.randint(4, 6)) if rng.random() < 0.85]:
        anew = not chained or not rows or rng.random() < 0.12
        reached: set[Value] = set()
        before_this = left[0]
        for before in [None] if anew else sorted(possible, key=str):
            left[0] = before_this
            chances = _chances(rng, left)
            values = rng.sample(VALUES, len(chances))
            given: Row = {"g": before} if chained else {}
            rows += [{"k": key, "t": time, "v": v, "p": p, **given} for v, p in zip(values, chances, strict=True)]
            reached |= {v for v, p in zip(values, chances, strict=True) if p > 0}
            reached |= {None} if sum(chances) < 1 - 1e-9 else set()
        possible = reached
    rng.shuffle(rows)
    return rows


def _chances(rng: random.Random, left: list[int]) -> list[float]:
    """Of alternatives; what is missing to 1 is that of no event."""
    whole = rng.choice((4, 8, 10))
    if left[0] < 2:
        return [1.0]
    n = rng.choice((1, 2, 2, 3)) if left[0] >= 4 else 1
    cuts = sorted(rng.sample(range(1, whole), n)) if n < whole else list(range(1, whole))
    parts = [after - before for before, after in zip([0, *cuts], cuts, strict=False)]
    if rng.random() < 0.4 and n > 1:
        parts[-1] += whole - cuts[-1]
    left[0] //= n + (sum(parts) < whole)
    return [part / whole for part in parts]
