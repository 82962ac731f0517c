"""EP-SPARQL by its algebra: Anicic, *Event Processing and Stream Reasoning with ETALIS* (KIT 2011), section 11.4.

A solution is a set of bindings with the start and the end of the triples that it is made of; the result of an
expression is a set of solutions. Every operator tries everything. `text` writes an expression as a group of a query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from tests.reference import rdf_terms as rdf
from tests.reference.rdf_terms import Blank, ExpressionError, Iri, Literal, Term


@dataclass(frozen=True)
class Variable:
    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


@dataclass(frozen=True)
class Occurrence:
    """A triple with its interval."""

    subject: Term
    predicate: Term
    object: Term
    start: int
    end: int

    @property
    def terms(self) -> tuple[Term, Term, Term]:
        return self.subject, self.predicate, self.object


Stream = frozenset[Occurrence]
Bindings = Mapping[str, Term]


@dataclass(frozen=True)
class Solution:
    """Bindings of variables, and an interval."""

    bindings: frozenset[tuple[str, Term]]
    start: int
    end: int

    @property
    def values(self) -> dict[str, Term]:
        return dict(self.bindings)

    def combined(self, other: Solution) -> Solution | None:
        """Both together on the hull of their intervals; None if they disagree about a variable."""
        values, others = self.values, other.values
        if any(values[name] != others[name] for name in values.keys() & others.keys()):
            return None
        return Solution(self.bindings | other.bindings, min(self.start, other.start), max(self.end, other.end))


Solutions = frozenset[Solution]


# expressions


@dataclass(frozen=True)
class Compared:
    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Computed:
    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Both:
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Either:
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Negated:
    item: Expression


@dataclass(frozen=True)
class Bound:
    name: str


@dataclass(frozen=True)
class Tested:
    """`isIRI(?x)`, `isLITERAL(?x)`, `isBLANK(?x)`"""

    test: str
    item: Expression


@dataclass(frozen=True)
class SameTerm:
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Duration:
    """`getDURATION() < "PT3S"^^xsd:duration`, in whole seconds."""

    op: str
    seconds: int


Expression = (
    Variable | Iri | Literal | Compared | Computed | Both | Either | Negated | Bound | Tested | SameTerm | Duration
)
_KINDS = {"isIRI": Iri, "isLITERAL": Literal, "isBLANK": Blank}


def value(node: Expression, row: Solution) -> Term:
    """The term that an expression has for a row; raises `ExpressionError` if it has none."""
    match node:
        case Variable(name):
            if name not in row.values:
                raise ExpressionError(f"?{name} is unbound")
            return row.values[name]
        case Iri() | Literal():
            return node
        case Computed(op, left, right):
            return rdf.computed(op, value(left, row), value(right, row))
        case _:
            return Literal("true" if decided(node, row) else "false", rdf.BOOLEAN)


def decided(node: Expression, row: Solution) -> bool:
    """Whether a condition is true for a row, or false; raises `ExpressionError` if it is neither."""
    match node:
        case Both(left, right):
            return _all(outcome(left, row), outcome(right, row))
        case Either(left, right):
            return not _all(_not(outcome(left, row)), _not(outcome(right, row)))
        case Negated(item):
            return not decided(item, row)
        case Compared(op, left, right):
            return compared(op, value(left, row), value(right, row))
        case Bound(name):
            return name in row.values
        case Tested(test, item):
            return isinstance(value(item, row), _KINDS[test])
        case SameTerm(left, right):
            return value(left, row) == value(right, row)
        case Duration(op, seconds):
            return compared(op, rdf.integer(row.end - row.start), rdf.integer(seconds))
        case _:
            return rdf.truth(value(node, row))


def outcome(node: Expression, row: Solution) -> bool | None:
    """True, false, or None for an error."""
    try:
        return decided(node, row)
    except ExpressionError:
        return None


def _not(one: bool | None) -> bool | None:
    return None if one is None else not one


def _all(one: bool | None, other: bool | None) -> bool:
    """The table of `&&`: false if one is false, an error if one is an error and the other is not false."""
    if one is False or other is False:
        return False
    if one is None or other is None:
        raise ExpressionError("neither true nor false")
    return True


def compared(op: str, left: Term, right: Term) -> bool:
    match op:
        case "=":
            return rdf.equal(left, right)
        case "!=":
            return not rdf.equal(left, right)
        case "<":
            return rdf.less(left, right)
        case ">":
            return rdf.less(right, left)
        case "<=":
            return rdf.less(left, right) or rdf.equal(left, right)
        case _:
            return rdf.less(right, left) or rdf.equal(left, right)


def written(node: Expression) -> str:
    """An expression as it stands in a query."""
    match node:
        case Both(left, right):
            return f"({written(left)} && {written(right)})"
        case Either(left, right):
            return f"({written(left)} || {written(right)})"
        case Negated(item):
            return f"!({written(item)})"
        case Compared(op, left, right) | Computed(op, left, right):
            return f"({written(left)} {op} {written(right)})"
        case Bound(name):
            return f"BOUND(?{name})"
        case Tested(test, item):
            return f"{test}({written(item)})"
        case SameTerm(left, right):
            return f"sameTERM({written(left)}, {written(right)})"
        case Duration(op, seconds):
            return f'getDURATION() {op} "PT{seconds}S"^^<{rdf.XSD}duration>'
        case _:
            return str(node)


# patterns

Part = Variable | Term


@dataclass(frozen=True)
class Bgp:
    """Triples with variables: an occurrence for each of them."""

    triples: tuple[tuple[Part, Part, Part], ...]

    def solutions(self, stream: Stream) -> Solutions:
        rows: Iterable[Solution | None] = [None]
        for triple in self.triples:
            rows = [
                longer
                for row in rows
                for one in stream
                if (bound := _bound(triple, one)) is not None
                if (longer := bound if row is None else row.combined(bound)) is not None
            ]
        return frozenset(row for row in rows if row is not None)

    @property
    def text(self) -> str:
        return " . ".join(" ".join(map(str, triple)) for triple in self.triples)

    @property
    def names(self) -> tuple[str, ...]:
        return _distinct(part.name for triple in self.triples for part in triple if isinstance(part, Variable))


def _bound(triple: tuple[Part, Part, Part], one: Occurrence) -> Solution | None:
    """What the variables of a triple are at an occurrence; None if it does not match."""
    values: dict[str, Term] = {}
    for part, term in zip(triple, one.terms, strict=True):
        if isinstance(part, Variable):
            if values.setdefault(part.name, term) != term:
                return None
        elif part != term:
            return None
    return Solution(frozenset(values.items()), one.start, one.end)


@dataclass(frozen=True)
class Filter:
    condition: Expression
    inner: Pattern

    def solutions(self, stream: Stream) -> Solutions:
        return frozenset(row for row in self.inner.solutions(stream) if outcome(self.condition, row) is True)

    @property
    def text(self) -> str:
        return f"{self.inner.text} FILTER({written(self.condition)})"

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names


@dataclass(frozen=True)
class Combined:
    """Join, SeqJoin and EqJoin: compatible pairs, of any times, one after the other, or at the same times."""

    op: str
    left: Pattern
    right: Pattern

    def solutions(self, stream: Stream) -> Solutions:
        return frozenset(row for _, _, row in self.pairs(stream))

    def pairs(self, stream: Stream) -> Iterator[tuple[Solution, Solution, Solution]]:
        for one, other in product(self.left.solutions(stream), self.right.solutions(stream)):
            row = one.combined(other)
            if row is not None and _related(self.op, one, other):
                yield one, other, row

    @property
    def text(self) -> str:
        right = self.right.inner if self.op == "AND" and isinstance(self.right, Background) else self.right
        return f"{{ {self.left.text} }} {self.op} {{ {right.text} }}"

    @property
    def names(self) -> tuple[str, ...]:
        return _distinct((*self.left.names, *self.right.names))


def _related(op: str, one: Solution, other: Solution) -> bool:
    match op:
        case "SEQ" | "OPTIONALSEQ":
            return one.end < other.start
        case "EQUALS" | "EQUALSOPTIONAL":
            return (one.start, one.end) == (other.start, other.end)
        case "OPTIONAL":
            return other.end <= one.end
        case _:
            return True


@dataclass(frozen=True)
class Union:
    left: Pattern
    right: Pattern

    def solutions(self, stream: Stream) -> Solutions:
        return self.left.solutions(stream) | self.right.solutions(stream)

    @property
    def text(self) -> str:
        return f"{{ {self.left.text} }} UNION {{ {self.right.text} }}"

    @property
    def names(self) -> tuple[str, ...]:
        return _distinct((*self.left.names, *self.right.names))


@dataclass(frozen=True)
class Outer:
    """LeftJoin, SeqRightJoin and EqLeftJoin: pairs for which the condition holds, and kept rows without any.

    The optional part is the left one for OPTIONALSEQ, otherwise the right one; its filter is the condition.
    """

    op: str
    left: Pattern
    right: Pattern
    condition: Expression | None = None

    def solutions(self, stream: Stream) -> Solutions:
        kept = self.right if self.op == "OPTIONALSEQ" else self.left
        found, partnered = set(), set()
        for one, other, row in Combined(self.op, self.left, self.right).pairs(stream):
            if self.condition is None or outcome(self.condition, row) is True:
                found.add(row)
                partnered.add(other if self.op == "OPTIONALSEQ" else one)
        return frozenset(found | (kept.solutions(stream) - partnered))

    @property
    def text(self) -> str:
        filter = f" FILTER({written(self.condition)})" if self.condition is not None else ""
        if self.op == "OPTIONALSEQ":
            return f"{{ {_alone(self.left)}{filter} }} {self.op} {{ {self.right.text} }}"
        return f"{{ {self.left.text} }} {self.op} {{ {_alone(self.right)}{filter} }}"

    @property
    def names(self) -> tuple[str, ...]:
        return _distinct((*self.left.names, *self.right.names))


def _alone(part: Pattern) -> str:
    """In braces of its own if it has a filter, which would otherwise be a part of the condition."""
    return f"{{ {part.text} }}" if isinstance(part, Filter) else part.text


@dataclass(frozen=True)
class Projected:
    """A sub-select: variables, and values computed from them."""

    items: tuple[tuple[str, Expression], ...]
    inner: Pattern

    def solutions(self, stream: Stream) -> Solutions:
        found = set()
        for row in self.inner.solutions(stream):
            values: dict[str, Term] = {}
            for name, expression in self.items:
                try:
                    values[name] = value(expression, row)
                except ExpressionError:
                    continue
            found.add(Solution(frozenset(values.items()), row.start, row.end))
        return frozenset(found)

    @property
    def text(self) -> str:
        return f"{{ {self.query} }}"

    @property
    def query(self) -> str:
        items = " ".join(
            str(one) if one == Variable(name) else f"({written(one)} AS ?{name})" for name, one in self.items
        )
        return f"SELECT {items} WHERE {{ {self.inner.text} }}"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.items)


@dataclass(frozen=True)
class Background:
    """Solutions over a graph of their own, whose triples have no time: they leave the interval of a row as it is."""

    inner: Pattern
    graph: frozenset[tuple[Term, Term, Term]]

    def solutions(self, stream: Stream) -> Solutions:
        del stream
        return self.inner.solutions(frozenset(Occurrence(*triple, _AFTER_ALL, _BEFORE_ALL) for triple in self.graph))

    @property
    def text(self) -> str:
        return f"GRAPH <{BACKGROUND}> {{ {self.inner.text} }}"

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names


BACKGROUND = "background.ttl"
_AFTER_ALL, _BEFORE_ALL = 10**9, -(10**9)
"""The start and the end of an empty interval: the hull of it and another one is the other one."""

Pattern = Bgp | Filter | Combined | Union | Outer | Projected | Background


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


# queries


@dataclass(frozen=True)
class Construct:
    template: tuple[tuple[Part, Part, Part], ...]
    where: Pattern

    def triples(self, stream: Stream) -> Iterator[Occurrence]:
        for row in self.where.solutions(stream):
            for triple in self.template:
                terms = [row.values.get(part.name) if isinstance(part, Variable) else part for part in triple]
                subject, predicate, object = terms
                if subject is None or predicate is None or object is None:
                    continue
                if not isinstance(subject, Literal) and isinstance(predicate, Iri):
                    yield Occurrence(subject, predicate, object, row.start, row.end)

    @property
    def text(self) -> str:
        return f"CONSTRUCT {{ {Bgp(self.template).text} }} WHERE {{ {self.where.text} }}"


def closure(stream: Stream, constructs: Iterable[Construct]) -> Stream:
    """The smallest stream that contains all triples that the queries construct from it."""
    constructs = list(constructs)
    while True:
        grown = stream | {one for construct in constructs for one in construct.triples(stream)}
        if grown == stream:
            return stream
        stream = grown
