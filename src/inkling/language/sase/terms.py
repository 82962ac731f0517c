"""The nodes of a query file: patterns, conditions and values, each with its span."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language.kit.cursor import Number, Text
from inkling.language.syntax import Ident, Node, StreamDecl
from inkling.language.syntax.expressions import ArithmeticOperator, ComparisonOperator
from inkling.language.syntax.nodes import TimeUnit, children
from inkling.language.syntax.statements import StatementNode

Index: TypeAlias = OneOf["1", "i", "i-1", "LEN"]
Connective: TypeAlias = OneOf["AND", "OR"]
AtLeast: TypeAlias = OneOf[">=", ">"]


@dataclass(frozen=True, slots=True)
class Percent(Node):
    """`80%`, kept as it is written without the sign."""

    written: str

    @property
    def share(self) -> Fraction:
        return Fraction(self.written) / 100


@dataclass(frozen=True, slots=True)
class Value(Node):
    """`a.price`, `b[i].price`"""

    var: Ident
    index: Index | None
    column: Ident


@dataclass(frozen=True, slots=True)
class Aggregated(Node):
    """`avg(b[].price)`, `avg(b[..i-1].price)` over the events before, `count(b[])`."""

    function: Ident
    var: Ident
    earlier: bool
    column: Ident | None


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    op: ArithmeticOperator
    left: "Term"
    right: "Term"


@dataclass(frozen=True, slots=True)
class Minus(Node):
    item: "Term"


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """`TRUE`, `FALSE`"""

    value: bool


Term: TypeAlias = Number | Text | Percent | Truth | Value | Aggregated | Arithmetic | Minus


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """`a.price > 10`"""

    op: ComparisonOperator
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Equivalence(Node):
    """`[symbol]`: all events have the same value."""

    columns: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class Negated(Node):
    item: "Condition"


@dataclass(frozen=True, slots=True)
class Joined(Node):
    """At least two conditions with one word between them; none of them has the same word outside of parentheses."""

    op: Connective
    items: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """`a`, or `b[]` for a repetition."""

    name: Ident
    repeated: bool


@dataclass(frozen=True, slots=True)
class Selection(Node):
    """`skip_till_next_match(a, b[]) { … }`: the strategy that selects events, perhaps with conditions."""

    strategy: Ident
    variables: tuple[Variable, ...]
    condition: "Condition | None" = None


Condition: TypeAlias = Comparison | Equivalence | Negated | Joined | Selection


@dataclass(frozen=True, slots=True)
class Component(Node):
    """`Shelf a`, `~(Register b)`, `Stock+ c[]`"""

    types: tuple[Ident, ...]
    var: Ident
    repeated: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Window(Node):
    """`12 hours`; without a unit, ticks."""

    amount: Number
    unit: TimeUnit | None


@dataclass(frozen=True, slots=True)
class Threshold(Node):
    """`confidence >= 0.8`"""

    op: AtLeast
    least: Number | Percent


@dataclass(frozen=True, slots=True)
class Returned(Node):
    """`a`, `b[]`, `a.price AS price`"""

    value: Variable | Term
    alias: Ident | None = None


@dataclass(frozen=True, slots=True)
class Query(StatementNode):
    """`PATTERN … WHERE … WITHIN … HAVING … RETURN … TOP …`, perhaps with a name."""

    name: Ident | None
    components: tuple[Component, ...]
    where: Condition | None = None
    within: Window | None = None
    threshold: Threshold | None = None
    having: Condition | None = None
    returned: tuple[Returned, ...] = ()
    top: Number | None = None


@dataclass(frozen=True, slots=True)
class QueryFile:
    """`comments` are those after the last query."""

    streams: tuple[StreamDecl, ...]
    queries: tuple[Query, ...]
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)


def conjuncts(condition: Condition | None) -> Iterator[Condition]:
    """The parts of a conjunction, with those in the braces of a strategy."""
    match condition:
        case None:
            return
        case Joined(op="AND", items=items):
            for item in items:
                yield from conjuncts(item)
        case Selection(condition=inner):
            yield condition
            yield from conjuncts(inner)
        case _:
            yield condition


def readings(node: Node) -> Iterator[Value | Aggregated]:
    """The values of events that a condition or a term reads, in the order written."""
    if isinstance(node, Value | Aggregated):
        yield node
        return
    for child in children(node):
        yield from readings(child)
