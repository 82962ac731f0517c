"""What a pattern file says: frozen nodes of its patterns, predicates and declarations, each with its place."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language.syntax import StreamDecl
from inkling.source import Span

Operator: TypeAlias = OneOf[";", "+", "*", "!", "#", "@"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Placed):
    text: str


@dataclass(frozen=True, slots=True)
class Number(Placed):
    written: str

    @property
    def size(self) -> int | float:
        """The number without its sign."""
        digits = self.written.removeprefix("-")
        return int(digits) if digits.isdigit() else float(digits)

    @property
    def is_negative(self) -> bool:
        return self.written.startswith("-") and self.size != 0


@dataclass(frozen=True, slots=True)
class Text(Placed):
    """`'Big Harbor'`"""

    value: str


@dataclass(frozen=True, slots=True)
class Register(Placed):
    """`"x"`: the event that was stored under this name."""

    name: str


Argument: TypeAlias = Name | Number | Text | Register


@dataclass(frozen=True, slots=True)
class Predicate(Placed):
    """`GT(speed, 5.0)`; without parentheses a predicate or a column."""

    name: Name
    args: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class Negated(Placed):
    """`-p`"""

    item: "Formula"


@dataclass(frozen=True, slots=True)
class Joined(Placed):
    """`^(p, q)` for both, `|(p, q)` for either."""

    op: OneOf["^", "|"]
    items: tuple["Formula", ...]


Formula: TypeAlias = Predicate | Negated | Joined


@dataclass(frozen=True, slots=True)
class Single(Placed):
    """One event of which a formula holds, stored in a register or not."""

    formula: Formula
    register: Register | None = None


@dataclass(frozen=True, slots=True)
class Operation(Placed):
    op: Operator
    items: tuple["Expression", ...]


Expression: TypeAlias = Single | Operation


@dataclass(frozen=True, slots=True)
class Header(Placed):
    """`{order:2}`"""

    name: Name
    value: Argument


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementNode(Placed):
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pattern(StatementNode):
    expression: Expression
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration(Placed):
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


def singles(expression: Expression) -> Iterator[Single]:
    """The leaves of a pattern in the order written."""
    match expression:
        case Single():
            yield expression
        case Operation(items=items):
            for item in items:
                yield from singles(item)


def predicates(formula: Formula) -> Iterator[Predicate]:
    match formula:
        case Predicate():
            yield formula
        case Negated(item=item):
            yield from predicates(item)
        case Joined(items=items):
            for item in items:
                yield from predicates(item)
