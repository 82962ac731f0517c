"""What an ETALIS rule file says: frozen nodes of its statements, patterns and terms, each with its place."""

from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language.syntax import Ident, Node
from inkling.language.syntax.statements import StatementNode

ConditionWord: TypeAlias = OneOf["WHERE", "CHECK", "TIMESTAMP", "EVENT_MULTIPLY", "DO"]


@dataclass(frozen=True, slots=True)
class Variable(Node):
    name: str

    @property
    def is_anything(self) -> bool:
        return self.name == "_"


@dataclass(frozen=True, slots=True)
class Number(Node):
    value: int | float
    written: str = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A text in double quotes, which is the same constant as an atom of that name."""

    value: str


@dataclass(frozen=True, slots=True)
class Atom(Node):
    """`price(X, 10)`; without arguments an event, a fact or a constant."""

    name: Ident
    args: tuple["Term", ...] = ()

    @property
    def arity(self) -> int:
        return len(self.args)


@dataclass(frozen=True, slots=True)
class Minus(Node):
    operand: "Term"


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    op: OneOf["+", "-", "*", "/", "mod", "**"]
    left: "Term"
    right: "Term"


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    op: str  # as written
    left: "Term"
    right: "Term"


@dataclass(frozen=True, slots=True)
class Negated(Node):
    goal: "Term"


@dataclass(frozen=True, slots=True)
class Goals(Node):
    """Goals in parentheses; one alone is a value in parentheses."""

    goals: tuple["Term", ...]


Term: TypeAlias = Variable | Number | Text | Atom | Minus | Arithmetic | Comparison | Negated | Goals


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """`30 min`; ticks without a unit."""

    number: Number
    unit: Ident | None = None


@dataclass(frozen=True, slots=True)
class Point(Node):
    """A bare number as a pattern."""

    time: Number


@dataclass(frozen=True, slots=True)
class Joined(Node):
    """Two patterns and the word between them, in capitals."""

    op: str
    left: "Pattern"
    right: "Pattern"


@dataclass(frozen=True, slots=True)
class Times(Node):
    """`a ntimes 3`, `a star_times`"""

    pattern: "Pattern"
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Group(Node):
    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class Limited(Node):
    """`(P).5`"""

    pattern: "Pattern"
    limit: Quantity


@dataclass(frozen=True, slots=True)
class Absence(Node):
    """`NOT(P1).[P2, P3]`"""

    absent: "Pattern"
    first: "Pattern"
    last: "Pattern"


@dataclass(frozen=True, slots=True)
class InnerRule(Node):
    """`(sub(X) <- P)` inside a pattern"""

    head: Atom
    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class Condition(Node):
    """`P WHERE goals`"""

    pattern: "Pattern"
    word: ConditionWord
    goals: tuple[Term, ...]
    braces: bool = False


Pattern: TypeAlias = Atom | Point | Joined | Times | Group | Limited | Absence | InnerRule | Condition


@dataclass(frozen=True, slots=True)
class Property(Node):
    name: Ident
    value: Quantity


@dataclass(frozen=True, slots=True)
class Label(Node):
    name: Ident
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule(StatementNode):
    head: Atom
    pattern: Pattern
    label: Label | None = None


@dataclass(frozen=True, slots=True)
class Clause(StatementNode):
    """`p(X) :- q(X, Y), Y > 3`; a fact has no goals."""

    head: Atom
    goals: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Column(Node):
    """`value: double`"""

    name: Ident
    type: Ident


@dataclass(frozen=True, slots=True)
class Setting(Node):
    """`stream(price(company: string), key(company))`, the inside of a directive."""

    name: Ident
    parts: tuple["Part", ...] = ()


Part: TypeAlias = Setting | Column | Quantity | Text | Variable


@dataclass(frozen=True, slots=True)
class Directive(StatementNode):
    setting: Setting


Statement: TypeAlias = Rule | Clause | Directive


@dataclass(frozen=True, slots=True)
class RuleFile:
    """Statements in the order written; `comments` are those after the last one."""

    statements: tuple[Statement, ...]
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)
