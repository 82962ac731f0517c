"""Random recursive rule sets whose rules have one or two operands, with arithmetic in their heads."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from tests.kit.background import RULES
from tests.kit.oracle import bound
from tests.kit.programs import MOST_TRIES, Case, Options
from tests.kit.rulesets import RuleSet
from tests.kit.streams import random_rows, random_tables
from tests.kit.universe import TABLES, Declared, Kind

from inkling.errors import InklingError
from inkling.logical.recursion import groups_of

ANY_KEYS = Options(bad_rows=False)
STREAMS = (
    Declared("A", Kind.POINTS, True, "seq"),
    Declared("B", Kind.POINTS, True, "seq"),
    Declared("L", Kind.INTERVALS, True, "seq"),
)
RELATIONS = ("PAR", "MEETS", "OVERLAPS", "DURING", "STARTS", "FINISHES", "EQUALS", "CONTAINS", "INTERSECTS")
POLICIES = ("CONSUME RECENT", "CONSUME RECENT KEEPING", "CONSUME CHRONOLOGICAL", "CONSUME CHRONOLOGICAL KEEPING")
ACROSS = (
    "x = {0}.x",
    "x = {0}.x",
    "s = {0}.s",
    "x >= {0}.x",
    "y <> {0}.y",
    "x = {0}.x AND s = {0}.s",
    "near({0}.s, s)",
)
OWN = ("x > 0", "s <> 'b'", "x = 1 OR y > 0.5")
VALUES = {
    "x": ("{0}.x", "{1}.x", "1", "{0}.x + 1", "{0}.x + {1}.x", "{1}.x - {0}.x"),
    "y": ("{0}.y", "{1}.y", "{0}.y + {1}.y", "{1}.x / {0}.x", "0.5 * {0}.y"),
    "s": ("{0}.s", "{1}.s", "'z'"),
}
COPIES = {"x": ("{0}.x", "{1}.x", "2"), "y": ("{0}.y", "{1}.y"), "s": ("{0}.s", "{1}.s", "'a'")}


def seeded_joined_rules(seed: int, n: int) -> Iterator[Case]:
    """The same `n` cases for the same seed."""
    rng = random.Random(f"joined rules {seed}")
    for _ in range(n):
        rules = joined_rules(rng)
        rows = random_rows(rng, rules.streams, n_events=rng.choice((4, 5, 6, 8)), bad_rows=False)
        yield Case(rules.text, rules.plan, rows, random_tables(rng))


FACTS = (
    "{0}(_, a.k)",
    "{0}(_, a.k, a.x)",
    "{0}(_, _, v) AND v >= a.x",
    "NOT {0}(_, a.k, a.x)",
    "NOT {0}(_, _, _, _, a.s)",
    "NOT {0}(_, w, w)",
    "linked(a.s, v)",
    "NOT linked(_, a.s)",
    "above(a.s, a.x)",
)
"""Events and rules that WHERE asks for."""


def joined_rules(
    rng: random.Random, options: Options = ANY_KEYS, streams: Sequence[Declared] | None = None, *, facts: bool = False
) -> RuleSet:
    """A program that binds and whose events recur; with `facts`, some of them ask for events and facts in WHERE."""
    background = RULES.rstrip() if facts else ""
    for _ in range(MOST_TRIES):
        chosen = tuple(rng.sample(STREAMS, rng.choice((1, 2, 2, 3)))) if streams is None else streams
        partitioned = rng.random() < 0.6 if options.partitioned is None else options.partitioned
        texts = _Texts(rng, [one.name for one in chosen], partitioned, facts)
        text = "\n".join([*map(str, chosen), f"{TABLES}{background}".rstrip(), *texts])
        try:
            plan = bound(text)
        except InklingError:
            continue
        if any(group.is_recursive for group in groups_of(plan)):
            return RuleSet(chosen, text, plan)
    raise ValueError("no recursive rule set found")


class _Texts:
    """The events of one rule set."""

    def __init__(self, rng: random.Random, streams: Sequence[str], partitioned: bool, facts: bool) -> None:
        self._rng, self._streams, self._partitioned, self._facts = rng, streams, partitioned, facts
        self._columns = rng.sample(["x", "s", "y"], rng.randint(1, 3))

    def __iter__(self) -> Iterator[str]:
        rng = self._rng
        names = ["r", "q"] if rng.random() < 0.3 else ["r"]
        policies = {name: rng.choice(POLICIES) if rng.random() < 0.25 else "" for name in names}
        texts = [self._base("r", policies["r"]) for _ in range(rng.choice((1, 1, 2)))]
        for name in names:
            for _ in range(rng.choice((1, 1, 2))):
                texts.append(self._step(name, rng.choice(names), names, policies[name]))
        rng.shuffle(texts)
        yield from texts
        if rng.random() < 0.4:
            stream = rng.choice(self._streams)
            yield self._event("last", f"SEQ(r a, {stream} b)", COPIES, "", "INTERVAL")

    def _base(self, name: str, policy: str) -> str:
        rng, streams = self._rng, self._streams
        stream, other = rng.choice(streams), rng.choice(streams)
        if rng.random() < 0.7:
            return self._event(name, f"{stream} a{self._own(0.3)}", _of_one(COPIES), policy)
        return self._event(name, f"SEQ({stream} a, {other} b{self._across('a')})", VALUES, policy)

    def _step(self, name: str, read: str, names: Sequence[str], policy: str) -> str:
        rng, stream = self._rng, self._rng.choice(self._streams)
        kinds = ("after", "after", "after", "next", "before", "itself", "and", "relation", "copy")
        match "after" if policy else rng.choice(kinds):
            case "next":
                pattern = f"SEQ NEXT({read} a{self._own(0.2)}, {self._absent()}{stream} b{self._across('a')})"
            case "before":
                pattern = f"SEQ({stream} a, {read} b{self._across('a')})"
            case "itself":
                pattern = f"SEQ({read} a, {rng.choice(names)} b{self._across('a')})"
            case "and":
                pattern = f"{read} a{self._bounded} AND {stream} b{self._across('a')}"
                return self._event(name, pattern, COPIES, policy)
            case "relation":
                pattern = f"{read} a{self._bounded} {rng.choice(RELATIONS)} {stream} b{self._across('a')}"
                return self._event(name, pattern, COPIES, policy)
            case "copy":
                return self._event(name, f"{read} a[x < 2]" if "x" in self._columns else f"{read} a", _of_one(COPIES))
            case _:
                pattern = f"SEQ({read} a{self._own(0.2)}, {self._absent()}{stream} b{self._across('a')})"
        return self._event(name, pattern, VALUES, policy)

    @property
    def _bounded(self) -> str:
        return "[x < 3]" if "x" in self._columns else ""

    def _absent(self) -> str:
        rng = self._rng
        if rng.random() < 0.6:
            return ""
        names = " | ".join(rng.sample(self._streams, rng.randint(1, len(self._streams))))
        return f"NOT {names}{self._across('a') if rng.random() < 0.6 else self._own(0.4)}, "

    def _own(self, share: float) -> str:
        usable = [one for one in OWN if all(name in self._columns for name in "xsy" if f"{name} " in one)]
        return f"[{self._rng.choice(usable)}]" if usable and self._rng.random() < share else ""

    def _across(self, variable: str) -> str:
        usable = [one for one in ACROSS if all(name in self._columns for name in "xsy" if f".{name}" in one)]
        return f"[{self._rng.choice(usable).format(variable)}]" if usable and self._rng.random() < 0.6 else ""

    def _event(
        self, name: str, pattern: str, values: dict[str, tuple[str, ...]], policy: str = "", per: str = "INTERVAL"
    ) -> str:
        rng = self._rng
        head = [f"{rng.choice(values[column]).format('a', 'b')} AS {column}" for column in self._columns]
        clauses = [f"PATTERN {pattern}"]
        if self._facts and rng.random() < 0.15:
            clauses.append(f"WHERE {rng.choice(FACTS).format(rng.choice(self._streams))}")
        if rng.random() < 0.25:
            clauses.append(f"WITHIN {rng.randint(1, 4)} TICKS")
        if rng.random() < 0.2:
            clauses.append("HAVING END(a) - START(a) < 4" if rng.random() < 0.5 else "HAVING START(a) > 0")
        if self._partitioned:
            head.append("k")
            clauses.append("PARTITION BY k")
        clauses.append(policy)
        return f"EVENT {name}({', '.join(head)}) AS {' '.join(one for one in clauses if one)} PER {per};"


def _of_one(values: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Values that read one operand."""
    return {column: tuple(one for one in some if "{1}" not in one) for column, some in values.items()}
