"""The nodes of a pattern file: patterns, predicates and declarations, each with its span."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language.kit.cursor import Number, Text
from inkling.language.syntax import Ident, Node, StreamDecl
from inkling.language.syntax.statements import StatementNode

Operator: TypeAlias = OneOf[";", "+", "&", "*", "!", "#", "@"]
EPSILON = "Epsilon"
SUFFIX = "Predicate"  # of names of predicates, which may be omitted


@dataclass(frozen=True, slots=True)
class Register(Node):
    """`"x"`: the event that was stored under this name."""

    name: str


Argument: TypeAlias = Ident | Number | Text | Register


@dataclass(frozen=True, slots=True)
class Predicate(Node):
    """`GT(speed, 5.0)`; without parentheses a predicate or a column."""

    name: Ident
    args: tuple[Argument, ...] = ()

    @property
    def short_name(self) -> str:
        return self.name.text.removesuffix(SUFFIX)


@dataclass(frozen=True, slots=True)
class Negated(Node):
    """`-p`"""

    item: "Formula"


@dataclass(frozen=True, slots=True)
class Joined(Node):
    """`^(p, q)` for both, `|(p, q)` for either."""

    op: OneOf["^", "|"]
    items: tuple["Formula", ...]


Formula: TypeAlias = Predicate | Negated | Joined


@dataclass(frozen=True, slots=True)
class Single(Node):
    """One event of which a formula holds, stored in a register or not."""

    formula: Formula
    register: Register | None = None


@dataclass(frozen=True, slots=True)
class Operation(Node):
    op: Operator
    items: tuple["Expression", ...]


Expression: TypeAlias = Single | Operation


@dataclass(frozen=True, slots=True)
class Header(Node):
    """`{order:2}`"""

    name: Ident
    value: Argument


@dataclass(frozen=True, slots=True)
class Pattern(StatementNode):
    expression: Expression
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration(Node):
    """`+(p, q)`: more that forecasts may look at; `~(p, q)`: at most one of them holds."""

    sign: OneOf["+", "~"]
    formulas: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Declare(StatementNode):
    items: tuple[Declaration, ...]


@dataclass(frozen=True, slots=True)
class PatternFile:
    """`comments` are those after the last pattern."""

    stream: StreamDecl | None
    declarations: tuple[Declare, ...]
    patterns: tuple[Pattern, ...]
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)


def is_epsilon(expression: Expression) -> bool:
    """Whether a pattern is the empty word."""
    match expression:
        case Single(formula=Predicate(args=()) as predicate, register=None):
            return predicate.short_name == EPSILON
        case _:
            return False


def singles(expression: Expression) -> Iterator[Single]:
    """The leaves of a pattern in the order written."""
    match expression:
        case Single():
            yield expression
        case Operation(items=items):
            for item in items:
                yield from singles(item)


def operations(expression: Expression) -> Iterator[Operation]:
    match expression:
        case Operation(items=items):
            yield expression
            for item in items:
                yield from operations(item)


def predicates(formula: Formula) -> Iterator[Predicate]:
    match formula:
        case Predicate():
            yield formula
        case Negated(item=item):
            yield from predicates(item)
        case Joined(items=items):
            for item in items:
                yield from predicates(item)
