"""The nodes of an ETALIS rule file: statements, patterns and terms, each with its span; and walks through them.

`e(X) <- a(X) SEQ b(X).` is a `Rule` with the `Joined` pattern of two `Atom`s.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import TypeAlias

from inkling.language.kit.cursor import Number, Text
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


@dataclass(frozen=True, slots=True)
class Branch(Node):
    """`c -> a` in a choice, or an alternative without a condition."""

    goals: tuple["Term", ...]
    condition: tuple["Term", ...] | None = None


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """`(a ; b)`, `(c -> a ; b)`: the first branch whose condition holds, or all branches without a condition."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Cut(Node):
    """`!`"""


@dataclass(frozen=True, slots=True)
class Listed(Node):
    """`[X, Y]`"""

    items: tuple["Term", ...]


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """`30 min`; ticks without a unit."""

    number: Number
    unit: Ident | None = None


Term: TypeAlias = (
    Variable
    | Number
    | Quantity
    | Text
    | Atom
    | Minus
    | Arithmetic
    | Comparison
    | Negated
    | Goals
    | Choice
    | Cut
    | Listed
)


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
    """`a ntimes 3`, `a star_times`, `a+`"""

    pattern: "Pattern"
    n: int | None = None
    least: int = 0  # without a number


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
class Delayed(Node):
    """A pattern and some time after it, in which something is absent: `exceptionAlarm(head, 60) <- P CNOT Q`."""

    pattern: "Pattern"
    delay: Quantity
    absent: "Pattern | None" = None


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


Pattern: TypeAlias = Atom | Point | Joined | Times | Group | Limited | Absence | Delayed | InnerRule | Condition


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
    """`label: head DO actions <- pattern`"""

    head: Atom
    pattern: Pattern
    label: Label | None = None
    actions: tuple[Term, ...] = ()


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


ASSIGNMENTS = frozenset({"=", "==", "=:=", "is"})


def atoms(pattern: Pattern) -> Iterator[Atom]:
    """The event atoms of a pattern, with the heads of inner rules."""
    match pattern:
        case Atom():
            yield aggregated(pattern) or pattern
        case InnerRule(head=head, pattern=inner):
            yield head
            yield from atoms(inner)
        case _:
            for part in parts(pattern):
                yield from atoms(part)


def aggregated(pattern: Pattern) -> Atom | None:
    """The event of `aggregate(sum(X), event(X), S)`."""
    match pattern:
        case Atom(name=Ident(text="aggregate"), args=(Atom(), Atom() as event, Variable())):
            return event
        case _:
            return None


def aggregates(pattern: Pattern) -> bool:
    """Whether a pattern has an aggregate in it."""
    return aggregated(pattern) is not None or any(aggregates(part) for part in parts(pattern))


def parts(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly inside a pattern, in the order in which they bind variables."""
    match pattern:
        case Atom() | Point():
            return ()
        case Joined(left=left, right=right):
            return (left, right)
        case Absence(absent=absent, first=first, last=last):
            return (first, last, absent)
        case Times(pattern=inner) | Group(pattern=inner) | Limited(pattern=inner):
            return (inner,)
        case Delayed(pattern=inner, absent=absent):
            return (inner,) if absent is None else (inner, absent)
        case InnerRule(pattern=inner) | Condition(pattern=inner):
            return (inner,)


def all_parts(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern and everything inside it."""
    yield pattern
    for part in parts(pattern):
        yield from all_parts(part)


Goalwise: TypeAlias = Callable[[tuple["Term", ...]], tuple["Term", ...]]


def mapped(pattern: Pattern, atom: Callable[[Atom], Atom], goals: Goalwise) -> Pattern:
    """A pattern with other events and other goals."""

    def inner(part: Pattern) -> Pattern:
        return mapped(part, atom, goals)

    match pattern:
        case Atom():
            return atom(pattern)
        case Point():
            return pattern
        case Joined(left=left, right=right):
            return replace(pattern, left=inner(left), right=inner(right))
        case Absence(absent=absent, first=first, last=last):
            return replace(pattern, absent=inner(absent), first=inner(first), last=inner(last))
        case InnerRule(head=head, pattern=part):
            return replace(pattern, head=atom(head), pattern=inner(part))
        case Condition(pattern=part, goals=some):
            return replace(pattern, pattern=inner(part), goals=goals(some))
        case Delayed(pattern=part, absent=absent):
            return replace(pattern, pattern=inner(part), absent=None if absent is None else inner(absent))
        case Times(pattern=part) | Group(pattern=part) | Limited(pattern=part):
            return replace(pattern, pattern=inner(part))


def inner_rules(pattern: Pattern) -> Iterator[InnerRule]:
    if isinstance(pattern, InnerRule):
        yield pattern
    for part in parts(pattern):
        yield from inner_rules(part)


def all_goals(pattern: Pattern) -> Iterator[Term]:
    """The goals of all conditions in a pattern, without those of inner rules."""
    if isinstance(pattern, Condition):
        yield from pattern.goals
    if not isinstance(pattern, InnerRule):
        for part in parts(pattern):
            yield from all_goals(part)


def every_goal(pattern: Pattern) -> Iterator[Term]:
    """The goals of all conditions in a pattern, with those of inner rules."""
    yield from all_goals(pattern)
    for inner in inner_rules(pattern):
        yield from all_goals(inner.pattern)


def negated(goals: Sequence[Term]) -> Negated:
    """`not (a, b)`"""
    span = goals[0].span.to(goals[-1].span)
    return Negated(goals[0] if len(goals) == 1 else Goals(tuple(goals), span=span), span=span)


def flat_goals(goals: Iterable[Term]) -> Iterator[Term]:
    """Goals with those in parentheses among them."""
    for goal in goals:
        if isinstance(goal, Goals):
            yield from flat_goals(goal.goals)
        else:
            yield goal


def static_atoms(goals: Iterable[Term]) -> Iterator[Atom]:
    """The static atoms that goals ask about."""
    for goal in flat_goals(goals):
        match goal:
            case Atom():
                yield goal
            case Negated(goal=inner):
                yield from static_atoms((inner,))
            case Choice(branches=branches):
                for branch in branches:
                    yield from static_atoms((*(branch.condition or ()), *branch.goals))
            case _:
                pass


def variables(node: Term) -> Iterator[Variable]:
    """The variables of a term or goal, each as often as it occurs; `_` is none."""
    match node:
        case Variable():
            if not node.is_anything:
                yield node
        case Atom(args=args):
            for arg in args:
                yield from variables(arg)
        case Minus(operand=inner) | Negated(goal=inner):
            yield from variables(inner)
        case Arithmetic(left=left, right=right) | Comparison(left=left, right=right):
            yield from variables(left)
            yield from variables(right)
        case Goals(goals=goals):
            for goal in goals:
                yield from variables(goal)
        case Choice(branches=branches):
            for branch in branches:
                for part in (*(branch.condition or ()), *branch.goals):
                    yield from variables(part)
        case Listed(items=items):
            for item in items:
                yield from variables(item)
        case Number() | Quantity() | Text() | Cut():
            pass


def pattern_variables(pattern: Pattern) -> Iterator[Variable]:
    """The variables of a pattern and of its conditions; of an inner rule those of its head."""
    match pattern:
        case Atom() | InnerRule(head=Atom()):
            yield from variables(pattern if isinstance(pattern, Atom) else pattern.head)
        case _:
            for part in parts(pattern):
                yield from pattern_variables(part)
            if isinstance(pattern, Condition):
                for goal in pattern.goals:
                    yield from variables(goal)


def names_of(found: Iterable[Variable]) -> set[str]:
    return {variable.name for variable in found}


def bound_by(pattern: Pattern) -> set[str]:
    """Variables that every occurrence of a pattern gives a value."""
    match pattern:
        case Atom(args=args) if aggregated(pattern) is not None:
            return names_of(variables(args[-1]))
        case Atom() | InnerRule():
            return names_of(pattern_variables(pattern))
        case Point():
            return set()
        case Joined(op="OR", left=left, right=right):
            return bound_by(left) & bound_by(right)
        case Joined(op="FNOT" | "CNOT", left=left) | Delayed(pattern=left):
            return bound_by(left)
        case Absence(first=first, last=last):
            return bound_by(first) | bound_by(last)
        case Times(pattern=inner, n=n, least=least):
            return bound_by(inner) if n or least else set()
        case Condition(pattern=inner, goals=goals):
            return bound_by(inner) | bound_by_goals(goals)
        case _:
            return set().union(*(bound_by(part) for part in parts(pattern)))


def bound_by_goals(goals: Iterable[Term]) -> set[str]:
    """Variables that goals can give a value: arguments of static atoms, and sides of an equation."""
    found: set[str] = set()
    for goal in flat_goals(goals):
        match goal:
            case Atom(args=args):
                found |= {arg.name for arg in args if isinstance(arg, Variable)}
            case Comparison(op=op, left=left, right=right) if op in ASSIGNMENTS:
                found |= {side.name for side in (left, right) if isinstance(side, Variable)}
            case Choice(branches=branches):
                found |= set.intersection(*(bound_by_goals((*(one.condition or ()), *one.goals)) for one in branches))
            case _:
                pass
    return found - {"_"}
