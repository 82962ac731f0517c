"""Random well-formed programs with small random streams: what every evaluator is compared on.

>>> case = random_case(random.Random(7))
>>> sorted(case.rows) == sorted(stream.schema.name for stream in case.plan.streams)
True
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hypothesis import strategies as st
from tests.kit.conditions import Variable, aggregate
from tests.kit.consuming import POLICIES, PairMaker, random_policy
from tests.kit.coverage import program_features
from tests.kit.oracle import oracle
from tests.kit.patterns import PatternMaker, Place, Source
from tests.kit.rows import Rows
from tests.kit.streams import random_rows, random_tables
from tests.kit.universe import DERIVED, LOST_TABLES, TABLES, VALUE_COLUMNS, Declared, Kind
from tests.kit.windows import window_event

from inkling.errors import InklingError
from inkling.logical import plan as p
from inkling.meaning.semantics import Result
from inkling.model.types import Type
from inkling.query import Program, parse

MOST_TRIES = 200
SPELLED_OUT = frozenset({*POLICIES, "WINDOW"})
"""Features whose name stands in every program that has them."""


@dataclass(frozen=True, slots=True)
class Options:
    """What random programs may contain; names of features are those of `coverage.FEATURES`."""

    kinds: tuple[Kind, ...] = tuple(Kind)
    without: frozenset[str] = frozenset()
    needing: frozenset[str] = frozenset()  # all of these
    partitioned: bool | None = None  # None: some are
    n_events: int = 2  # at most, per program
    bad_rows: bool = True


ANYTHING = Options()


@dataclass(frozen=True, slots=True)
class Case:
    """A program with data for it."""

    text: str
    plan: p.ProgramPlan
    rows: Rows
    tables: Rows

    def expected(self) -> dict[str, tuple[Result, ...]]:
        """The results by the definition."""
        return oracle(self.plan, self.rows, self.tables)

    def __str__(self) -> str:
        listed = [f"{name}: {row}" for name, some in {**self.rows, **self.tables}.items() for row in some]
        return "\n".join([self.text, *listed])


def cases(options: Options = ANYTHING) -> st.SearchStrategy[Case]:
    """Hypothesis strategy of programs with data."""
    return st.randoms(use_true_random=False).map(lambda rng: random_case(rng, options))


def seeded_cases(seed: int, n: int, options: Options = ANYTHING) -> Iterator[Case]:
    """The same `n` cases for the same seed."""
    rng = random.Random(seed)
    for _ in range(n):
        yield random_case(rng, options)


def random_case(rng: random.Random, options: Options = ANYTHING) -> Case:
    """A program that binds and has the asked features, with streams small enough for the definition."""
    streams, program = wanted_program(rng, options)
    rows = random_rows(rng, streams, n_events=size_for(program.plan), bad_rows=options.bad_rows)
    return Case(program.text, program.plan, rows, random_tables(rng))


def wanted_program(rng: random.Random, options: Options = ANYTHING) -> tuple[list[Declared], Program]:
    """A program that binds and has the asked features, over some streams."""
    for _ in range(MOST_TRIES):
        streams = declared_streams(rng, options)
        text = random_program(rng, streams, options)
        if any(word not in text for word in options.needing & SPELLED_OUT):
            continue
        try:
            program = parsed(text)
        except InklingError:
            continue
        found = program_features(program.plan)
        if found & options.without or not options.needing <= found:
            continue
        return streams, program
    raise ValueError(f"no program with {sorted(options.needing)} and without {sorted(options.without)} found")


@lru_cache(maxsize=1)
def parsed(text: str) -> Program:
    """A program in `.ink`; that of the case at hand is not parsed again."""
    return parse(text)


def random_program(rng: random.Random, streams: Sequence[Declared], options: Options = ANYTHING) -> str:
    """The text of a program over the given streams; most of them bind."""
    sources = [Source(one.name, one.columns, one.kind is Kind.ORDERED, True) for one in streams]
    events = []
    for number in range(rng.randint(1, options.n_events)):
        event = random_event(rng, f"e{number}", sources, options)
        events.append(event.text)
        sources.extend(event.sources)
    tables = TABLES + LOST_TABLES if any(one.uncertain.has_marks for one in streams) else TABLES
    return "\n".join([*(str(stream) for stream in streams), tables.rstrip(), *events])


def declared_streams(rng: random.Random, options: Options) -> list[Declared]:
    kinds = list(options.kinds)
    chosen = [rng.choice(kinds)] * 3 if rng.random() < 0.75 else [rng.choice(kinds) for _ in range(3)]
    with_id = rng.random() < 0.9
    names = {Kind.POINTS: "ABC", Kind.ORDERED: "VWU", Kind.INTERVALS: "LMN"}
    by_id = with_id and rng.random() < 0.2
    mixed = by_id and rng.random() < 0.5
    streams = []
    for index, kind in enumerate(chosen[: rng.randint(1, 3)]):
        derive = rng.choice(list(DERIVED)) if rng.random() < 0.2 else ""
        order_by = "id" if by_id and not (mixed and index % 2) else "seq"
        streams.append(Declared(names[kind][index], kind, with_id, order_by, derive))
    return streams


def size_for(plan: p.ProgramPlan) -> int:
    """Events per key: fewer the more parts a pattern has, since the definition tries all combinations."""
    written = [event for event in plan.events if event.timeouts_of is None]
    most = max(sum(1 for _ in p.leaves(event.pattern)) for event in written)
    unpartitioned = any(not event.partition for event in plan.events)
    size = {1: 8, 2: 8, 3: 7, 4: 6}.get(most, 5)
    return max(3, size // 2 + 1) if unpartitioned else size


@dataclass(frozen=True, slots=True)
class RandomEvent:
    """An event and what later events see of it."""

    text: str
    sources: tuple[Source, ...]


def random_event(rng: random.Random, name: str, sources: Sequence[Source], options: Options) -> RandomEvent:
    """Any event over some sources."""
    usable = _usable(rng, sources)
    partitioned = rng.random() < 0.5 if options.partitioned is None else options.partitioned
    partitioned = partitioned and all("k" in source.columns for source in usable)
    if rng.random() < (0.6 if "WINDOW" in options.needing else 0.08):
        text, seen, in_order = window_event(rng, name, usable, partitioned=partitioned)
        return RandomEvent(text, (Source(name, seen, in_order, False),))
    consuming = rng.random() < (0.7 if {*POLICIES} & options.needing else 0.1)
    kind = PairMaker if consuming else PatternMaker
    maker = kind(rng, usable, all(one.is_ordered for one in usable), rng.choice((2, 3, 4, 4, 5)))
    window, measures_time = maker.window() if rng.random() < 0.5 else ("", False)
    pattern = maker.pattern(Place(has_limit=measures_time))
    clauses = [f"PATTERN {pattern.text}"]
    where = maker.condition_on(tuple(one for one in pattern.variables if not one.is_list))
    if where is not None and rng.random() < 0.25:
        clauses.append(f"WHERE {where}")
    clauses.append(window)
    having = maker.condition_on(pattern.variables)
    if having is not None and rng.random() < 0.2:
        clauses.append(f"HAVING {having}")
    if partitioned:
        clauses.append("PARTITION BY k")
    if rng.random() < 0.15:
        over = rng.sample([source.name for source in usable], rng.randint(1, len(usable)))
        clauses.append(f"OVER ({', '.join(over)})")
    if consuming:
        clauses.append(random_policy(rng, pattern.variables))
    elif rng.random() < 0.15:
        clauses.append("CONSUME RESTART")
    if rng.random() < (0.6 if "AT START" in pattern.text else 0.12):
        clauses.append(f"KEEP FOR {rng.randint(0, 8)} TICKS")
    returned = _returned(rng, pattern.variables)
    if returned and rng.random() < 0.4:
        clauses.append(f"RETURN {', '.join(returned)}")
    clauses.append(rng.choice(("", "PER MATCH", "PER INTERVAL", "PER END", "PER VALUES")))
    head, columns = _head(rng, pattern.variables, partitioned=partitioned)
    waits = measures_time and pattern.text.startswith(("SEQ (", "SEQ ANY", "SEQ NEXT"))
    asked = waits and not consuming and rng.random() < 0.4 and "EAGER" not in pattern.text
    timeouts = [f"{name}_late"] if asked else []
    clauses.extend(f"ON TIMEOUT {late}" for late in timeouts)
    text = f"EVENT {name}{head} AS\n  " + "\n  ".join(clause for clause in clauses if clause) + ";"
    is_ordered = all(source.is_ordered for source in usable) and "AFTER" not in pattern.text
    return RandomEvent(text, tuple(Source(made, columns, is_ordered, False) for made in (name, *timeouts)))


def _usable(rng: random.Random, sources: Sequence[Source]) -> list[Source]:
    """Streams, and with some luck the events before; those without columns only join in."""
    streams = [source for source in sources if source.is_stream]
    events = [source for source in sources if not source.is_stream]
    return [*streams, *events] if events and rng.random() < 0.6 else streams


def _head(rng: random.Random, variables: Sequence[Variable], *, partitioned: bool) -> tuple[str, dict[str, Type]]:
    """The head of an event and the columns that later events see."""
    single = [one for one in variables if not one.is_list and not one.is_span and one.columns]
    if not single or rng.random() < 0.25:
        return "", {"k": VALUE_COLUMNS["k"]} if partitioned else {}
    one = rng.choice(single)
    names = [name for name in one.columns if name in VALUE_COLUMNS and (name != "k" or not partitioned)]
    chosen = rng.sample(names, rng.randint(0, len(names)))
    items = [f"{one.name}.{name} AS {name}" for name in chosen]
    columns = {name: VALUE_COLUMNS[name] for name in chosen}
    if partitioned and rng.random() < 0.8:
        items.append("k")
        columns["k"] = VALUE_COLUMNS["k"]
    return f"({', '.join(items)})", columns


def _returned(rng: random.Random, variables: Sequence[Variable]) -> list[str]:
    items = []
    for number, one in enumerate(rng.sample(list(variables), min(2, len(variables)))):
        if one.is_list:
            items.append(f"{aggregate(rng, one)} AS r{number}")
        elif one.is_span or not one.columns or rng.random() < 0.3:
            items.append(f"{rng.choice(('START', 'END'))}({one.name}) AS r{number}")
        else:
            items.append(f"{one.name}.{rng.choice(list(one.columns))} AS r{number}")
    return items
