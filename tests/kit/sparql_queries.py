"""Random queries of EP-SPARQL as expressions of its algebra, and random streams of triples."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.reference import ep_sparql as a
from tests.reference import rdf_terms as rdf
from tests.reference import rdfs
from tests.reference.rdf_terms import Iri, Literal
from tests.reference.rdfs import Triple

BASE = "http://example.org/"
SUBJECTS = tuple(Iri(BASE + name) for name in "abc")
PREDICATES = tuple(Iri(BASE + name) for name in "pqr")
NUMBERS = (rdf.integer(1), rdf.integer(2), rdf.integer(3), Literal("1", rdf.DECIMAL), Literal("2.5", rdf.DECIMAL))
TEXTS = (Literal("x"), Literal("y"), Literal(""), Literal("true", rdf.BOOLEAN), Literal("x", language="en"))
NAMES = ("a", "b", "c", "d")
COLUMNS = "s TERM, p TERM, o TERM, begins BIGINT, ends BIGINT"
STREAM = f"STREAM triple({COLUMNS}) TIME FROM begins TO ends TICK 1 SECONDS;\n"
POINTS = STREAM.replace("FROM begins TO ends", "begins")
_COMPARED = ("=", "!=", "<", "<=", ">", ">=")
_TEMPORAL = ("SEQ", "EQUALS")
_OUTER = ("OPTIONAL", "OPTIONALSEQ", "EQUALSOPTIONAL")


class QueryMaker:
    """Makes queries; `plain` ones are SPARQL, without operators and functions of time.

    In `limited` ones many groups have a filter that limits how long their solutions last. All triples of a `star` have
    the same subject. With a `background`, many groups are joined with groups of its triples.
    """

    def __init__(
        self,
        rng: random.Random,
        *,
        plain: bool = False,
        limited: bool = False,
        star: bool = False,
        background: frozenset[Triple] | None = None,
    ) -> None:
        self.rng = rng
        self.background = background
        self.plain = plain
        self.limited = limited
        self.star = star

    def query(self) -> a.Projected:
        pattern = self.pattern(self.rng.choice((1, 2, 2, 3)))
        if self.rng.random() < 0.5:
            pattern = a.Filter(self.condition(pattern.names, 2), pattern)
        names = pattern.names
        chosen = [name for name in names if self.rng.random() < 0.8] or names[:1]
        items: list[tuple[str, a.Expression]] = [(name, a.Variable(name)) for name in chosen]
        if self.rng.random() < 0.15:
            one = self.rng.choice(names)
            items.append(("computed", a.Computed(self.rng.choice("+-*"), a.Variable(one), rdf.integer(2))))
        return a.Projected(tuple(items), pattern)

    def pattern(self, depth: int) -> a.Pattern:
        found = self._pattern(depth)
        if self.limited and depth > 0 and self.rng.random() < 0.5:
            return a.Filter(a.Duration(self.rng.choice(("<", "<=")), self.rng.randrange(1, 4)), found)
        return found

    def _pattern(self, depth: int) -> a.Pattern:
        if depth == 0:
            return self.triples()
        if self.background is not None and self.rng.random() < 0.4:
            return self._with_background(self.pattern(depth - 1))
        shape = self.rng.random()
        if shape < 0.1:
            inner = self.pattern(depth - 1)
            return a.Filter(self.condition(inner.names, 2), inner)
        if shape < 0.17:
            inner = self.pattern(depth - 1)
            kept = [name for name in inner.names if self.rng.random() < 0.7] or inner.names[:1]
            return a.Projected(tuple((name, a.Variable(name)) for name in kept), inner)
        left, right = self.pattern(depth - 1), self.pattern(self.rng.randrange(depth))
        if shape < 0.3:
            return a.Union(left, right)
        if shape < 0.62:
            op = self.rng.choice(("",) if self.plain else ("", *_TEMPORAL, *_TEMPORAL))
            return a.Combined(op, left, right)
        op = "OPTIONAL" if self.plain else self.rng.choice(_OUTER)
        names = tuple(dict.fromkeys((*left.names, *right.names)))
        return a.Outer(op, left, right, self.condition(names, 1) if self.rng.random() < 0.4 else None)

    def _with_background(self, left: a.Pattern) -> a.Pattern:
        """A join or a left join with a group of background triples, with all that SPARQL has in it."""
        assert self.background is not None
        maker = QueryMaker(self.rng, plain=True)
        right = a.Background(maker.pattern(self.rng.choice((0, 1, 1, 2))), self.background)
        if self.rng.random() < 0.6:
            return a.Combined(self.rng.choice(("", "AND")), left, right)
        names = tuple(dict.fromkeys((*left.names, *right.names)))
        return a.Outer("OPTIONAL", left, right, maker.condition(names, 1) if self.rng.random() < 0.4 else None)

    def triples(self) -> a.Bgp:
        return a.Bgp(tuple(self._triple() for _ in range(self.rng.choice((1, 1, 1, 2)))))

    def _triple(self) -> tuple[a.Part, a.Part, a.Part]:
        rng = self.rng
        subject: a.Part = a.Variable(rng.choice(NAMES[:2])) if rng.random() < 0.85 else rng.choice(SUBJECTS)
        subject = a.Variable("a") if self.star else subject
        predicate: a.Part = a.Variable(rng.choice(NAMES)) if rng.random() < 0.1 else rng.choice(PREDICATES)
        object: a.Part = a.Variable(rng.choice(NAMES)) if rng.random() < 0.85 else rng.choice((*SUBJECTS, *NUMBERS))
        if not any(isinstance(part, a.Variable) for part in (subject, predicate, object)):
            subject = a.Variable("a")
        return subject, predicate, object

    def condition(self, names: Sequence[str], depth: int) -> a.Expression:
        rng = self.rng
        shape = rng.random()
        if depth > 0 and shape < 0.45:
            left, right = self.condition(names, depth - 1), self.condition(names, depth - 1)
            return rng.choice((a.Both(left, right), a.Either(left, right), a.Negated(left)))
        if not self.plain and shape < 0.55:
            return a.Duration(rng.choice(("<", "<=", ">", ">=", "=")), rng.randrange(4))
        variable = a.Variable(rng.choice(names))
        if shape < 0.65:
            return a.Bound(variable.name)
        if shape < 0.72:
            return a.Tested(rng.choice(("isIRI", "isLITERAL")), variable)
        if shape < 0.77:
            return a.SameTerm(variable, self._operand(names))
        if shape < 0.82:
            return variable
        if shape < 0.9:
            computed = a.Computed(rng.choice("+-*"), variable, rng.choice(NUMBERS))
            return a.Compared(rng.choice(("<", ">=", "=")), computed, self._operand(names))
        operand = self._operand(names)
        # pyoxigraph finds an IRI less than or equal to itself, where SPARQL has no order and so an error
        is_equality = self.plain and isinstance(operand, a.Variable | Iri)
        return a.Compared(rng.choice(("=", "!=") if is_equality else _COMPARED), variable, operand)

    def _operand(self, names: Sequence[str]) -> a.Expression:
        if self.rng.random() < 0.4:
            return a.Variable(self.rng.choice(names))
        return self.rng.choice((*NUMBERS, *NUMBERS, *TEXTS[:3], SUBJECTS[0]))

    def construct(self) -> a.Construct:
        """A query whose triples come from the same few terms, so that the closure is finite."""
        depth = self.rng.choice((0, 1))
        left = self.triples()
        where: a.Pattern = left
        if depth:
            where = a.Combined(self.rng.choice(("", "SEQ")), left, self.triples())
        if self.rng.random() < 0.3:
            where = a.Filter(self.condition(where.names, 1), where)
        if self.background is not None and self.rng.random() < 0.5:
            where = self._with_background(where)
        subject: a.Part = a.Variable(self.rng.choice(where.names))
        object: a.Part = self.rng.choice((a.Variable(self.rng.choice(where.names)), rdf.integer(1)))
        return a.Construct(((subject, self.rng.choice(PREDICATES), object),), where)


def stream_of(rng: random.Random, n: int, *, at_once: bool = False, points: bool = False) -> a.Stream:
    """Some triples, many at the same times; `points` do not last."""
    found = set()
    for _ in range(n):
        start = 0 if at_once else rng.randrange(5)
        end = start if at_once or points or rng.random() < 0.5 else start + rng.randrange(3)
        object = rng.choice((*SUBJECTS, *NUMBERS, *NUMBERS, *TEXTS))
        found.add(a.Occurrence(rng.choice(SUBJECTS), rng.choice(PREDICATES), object, start, end))
    return frozenset(found)


def background_of(rng: random.Random, *, schema: bool = False) -> frozenset[Triple]:
    """Some triples without a time; with a `schema`, properties that are below others and have domains and ranges."""
    found: set[Triple] = set()
    for _ in range(5):
        object = rng.choice((*SUBJECTS, *NUMBERS, *TEXTS))
        found.add((rng.choice(SUBJECTS), rng.choice(PREDICATES), object))
    for _ in range(3 if schema else 0):
        found.add((rng.choice(PREDICATES), rng.choice(rdfs.RELATIONS), rng.choice((*PREDICATES, *SUBJECTS))))
    return frozenset(found)


def rows_of(stream: a.Stream) -> list[dict[str, object]]:
    ordered = sorted(stream, key=lambda one: (one.end, one.start, *map(str, one.terms)))
    return [
        {
            **{column: str(term) for column, term in zip("spo", one.terms, strict=True)},
            "begins": one.start,
            "ends": one.end,
        }
        for one in ordered
    ]


def wanted_rows(query: a.Projected, stream: a.Stream) -> frozenset[tuple[object, ...]]:
    """The rows of a query by the algebra: the texts of its values, start and end."""
    return frozenset(
        (*(str(row.values[name]) if name in row.values else None for name in query.names), row.start, row.end)
        for row in query.solutions(stream)
    )
