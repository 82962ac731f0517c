"""What every node of the syntax tree shares (a span that equality ignores), names, lengths of time and windows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cache
from typing import Literal as OneOf
from typing import TypeAlias, TypeVar, get_args

from inkling.source import NOWHERE, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@cache
def _parts(kind: type[Node]) -> tuple[str, ...]:
    """The names of the fields of a class of nodes that may hold nodes."""
    return tuple(part.name for part in fields(kind) if part.name != "span")


def children(node: Node) -> Iterator[Node]:
    """The nodes directly inside a node, in the order of its fields."""
    for name in _parts(type(node)):  # type: ignore[arg-type]  # mypy takes the hash of a class for that of its objects
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, Node))


NodeT = TypeVar("NodeT", bound=Node)


def rebuilt(node: NodeT, change: Callable[[Node], Node]) -> NodeT:
    """The node with each direct child changed; the same object when no child changes."""
    changes: dict[str, object] = {}
    for name in _parts(type(node)):  # type: ignore[arg-type]  # mypy takes the hash of a class for that of its objects
        value = getattr(node, name)
        if isinstance(value, Node):
            new: object = change(value)
        elif isinstance(value, tuple):
            items = [change(item) if isinstance(item, Node) else item for item in value]
            new = value if all(one is other for one, other in zip(items, value, strict=True)) else tuple(items)
        else:
            continue
        if new is not value:
            changes[name] = new
    return replace(node, **changes) if changes else node  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Ident(Node):
    """A name as the program wrote it, without its quotes; case matters."""

    text: str
    quoted: bool = field(default=False, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.text:
            raise ValueError("a name has at least one character")
        if "\n" in self.text or "\r" in self.text:
            raise ValueError(f"a name stays on one line, got {self.text!r}")

    def __str__(self) -> str:
        return self.text


TimeUnit: TypeAlias = OneOf["TICKS", "MICROSECONDS", "MILLISECONDS", "SECONDS", "MINUTES", "HOURS", "DAYS", "WEEKS"]
TIME_UNITS: tuple[TimeUnit, ...] = get_args(TimeUnit)

EPOCH_UNITS = ("SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS")
"""Units of numbers that count the time since 1970-01-01T00:00:00Z, after EPOCH."""


@dataclass(frozen=True, slots=True)
class Duration(Node):
    """`30 MINUTES`, `1.5 HOURS`; the amount has a finite decimal form."""

    amount: int | Fraction
    unit: TimeUnit

    def __post_init__(self) -> None:
        if self.amount < 0:
            raise ValueError(f"a duration is not negative, got {self.amount} {self.unit}")
        if self.amount >= 2**63:
            raise ValueError(f"a duration fits 64 bits, got {self.amount} {self.unit}")
        if not _has_finite_decimal(self.amount):
            raise ValueError(f"a duration has a finite decimal form, got {self.amount}")


@dataclass(frozen=True, slots=True)
class Rate(Node):
    """`12 PER HOUR`, `0.5 PER 10 MINUTES`; the count has a finite decimal form."""

    count: int | Fraction
    per: Duration

    def __post_init__(self) -> None:
        if not 0 < self.count < 2**63 or self.per.amount == 0:
            raise ValueError(f"a rate is positive and fits 64 bits, got {self.count} per {self.per.amount}")
        if not _has_finite_decimal(self.count):
            raise ValueError(f"a rate has a finite decimal form, got {self.count}")


@dataclass(frozen=True, slots=True)
class PointCount(Node):
    """`5 POINTS`: at most this many time points from start to end, both counted."""

    n: int

    def __post_init__(self) -> None:
        _needs_one(self.n)


@dataclass(frozen=True, slots=True)
class EventCount(Node):
    """`4 EVENTS`: at most this many events from first to last, both counted."""

    n: int

    def __post_init__(self) -> None:
        _needs_one(self.n)


Window: TypeAlias = Duration | PointCount | EventCount


def _needs_one(n: int) -> None:
    if n < 1:
        raise ValueError(f"a window holds at least one, got {n}")


def _has_finite_decimal(amount: int | Fraction) -> bool:
    rest = amount.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1
