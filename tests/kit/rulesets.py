"""Random rule sets: events declared several times, recursive events, and the rules that they use."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.kit.background import AGGREGATES, RULES, register_aggregates
from tests.kit.consuming import PairMaker, random_policy
from tests.kit.coverage import program_features
from tests.kit.oracle import bound, oracle
from tests.kit.patterns import PatternMaker, Piece, Place, Source
from tests.kit.programs import ANYTHING, MOST_TRIES, Case, Options, declared_streams, random_event
from tests.kit.rows import Rows
from tests.kit.streams import is_packable, pack, random_rows, random_tables
from tests.kit.universe import KEYS, TABLES, VALUE_COLUMNS, Declared, Kind
from tests.kit.windows import window_event

from inkling.errors import InklingError
from inkling.logical import plan as p
from inkling.logical.recursion import groups_of
from inkling.meaning.semantics import Result
from inkling.model.types import Type

PER = ("INTERVAL", "INTERVAL", "MATCH", "END", "VALUES")
SIZES = (3, 4, 4, 5)
"""Events per key: the definition derives everything that any of them lead to."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A program without data."""

    streams: Sequence[Declared]
    text: str
    plan: p.ProgramPlan


PACKED = Options(partitioned=True, bad_rows=False)


@dataclass(frozen=True, slots=True)
class PackedCase:
    """A program in which keys never meet, and many small streams as keys of one."""

    text: str
    plan: p.ProgramPlan
    datasets: tuple[Rows, ...]
    tables: Rows

    @property
    def rows(self) -> Rows:
        return pack(self.datasets)

    @property
    def n_streams(self) -> int:
        return len(self.datasets) * len(KEYS)

    def expected(self) -> dict[str, list[Result]]:
        """The results by the definition, one dataset after the other."""
        found: dict[str, list[Result]] = {event.name: [] for event in self.plan.events}
        for number, rows in enumerate(self.datasets):
            for name, results in oracle(self.plan, pack([*[{}] * number, rows]), self.tables).items():
                found[name].extend(results)
        return found

    def __str__(self) -> str:
        listed = [f"{name}: {row}" for name, some in {**self.rows, **self.tables}.items() for row in some]
        return "\n".join([self.text, *listed])


def seeded_rule_sets(seed: int, n: int, options: Options = ANYTHING, *, extending: bool = False) -> Iterator[Case]:
    """The same `n` cases for the same seed."""
    rng = random.Random(seed)
    for _ in range(n):
        yield random_rule_set(rng, options, extending=extending)


def packed_rule_sets(
    seed: int, n: int, n_datasets: int, options: Options = PACKED, *, extending: bool = False
) -> Iterator[PackedCase]:
    """The same `n` programs for the same seed, each with as many datasets."""
    rng = random.Random(seed)
    made = 0
    while made < n:
        rules = random_rules(rng, options, extending=extending)
        if not is_packable(rules.plan):
            continue
        some = [random_rows(rng, rules.streams, n_events=rng.choice(SIZES), bad_rows=False) for _ in range(n_datasets)]
        made += 1
        yield PackedCase(rules.text, rules.plan, tuple(some), random_tables(rng))


def random_rule_set(rng: random.Random, options: Options = ANYTHING, *, extending: bool = False) -> Case:
    """A program with united or recursive events, with streams small enough for the definition."""
    rules = random_rules(rng, options, extending=extending)
    is_partitioned = all(event.partition for event in rules.plan.events)
    size = rng.choice(SIZES) if is_partitioned else 3
    rows = random_rows(rng, rules.streams, n_events=size, bad_rows=options.bad_rows)
    return Case(rules.text, rules.plan, rows, random_tables(rng))


def random_rules(
    rng: random.Random,
    options: Options = ANYTHING,
    streams: Sequence[Declared] | None = None,
    *,
    extending: bool = False,
) -> RuleSet:
    """A program that binds, over some streams or over any; `extending`, its recursive event adds to one of them."""
    wants_recursion = extending or rng.random() < 0.75
    given = streams
    for _ in range(MOST_TRIES):
        streams = declared_streams(rng, options) if given is None else given
        text = rule_set_text(rng, streams, options, recursive=wants_recursion, extending=extending)
        try:
            plan = bound(text)
        except InklingError:
            continue
        if wants_recursion and not any(group.is_recursive for group in groups_of(plan)):
            continue
        found = program_features(plan)
        if found & options.without or not options.needing <= found:
            continue
        return RuleSet(streams, text, plan)
    raise ValueError(f"no rule set with {sorted(options.needing)} and without {sorted(options.without)} found")


def rule_set_text(
    rng: random.Random,
    streams: Sequence[Declared],
    options: Options = ANYTHING,
    *,
    recursive: bool = True,
    extending: bool = False,
) -> str:
    """The text of a rule set over the given streams; many of them bind."""
    register_aggregates()
    sources = [Source(one.name, one.columns, one.kind is Kind.ORDERED, True) for one in streams]
    partitioned = rng.random() < 0.6 if options.partitioned is None else options.partitioned
    rules = _Rules(rng, sources, partitioned, recursive, extending)
    background = RULES if rules.asks_rules else ""
    return "\n".join([*(str(stream) for stream in streams), f"{TABLES}{background}".rstrip(), *rules.texts()])


class _Rules:
    """Events of one rule set: what they have in common, and their texts."""

    def __init__(
        self, rng: random.Random, streams: Sequence[Source], partitioned: bool, recursive: bool, extending: bool
    ) -> None:
        self._rng, self._streams, self._partitioned, self._recursive = rng, streams, partitioned, recursive
        self._extended = rng.choice(streams) if extending else None
        named = list(VALUE_COLUMNS) if extending else rng.sample(["x", "s", "y"], rng.randint(1, 3))
        self._columns: dict[str, Type] = {name: VALUE_COLUMNS[name] for name in named}
        if partitioned:
            self._columns["k"] = VALUE_COLUMNS["k"]
        self._is_ordered = all(stream.is_ordered for stream in streams)
        self.asks_rules = rng.random() < 0.5

    def texts(self) -> Iterator[str]:
        """Declarations in any order."""
        rng = self._rng
        first = "r" if self._extended is None else self._extended.name
        names = [first, "q"] if self._recursive and rng.random() < 0.3 else [first]
        own = [self._source(name) for name in names]
        base = list(self._streams)
        if rng.random() < 0.25:
            yield self._member("base", base, rng.choice(PER))
            base.append(self._source("base"))
        per = "INTERVAL" if self._recursive else rng.choice(PER)
        policies = {name: random_policy(rng, ()) if rng.random() < 0.25 else "" for name in names}
        texts = [self._member(names[0], base, per, policies[names[0]])]
        for name in names:
            for _ in range(rng.randint(1, 2)):
                if self._recursive:
                    read = rng.sample(own, 1) if rng.random() < 0.7 else own
                    texts.append(self._step(name, base, read, policies[name]))
                else:
                    texts.append(self._member(name, base, per, policies[name]))
        rng.shuffle(texts)
        yield from texts
        yield from self._over([*self._streams, *own])

    def _over(self, sources: Sequence[Source]) -> Iterator[str]:
        """An event that reads the results."""
        rng = self._rng
        match rng.randrange(8):
            case 0 | 1:
                ours = [source for source in sources if not source.is_stream]
                aggregates = AGGREGATES if rng.random() < 0.7 else ()
                yield window_event(
                    rng,
                    "last",
                    ours if rng.random() < 0.7 else sources,
                    partitioned=self._partitioned,
                    aggregates=aggregates,
                )[0]
            case 2:
                yield self._member("last", sources, rng.choice(PER))
            case 3:
                yield self._member("last", sources, rng.choice(PER), "CONSUME")
            case 4 | 5:
                yield random_event(rng, "last", sources, Options(partitioned=self._partitioned)).text
            case 6:
                yield self._beside(sources)
            case _:
                pass

    def _beside(self, sources: Sequence[Source]) -> str:
        """A result in some relation to an event, or on an interval of its own."""
        rng = self._rng
        maker = self._maker([source for source in sources if not source.is_stream], "")
        left = maker.leaf(Place())
        maker.sources = sources
        relation = rng.choice(("EXCEPT", "PAR", maker.relation(), maker.relation()))
        right = maker.leaf(Place().after(left.variables))
        seen = left.variables if relation == "EXCEPT" else (*left.variables, *right.variables)
        pattern = Piece(f"{left.unit} {relation} {right.unit}", seen)
        return self._event("last", maker, pattern, "", rng.choice(PER), "")

    def _source(self, name: str) -> Source:
        return Source(name, self._columns, self._is_ordered, False)

    def _maker(self, sources: Sequence[Source], policy: str) -> PatternMaker:
        kind = PairMaker if policy else PatternMaker
        n_leaves = self._rng.choice((1, 2, 2, 3))
        return kind(self._rng, sources, self._is_ordered, n_leaves, n_unbounded=0, asks_rules=self.asks_rules)

    def _member(self, name: str, sources: Sequence[Source], per: str, policy: str = "") -> str:
        """Any pattern."""
        maker = self._maker(sources, policy)
        window, measures_time = maker.window() if self._rng.random() < 0.4 else ("", False)
        pattern = maker.pattern(Place(depth=2, has_limit=measures_time))
        return self._event(name, maker, pattern, window, per, policy)

    def _step(self, name: str, base: Sequence[Source], own: Sequence[Source], policy: str) -> str:
        """A result of the recursion with something else, mostly what comes after it."""
        rng = self._rng
        everything = [*base, *own]
        if rng.random() < 0.3:
            return self._member(name, everything, "INTERVAL", policy)
        maker = self._maker(own, policy)
        before = maker.leaf(Place())
        maker.sources = base
        place = Place(depth=1).after(before.variables)
        then = maker.leaf(place) if rng.random() < 0.8 else maker.pattern(place)
        maker.sources = everything if rng.random() < 0.5 else base
        denied = f"NOT {maker.leaf(place, named=False).unit}, " if rng.random() < 0.3 else ""
        order = "" if policy else rng.choice(("", "", "", "NEXT ", "STRICT "))
        joined = f"{before.unit} {rng.choice(('AND', 'PAR', maker.relation()))} {then.unit}"
        text = f"SEQ {order}({before.unit}, {denied}{then.unit})" if rng.random() < 0.75 else joined
        window = maker.window()[0] if rng.random() < 0.3 else ""
        pattern = Piece(text, (*before.variables, *then.variables))
        return self._event(name, maker, pattern, window, "INTERVAL", policy)

    def _event(self, name: str, maker: PatternMaker, pattern: Piece, window: str, per: str, policy: str) -> str:
        rng = self._rng
        head = dict(self._head(pattern))
        clauses = [f"PATTERN {pattern.text}"]
        texts = [one.name for one in pattern.variables if not one.is_list and not one.branches and "s" in one.columns]
        if self.asks_rules and texts and "s" in head and rng.random() < 0.25:
            clauses.append(f"WHERE linked({rng.choice(texts)}.s, z)")
            head["s"] = "z"
        clauses.append(window)
        having = maker.condition_on(tuple(one for one in pattern.variables if not one.is_list))
        if having is not None and rng.random() < 0.2:
            clauses.append(f"HAVING {having}")
        if self._partitioned:
            clauses.append("PARTITION BY k")
        clauses.append(random_policy(rng, pattern.variables) if policy == "CONSUME" else policy)
        clauses.append(f"PER {per}")
        items = (name if value == name else f"{value} AS {name}" for name, value in head.items())
        return f"EVENT {name}({', '.join(items)}) AS " + " ".join(one for one in clauses if one) + ";"

    def _head(self, pattern: Piece) -> Iterator[tuple[str, str]]:
        single = [one for one in pattern.variables if not one.is_list and not one.is_span]
        constants = {"x": "1", "y": "0.5", "s": "'a'", "k": "'p'"}
        for name in self._columns:
            having = [one for one in single if name in one.columns]
            if name == "k" and self._partitioned:
                yield name, "k"
            elif having and self._rng.random() < 0.85:
                yield name, f"{self._rng.choice(having).name}.{name}"
            else:
                yield name, constants[name]
