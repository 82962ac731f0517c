"""Random relations between segments that are results of other events, and of streams beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from tests.kit.programs import Options
from tests.kit.rows import Rows
from tests.kit.segments import KEYS, STREAMS, SegmentsCase, random_rows, relation
from tests.kit.universe import Declared, Uncertain

from inkling.language.syntax import RELATIONS

SITUATIONS = (
    "{s} a",
    "{s} a[n > 0.0]",
    "SEQ({s} a, {s} b)",
    "SEQ NEXT({s} a[w <> 'open'], {s} b[j = 0])",
    "SEQ STRICT({s} a[w = 'open'], {s} b)",
    "SEQ NEXT({s} a, NOT {s}[w = 'close'], {s} b) WITHIN 6 TICKS",
    "SEQ({s} a[j = 0], NOT {s}[n > 1.0]) WITHIN 3 TICKS",
    "SEQ({s} a, AFTER 2 TICKS)",
    "{s} a AND {t} b WITHIN 4 TICKS",
    "{s} a INTERSECTS {t} b",
    "SEQ STRICT({s} b[j = 0]{{1,2}}, {s} a)",
    "(SEQ({s} a, {t} b) WITHIN 5 TICKS) HAVING a.n = b.n",
)
"""Patterns in which `a` stands for one event that is always there."""

UNCERTAIN_SITUATIONS = (
    *("{s} a", "{s} a", "SEQ({s} a, {s} b)", "SEQ({s} a, {s} b)"),
    "{s} a[x > 0 OR s = 'a']",
    "SEQ NEXT({s} a, {t} b)",
    "SEQ STRICT({s} a, {s} b)",
    "SEQ STRICT({s} a[s = 'a'], {s} b[s = 'b'])",
    "SEQ({s} a, NOT {t}[s = 'b'], {s} b)",
    "{s} a AND {t} b",
)

OFTEN = ("INTERSECTS", "STARTS_BEFORE", "ENDS_AFTER", "{PRECEDES, MEETS, OVERLAPS}")
N_RELATED = 4
SIZES = (2, 6, 12, 12, 16)
PARTITIONS = (("k",), ("k",), ("k", "j"), ("g", "k"))


def derived_segments_cases(seed: int, count: int, *, n_events: int = 3, ids: bool = False) -> Iterator[SegmentsCase]:
    """Some cases, the same for the same seed; with `ids`, every stream has a column for them."""
    random = Random(seed)
    streams = STREAMS.replace("(k STRING", "(id BIGINT, k STRING").replace(") KEY", ") ID id KEY") if ids else STREAMS
    for _ in range(count):
        keys = {**KEYS}
        situations = ""
        for name in ("A", "B", "C"):
            keys[name] = random.choice(PARTITIONS)
            situations += situation(random, name, keys[name])
        operands = ("A", "A", "B", "B", "C", *random.choices("STDR", k=2))
        events = "".join(relation(random, f"e{number}", keys, operands) for number in range(n_events))
        yield SegmentsCase(streams + situations + events, _with_one_zero(random_rows(random, SIZES)))


def situation(random: Random, name: str, partition: tuple[str, ...]) -> str:
    """An event whose results are segments; its head shows what relations look at."""
    n_declared = random.choice((1, 1, 1, 2))
    per = random.choice(("", "", " PER MATCH", " PER INTERVAL", " PER END", " PER VALUES"))
    consume = " CONSUME RESTART" if random.random() < 0.1 else ""
    shown = [column if random.random() < 0.5 else f"a.{column}" for column in partition]
    if n_declared > 1:
        shown = list(partition)  # in one of several declarations, `a` may not be there
    shown += [f"a.{column}" for column in ("k", "j", "g", "n", "w") if column not in partition]
    text = ""
    for _ in range(n_declared):
        s, t = random.choice("SSTDR"), random.choice("ST")
        pattern = random.choice(SITUATIONS).format(s=s, t=t)
        by = f" PARTITION BY {', '.join(partition)}"
        text += f"EVENT {name}({', '.join(shown)}) AS PATTERN {pattern}{by}{consume}{per};\n"
    return text


def uncertain_relations(random: Random, streams: Sequence[Declared], options: Options) -> str:
    """The text of a program over streams some of which are uncertain: situations, and relations between them."""
    names = [one.name for one in streams]
    uncertain = [one.name for one in streams if one.uncertain is not Uncertain.NOTHING]
    text = "".join(f"{stream}\n" for stream in streams)
    for name in ("E", "F", "G"):
        pattern = random.choice(UNCERTAIN_SITUATIONS).format(s=random.choice(uncertain), t=random.choice(names))
        per = random.choice(("", "", " PER INTERVAL", " PER END", " PER VALUES"))
        text += f"EVENT {name}(k, a.x, a.s) AS PATTERN {pattern} PARTITION BY k{per};\n"
    return text + "".join(_uncertain_relation(random, f"related{place}", names) for place in range(N_RELATED))


def _uncertain_relation(random: Random, name: str, streams: Sequence[str]) -> str:
    x, y = random.choice("EFG"), random.choice(("E", "F", "G", random.choice(streams)))
    if random.random() < 0.3:
        x, y = y, x
    left, right = random.choices(("SOME", "SOME", "SOME", "SOME", "ALL", "AT LEAST 2"), k=2)
    pattern = f"{left} {x} x {random.choice((*OFTEN, *OFTEN, random.choice(RELATIONS)))} {right} {y} y"
    same = f" ON SAME {random.choice('xs')}" if random.random() < 0.1 else ""
    test = random.choice(("x.x > 0", "y.x > 0", "x.s = y.s", "x.x < y.x", "x.s <> y.s OR x.x = y.x"))
    where = f" WHERE {test}" if random.random() < 0.2 else ""
    return f"EVENT {name}(x.k AS one, y.k AS other) AS PATTERN {pattern}{same}{where};\n"


def _with_one_zero(rows: Rows) -> Rows:
    """Results that differ in the sign of a zero are distinguished in heads."""
    return {name: [{**row, "n": 0.0 if row["n"] == 0 else row["n"]} for row in some] for name, some in rows.items()}
