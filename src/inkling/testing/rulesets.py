"""Random rule sets: events declared several times, events that rest on themselves or on each other."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from inkling.errors import InklingError
from inkling.logical.recursion import groups_of
from inkling.model.types import Type
from inkling.testing.coverage import program_features
from inkling.testing.oracle import bound
from inkling.testing.patterns import PatternMaker, Piece, Place, Source
from inkling.testing.programs import ANYTHING, MOST_TRIES, Case, Options, declared_streams
from inkling.testing.streams import random_rows, random_tables
from inkling.testing.universe import TABLES, VALUE_COLUMNS, Kind

PER = ("INTERVAL", "INTERVAL", "MATCH", "END", "VALUES")


def seeded_rule_sets(seed: int, n: int, options: Options = ANYTHING) -> Iterator[Case]:
    """The same `n` cases for the same seed."""
    rng = random.Random(seed)
    for _ in range(n):
        yield random_rule_set(rng, options)


def random_rule_set(rng: random.Random, options: Options = ANYTHING) -> Case:
    """A program with united or recursive events, with streams small enough for the definition."""
    wants_recursion = rng.random() < 0.75
    for _ in range(MOST_TRIES):
        streams = declared_streams(rng, options)
        sources = [Source(one.name, one.columns, one.kind is Kind.ORDERED, True) for one in streams]
        partitioned = rng.random() < 0.6 if options.partitioned is None else options.partitioned
        events = _Rules(rng, sources, partitioned, wants_recursion).texts()
        text = "\n".join([*(str(stream) for stream in streams), TABLES.rstrip(), *events])
        try:
            plan = bound(text)
        except InklingError:
            continue
        if wants_recursion and not any(group.is_recursive for group in groups_of(plan)):
            continue
        found = program_features(plan)
        if found & options.without or not options.needing <= found:
            continue
        size = rng.randint(3, 5) if partitioned else 3
        rows = random_rows(rng, streams, n_events=size, bad_rows=options.bad_rows)
        return Case(text, plan, rows, random_tables(rng))
    raise ValueError(f"no rule set with {sorted(options.needing)} and without {sorted(options.without)} found")


class _Rules:
    def __init__(self, rng: random.Random, streams: Sequence[Source], partitioned: bool, recursive: bool) -> None:
        self._rng, self._streams, self._partitioned, self._recursive = rng, streams, partitioned, recursive
        named = rng.sample(["x", "s", "y"], rng.randint(1, 2))
        self._columns: dict[str, Type] = {name: VALUE_COLUMNS[name] for name in named}
        if partitioned:
            self._columns["k"] = VALUE_COLUMNS["k"]
        self._is_ordered = all(stream.is_ordered for stream in streams)

    def texts(self) -> Iterator[str]:
        """Declarations in any order."""
        rng = self._rng
        names = ["r", "q"] if self._recursive and rng.random() < 0.3 else ["r"]
        own = [Source(name, self._columns, self._is_ordered, False) for name in names]
        per = "INTERVAL" if self._recursive else rng.choice(PER)
        texts = [self._member(names[0], self._streams, per)]
        for name in names:
            for _ in range(rng.randint(1, 2)):
                texts.append(self._member(name, [*self._streams, *own] if self._recursive else self._streams, per))
        rng.shuffle(texts)
        yield from texts
        if rng.random() < 0.4:
            yield self._member("last", [*self._streams, *own], rng.choice(PER))

    def _member(self, name: str, sources: Sequence[Source], per: str) -> str:
        rng = self._rng
        maker = PatternMaker(rng, sources, self._is_ordered, rng.choice((1, 2, 2, 3)), n_unbounded=0)
        window, measures_time = maker.window() if rng.random() < 0.4 else ("", False)
        pattern = maker.pattern(Place(depth=2, has_limit=measures_time))
        clauses = [f"PATTERN {pattern.text}", window]
        where = maker.condition_on(tuple(one for one in pattern.variables if not one.is_list))
        if where is not None and rng.random() < 0.2:
            clauses.append(f"HAVING {where}")
        if self._partitioned:
            clauses.append("PARTITION BY k")
        clauses.append(f"PER {per}")
        return f"EVENT {name}({', '.join(self._head(pattern))}) AS " + " ".join(one for one in clauses if one) + ";"

    def _head(self, pattern: Piece) -> Iterator[str]:
        single = [one for one in pattern.variables if not one.is_list and not one.is_span]
        constants = {"x": "1", "y": "0.5", "s": "'a'"}
        for name in self._columns:
            having = [one for one in single if name in one.columns]
            if name == "k":
                yield "k"
            elif having and self._rng.random() < 0.85:
                yield f"{self._rng.choice(having).name}.{name} AS {name}"
            else:
                yield f"{constants[name]} AS {name}"
