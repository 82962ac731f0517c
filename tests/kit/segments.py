"""Random relations between segments, with streams of few keys and many ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.kit.rows import Rows

from inkling.language.syntax import RELATIONS
from inkling.model.event import Value

STREAMS = """
STREAM S(id BIGINT, k STRING, j BIGINT, g BIGINT, n DOUBLE, w STRING, s BIGINT, e BIGINT) ID id KEY k TIME FROM s TO e;
STREAM T(k STRING, j BIGINT, g BIGINT, n DOUBLE, w STRING, s BIGINT, e BIGINT) KEY k, j TIME FROM s TO e;
STREAM D(id BIGINT, k STRING, j BIGINT, g BIGINT, n DOUBLE, w STRING, t BIGINT) ID id KEY k TIME t SEGMENTS;
STREAM R(k STRING, j BIGINT, g BIGINT, n DOUBLE, w STRING, t BIGINT, seq BIGINT) KEY k TIME t ORDER BY seq
  SEGMENTS ROLE w;
RULE goes('open', 'close');
RULE goes('START', 'End');
RULE goes('close', 'open');
RULE goes('pause', 'pause');
RULE goes('End', 'suspend');
RULE rank(w, 1) IF goes(w, _);
RULE rank('open', 2);
RULE rank('resume', 3);
RULE at_most(a, b) IF rank(a, r) AND rank(b, q) AND r <= q;
RULE near(a, b) IF a - b < 2.0 AND b - a < 2.0;
"""
KEYS = {"S": ("k",), "T": ("k", "j"), "D": ("k",), "R": ("k",)}
WITHIN = (*[""] * 7, " WITHIN 0 TICKS", " WITHIN 3 TICKS", " WITHIN 20 TICKS", " WITHIN 5 POINTS")
COMPARISONS = (
    "x.w = y.w",
    "x.n = y.n",
    "x.n < y.n",
    "(x.j <> y.j OR x.n IS NULL)",
    "x.n + y.n > 1.0",
    "START(x) + 3 > START(y)",
    "(y.n < 2.0 AND x.j = y.j)",
    "goes(x.w, y.w)",
    "at_most(x.w, y.w)",
    "near(x.n, y.n)",
    "goes(x.w, v) AND goes(v, y.w)",
    "rank(x.w, r) AND r > 1 AND rank(y.w, s) AND r <= s",
    "rank(y.w, o) AND o > 1",
)
"""Conditions that read segments of both sides, or values that are looked up."""
ROLES = ("open", "close", "START", "suspend", "resume", "End", "pause", None)


@dataclass(frozen=True, slots=True)
class SegmentsCase:
    """A program of quantified events and the rows of its streams."""

    text: str
    rows: Rows

    def __str__(self) -> str:
        listed = [f"{name} {row}" for name, some in self.rows.items() for row in some]
        return "\n".join([self.text, *listed])


def segments_cases(seed: int, count: int, *, n_events: int = 3, ids: bool = False) -> Iterator[SegmentsCase]:
    """Some cases, the same for the same seed; with `ids`, every stream has a column for them."""
    random = Random(seed)
    streams = STREAMS.replace("(k STRING", "(id BIGINT, k STRING").replace(") KEY", ") ID id KEY") if ids else STREAMS
    for _ in range(count):
        events = "".join(relation(random, f"e{number}") for number in range(n_events))
        yield SegmentsCase(streams + events, random_rows(random))


def relation(
    random: Random, name: str, keys: Mapping[str, Sequence[str]] = KEYS, operands: Sequence[str] = "SSTDR"
) -> str:
    """An event that relates two of the operands, whose keys have these columns."""
    x, y = random.choice(operands), random.choice(operands)
    relations = random.sample(RELATIONS, random.choice((1, 1, 1, 2, 3)))
    related = relations[0] if len(relations) == 1 else f"{{{', '.join(relations)}}}"
    each = random.random() < 0.25
    quantity = (
        f"AT LEAST q FROM {random.choice((1, 1, 2))} TO {random.choice((2, 3, 9))}" if each else random_quantity(random)
    )
    pattern = f"{quantity} {x} x {related} {random_quantity(random)} {y} y"
    if random.random() < 0.3:
        pattern += f" ON SAME {random.choice('jnw')}"
    tests = [f"{var}.{test}" for var in "xy" for test in ("n > 1.0", "w <> 'open'", "j = 0") if random.random() < 0.1]
    tests += [test for test in COMPARISONS if random.random() < 0.05]
    if tests:
        pattern += f" WHERE {' AND '.join(tests)}"
    after = [f"x.k {random.choice(('<', '<>', '='))} y.k"] if random.random() < 0.2 else []
    after += [random.choice(("q < 3", "q * 2 > 3", "q = 2"))] if each and random.random() < 0.3 else []
    if after:
        pattern += f" HAVING {' AND '.join(after)}"
    within = random.choice(WITHIN)
    by = " PARTITION BY g" if random.random() < 0.3 else ""
    head = [f"x.{column} AS x{column}" for column in keys[x]] + [f"y.{column} AS y{column}" for column in keys[y]]
    if random.random() < 0.3:
        head = random.sample(head, random.randrange(len(head)))
    head += ["g"] if by and random.random() < 0.7 else []
    head += ["q"] if each else []
    per = " PER VALUES" if random.random() < 0.3 else ""
    return f"EVENT {name}({', '.join(head)}) AS PATTERN {pattern}{within}{by}{per};\n"


def random_quantity(random: Random) -> str:
    """What stands before an operand."""
    return random.choice(("ALL", "ALL", "SOME", "SOME", "AT LEAST 0", "AT LEAST 2", "AT LEAST 3"))


def random_rows(random: Random, sizes: Sequence[int] = (0, 2, 6, 12, 40, 90)) -> Rows:
    """Rows of all the streams."""
    latest = random.choice((4, 8, 30, 200))
    n_rows = random.choice(sizes)
    n_keys = random.choice((1, 2, 3, 4))
    identity = 0

    def row(**times: Value) -> dict[str, Value]:
        nonlocal identity
        identity += 1
        return {
            "id": identity,
            "k": random.choice("abcd"[:n_keys]),
            "j": random.choice((0, 0, 0, 1)),
            "g": random.choice((1, 1, 1, 2, None)),
            "n": random.choice((0.0, -0.0, 1.5, 2.5, None)),
            "w": random.choice(ROLES),
            **times,
        }

    def lasting(longest: int) -> dict[str, Value]:
        start = random.randrange(latest)
        return row(s=start, e=start + random.randrange(longest + 1))

    longest = random.choice((0, 1, 3, latest))
    points = sorted(random.randrange(latest) for _ in range(n_rows))
    alternate = random.random() < 0.5
    return {
        "S": [lasting(longest) for _ in range(n_rows)],
        "T": [lasting(longest) for _ in range(random.choice((1, n_rows)))],
        "D": [row(t=time) for time in points],
        "R": [
            {**row(t=time, seq=place), **({"w": ("open", "close")[place % 2]} if alternate else {})}
            for place, time in enumerate(points)
        ],
    }
