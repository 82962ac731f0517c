"""Typed expressions over the events of a match; every name is already resolved to a slot and a column.

Nodes with equal fields stay separate classes: passes distinguish nodes by class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum

from inkling.logical.user_aggregates import UserAggregate
from inkling.model.event import Value
from inkling.model.time import Duration
from inkling.model.types import Type

ROW = -1
"""Slot of the event itself in expressions of a stream declaration (`DERIVE`, `RESET WHEN`)."""


class Which(Enum):
    FIRST = "FIRST"
    LAST = "LAST"


class Edge(Enum):
    START = "START"
    END = "END"


@dataclass(frozen=True, slots=True)
class Literal:
    value: Value
    type: Type


@dataclass(frozen=True, slots=True)
class SpanLiteral:
    """A duration such as `30 MINUTES`; its number of clock units is known once the clock of the stream is known."""

    span: Duration
    type: Type = Type.DURATION


@dataclass(frozen=True, slots=True)
class ColumnOf:
    """A column of the single event in a slot; inside a repetition, of the event of the current round."""

    slot: int
    column: str
    type: Type


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column of the first or last event of a repeated slot.

    In the conditions of the slot itself (`own`), `LAST` is the event of the previous round, and a conjunct with it is
    true in the first round.
    """

    which: Which
    slot: int
    column: str
    type: Type
    own: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT, SUM, AVG, MIN, MAX, STDDEV, MEDIAN or one written in Python (`by`) over the events of a repeated slot.

    In the conditions of the slot itself (`own`), it is over the events of earlier rounds.
    """

    function: str
    slot: int
    column: str | None
    type: Type
    by: UserAggregate | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class TimeOf:
    """Start or end of a slot: of an event, a repetition, or a named nested pattern."""

    edge: Edge
    slot: int
    type: Type = Type.TIME


@dataclass(frozen=True, slots=True)
class IdOf:
    """The id of an event. `of_any`: its identity, which results have too; only `=` and `<>` compare it."""

    slot: int
    type: Type
    of_any: bool = False


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column of `PARTITION BY`, the same for every event of a match."""

    column: str
    type: Type


@dataclass(frozen=True, slots=True)
class Quantity:
    """The `k` of `AT LEAST k FROM 1 TO 12` in a result."""

    name: str
    type: Type = Type.INTEGER


@dataclass(frozen=True, slots=True)
class FactColumn:
    """A value that a background table supplied: column `column` of the row that table atom `atom` chose.

    A negative number is the row that `InTable` tests or, in the clause of a rule, its row of variables. A value may be
    read outside of the part that looks the table up; it is null if that part is missing.
    """

    atom: int
    column: str
    type: Type
    outside: bool = False


@dataclass(frozen=True, slots=True)
class PreviousColumn:
    """`PREV(column)`: the value in the previous event of the same key (stream declarations only)."""

    column: str
    type: Type


@dataclass(frozen=True, slots=True)
class SinceChange:
    """Time since the first event of the current run of equal values of a column (stream declarations only)."""

    column: str
    type: Type = Type.DURATION


@dataclass(frozen=True, slots=True)
class Negate:
    item: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`+ - * / %`; `/` always gives DOUBLE, and a zero divisor gives null."""

    operator: str
    left: Expr
    right: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class FunctionCall:
    name: str
    args: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Chosen:
    """`CASE WHEN`: the value of the first condition that holds; null if none does."""

    conditions: tuple[Expr, ...]
    values: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Compare:
    """`= <> < <= > >=`; false when either side is null."""

    operator: str
    left: Expr
    right: Expr
    type: Type = Type.BOOLEAN


@dataclass(frozen=True, slots=True)
class InList:
    item: Expr
    choices: tuple[Literal, ...]
    type: Type = Type.BOOLEAN


@dataclass(frozen=True, slots=True)
class IsNull:
    item: Expr
    negated: bool = False
    type: Type = Type.BOOLEAN


@dataclass(frozen=True, slots=True)
class AllOf:
    items: tuple[Expr, ...]
    type: Type = Type.BOOLEAN


@dataclass(frozen=True, slots=True)
class AnyOf:
    items: tuple[Expr, ...]
    type: Type = Type.BOOLEAN


@dataclass(frozen=True, slots=True)
class Not:
    item: Expr
    type: Type = Type.BOOLEAN


@dataclass(frozen=True, slots=True)
class InTable:
    """Whether a background table has a row with these values; `None` in `args` matches anything.

    The row must also pass `condition`, which reads it as `FactColumn(number, …)`.
    """

    table: str
    args: tuple[Expr | None, ...]
    condition: Expr | None = None
    number: int = -1
    type: Type = Type.BOOLEAN


Expr = (
    Literal
    | SpanLiteral
    | ColumnOf
    | ListColumn
    | Aggregate
    | TimeOf
    | IdOf
    | KeyColumn
    | Quantity
    | FactColumn
    | PreviousColumn
    | SinceChange
    | Negate
    | Arithmetic
    | FunctionCall
    | Chosen
    | Compare
    | InList
    | IsNull
    | AllOf
    | AnyOf
    | Not
    | InTable
)

TRUE = AllOf(())


def children(expr: Expr) -> Iterator[Expr]:
    """The direct sub-expressions, left to right."""
    for name in expr.__match_args__:
        value = getattr(expr, name)
        if isinstance(value, Expr):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, Expr))


def rebuilt(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with each direct part changed."""
    changes: dict[str, object] = {}
    for part in fields(expr):
        value = getattr(expr, part.name)
        if isinstance(value, Expr):
            changes[part.name] = change(value)
        elif isinstance(value, tuple) and value:
            changes[part.name] = tuple(change(item) if isinstance(item, Expr) else item for item in value)
    return replace(expr, **changes) if changes else expr  # type: ignore[arg-type]


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything inside it."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def looks_up(expr: Expr) -> bool:
    """Whether an expression looks a table up, so that its value depends on more than the row."""
    return any(isinstance(part, InTable) for part in walk(expr))


def looks_back(expr: Expr) -> bool:
    """Whether a condition reads earlier rounds of its own repetition."""
    return any(isinstance(part, ListColumn | Aggregate) and part.own for part in walk(expr))


def is_dropped_at_first(expr: Expr) -> bool:
    """Whether a condition is true in the first round: it reads a value of earlier rounds, not only their number."""
    return any(
        part.own and not (isinstance(part, Aggregate) and part.function == "COUNT")
        for part in walk(expr)
        if isinstance(part, ListColumn | Aggregate)
    )


def slots_of(expr: Expr) -> frozenset[int]:
    """The slots that an expression reads."""
    return frozenset(
        part.slot for part in walk(expr) if isinstance(part, ColumnOf | ListColumn | Aggregate | TimeOf | IdOf)
    )


def atoms_of(expr: Expr) -> frozenset[int]:
    """The table atoms whose values an expression reads."""
    return frozenset(part.atom for part in walk(expr) if isinstance(part, FactColumn) and part.atom >= 0)


def conjuncts(expr: Expr | None) -> tuple[Expr, ...]:
    """The parts of a conjunction, flattened."""
    if expr is None:
        return ()
    if isinstance(expr, AllOf):
        return tuple(part for item in expr.items for part in conjuncts(item))
    return (expr,)
