"""Syntax nodes of patterns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias, get_args

from inkling.language.syntax.expressions import Expr, Literal
from inkling.language.syntax.nodes import Duration, EventCount, Ident, Node, Window, children

Policy: TypeAlias = OneOf["ANY", "NEXT", "STRICT"]
Relation: TypeAlias = OneOf[
    "PRECEDES",
    "PRECEDED_BY",
    "MEETS",
    "MET_BY",
    "OVERLAPS",
    "OVERLAPPED_BY",
    "STARTS",
    "STARTED_BY",
    "DURING",
    "CONTAINS",
    "FINISHES",
    "FINISHED_BY",
    "EQUALS",
    "INTERSECTS",
    "STARTS_BEFORE",
    "ENDS_AFTER",
]
RELATIONS: tuple[Relation, ...] = get_args(Relation)
RepeatMode: TypeAlias = OneOf["EAGER", "MAXIMAL"]
JoinKind: TypeAlias = OneOf["OUTER", "FACT", "NO FACT"]
Quantifier: TypeAlias = OneOf["ALL", "SOME", "AT LEAST"]


@dataclass(frozen=True, slots=True)
class Leaf(Node):
    """`A a[x > 1]`, `A | B`, or `_` when no type is named."""

    types: tuple[Ident, ...]
    var: Ident | None = None
    condition: Expr | None = None


@dataclass(frozen=True, slots=True)
class Seq(Node):
    """`SEQ NEXT(p, q)`: components one after the other."""

    policy: Policy
    components: tuple["Component", ...]

    def __post_init__(self) -> None:
        _needs(1, self.components)


@dataclass(frozen=True, slots=True)
class And(Node):
    items: tuple["Pattern", ...]

    def __post_init__(self) -> None:
        _needs(2, self.items)


@dataclass(frozen=True, slots=True)
class Or(Node):
    items: tuple["Pattern", ...]

    def __post_init__(self) -> None:
        _needs(2, self.items)


@dataclass(frozen=True, slots=True)
class Par(Node):
    """`p PAR q`: intervals that overlap."""

    items: tuple["Pattern", ...]

    def __post_init__(self) -> None:
        _needs(2, self.items)


@dataclass(frozen=True, slots=True)
class Allen(Node):
    """`p DURING q`, `p {DURING, EQUALS} q`: any of the relations holds."""

    left: "Pattern"
    relations: tuple[Relation, ...]
    right: "Pattern"

    def __post_init__(self) -> None:
        _needs(1, self.relations)


@dataclass(frozen=True, slots=True)
class Except(Node):
    """`p EXCEPT q`: occurrences of p that have not the same interval as an occurrence of q."""

    left: "Pattern"
    right: "Pattern"


@dataclass(frozen=True, slots=True)
class LeftJoin(Node):
    """`p OPTIONAL q`, `p OPTIONAL PRECEDED_BY q`: p with each q that has ended by then, or alone if there is none.

    The binder makes the other kinds, of `p WHERE q(…)` and `p WHERE NOT q(…)` with the name of an event.
    """

    left: "Pattern"
    relations: tuple[Relation, ...]
    right: "Pattern"
    kind: JoinKind = "OUTER"


@dataclass(frozen=True, slots=True)
class NotBetween(Node):
    """`NOT p BETWEEN q AND r`"""

    absent: "Pattern"
    first: "Pattern"
    last: "Pattern"


@dataclass(frozen=True, slots=True)
class Repeat(Node):
    """`p+`, `p*`, `p?`, `p{2,5}`; no upper bound when `high` is None."""

    pattern: "Pattern"
    low: int
    high: int | None = None
    mode: RepeatMode | None = None

    def __post_init__(self) -> None:
        if self.low < 0:
            raise ValueError(f"a repetition count cannot be negative, got {self.low}")
        if self.high is not None and (self.high < self.low or self.high == 0):
            raise ValueError(f"a repetition has bounds in order, got {self.low} and {self.high}")


@dataclass(frozen=True, slots=True)
class Check(Node):
    """`p CHECK (c)`: filters occurrences of p once they are complete."""

    pattern: "Pattern"
    condition: Expr


@dataclass(frozen=True, slots=True)
class Body(Node):
    """A pattern with the conditions and the window of its occurrences."""

    pattern: "Pattern"
    where: Expr | None = None
    within: Window | None = None
    having: Expr | None = None


@dataclass(frozen=True, slots=True)
class Nested(Node):
    """`(p WHERE c WITHIN d) v`: parentheses that add clauses or a variable.

    Parentheses that only group leave no node.
    """

    body: Body
    var: Ident | None = None

    def __post_init__(self) -> None:
        body = self.body
        if not (self.var or body.where or body.within or body.having):
            raise ValueError("a nested pattern adds a clause or a variable")


@dataclass(frozen=True, slots=True)
class Complement(Node):
    """`COMPLEMENT(p)`: a run of consecutive events that does not match p."""

    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class WindowOf(Node):
    """`WINDOW S w[c] LAST 3 EVENTS SINCE a`: the newest events, once per arrival."""

    stream: Ident
    var: Ident
    condition: Expr | None
    last: EventCount | Duration
    since: Ident | None = None


@dataclass(frozen=True, slots=True)
class AtTime(Node):
    """`AT 100`, `AT '2024-05-01 10:00:00'`: a fixed point in time."""

    time: Literal

    def __post_init__(self) -> None:
        if isinstance(self.time.value, bool) or not isinstance(self.time.value, int | str):
            raise ValueError(f"a time is a tick or a text, got {self.time.value!r}")


MOST_COUNTS = 1000
"""Largest number of segments in a range of counts."""


@dataclass(frozen=True, slots=True)
class EachCount(Node):
    """`k FROM 1 TO 12`: each of these numbers on its own, under a name that results can show."""

    name: Ident
    least: int
    most: int

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most <= MOST_COUNTS:
            raise ValueError(f"counts go up from 1 or more to at most {MOST_COUNTS}, got {self.least} to {self.most}")


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """`ALL S x`, `SOME S`, `AT LEAST 2 S x`, `AT LEAST k FROM 1 TO 12 S x`; `count` belongs to `AT LEAST` alone."""

    quantifier: Quantifier
    stream: Ident
    var: Ident | None = None
    count: int | EachCount | None = None

    def __post_init__(self) -> None:
        if (self.count is not None) != (self.quantifier == "AT LEAST"):
            raise ValueError(f"a count belongs to AT LEAST, got {self.quantifier} {self.count}")
        if isinstance(self.count, int) and self.count < 0:
            raise ValueError(f"a count is not negative, got {self.count}")


@dataclass(frozen=True, slots=True)
class Quantified(Node):
    """`ALL S x DURING SOME T y ON SAME k`: a relation between the segments of two keys."""

    left: Quantity
    relations: tuple[Relation, ...]
    right: Quantity
    same: Ident | None = None

    def __post_init__(self) -> None:
        _needs(1, self.relations)


@dataclass(frozen=True, slots=True)
class Absent(Node):
    """`NOT p` as a component of a sequence."""

    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class OptionalPart(Node):
    """`OPTIONAL p` as a component of a sequence."""

    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class After(Node):
    """`AFTER 10 TICKS` as a component of a sequence: a deadline."""

    duration: Duration


@dataclass(frozen=True, slots=True)
class AtStart(Node):
    """`AT START` as a component of a sequence: the beginning of time."""


def _needs(n: int, items: tuple[object, ...]) -> None:
    if len(items) < n:
        raise ValueError(f"needs at least {n} parts, got {len(items)}")


Pattern: TypeAlias = (
    Leaf
    | Seq
    | And
    | Or
    | Par
    | Allen
    | Except
    | LeftJoin
    | NotBetween
    | Repeat
    | Check
    | Nested
    | Complement
    | WindowOf
    | AtTime
    | Quantified
)
Component: TypeAlias = Pattern | Absent | OptionalPart | After | AtStart


def parts_of(node: Node) -> Iterator[Node]:
    """A pattern and everything inside it except its conditions, left to right."""
    yield node
    for child in direct_parts(node):
        yield from parts_of(child)


def direct_parts(node: Node) -> Iterator[Node]:
    """The direct parts of a pattern, without names and conditions."""
    yield from (child for child in children(node) if not isinstance(child, Expr | Ident))


def named_sources(node: Node) -> Iterator[Ident]:
    """Every stream or event that a pattern names, in order, absent ones included."""
    for part in parts_of(node):
        match part:
            case Leaf(types=types):
                yield from types
            case WindowOf(stream=stream) | Quantity(stream=stream):
                yield stream
            case _:
                pass
