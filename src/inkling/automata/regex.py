"""Symbolic regular expressions: sets of words of events, with the events that are members of a match."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from inkling.automata.guards import ANY_EVENT, Guard


@dataclass(frozen=True, slots=True)
class Symbol:
    """One event that a guard admits; a member of the match if it has a slot, otherwise skipped."""

    guard: Guard
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Epsilon:
    """The empty word."""


@dataclass(frozen=True, slots=True)
class AnyWord:
    """Any sequence of events, which are skipped."""


@dataclass(frozen=True, slots=True)
class Concat:
    """Concatenation: one part directly after the other."""

    parts: tuple["Regex", ...]


@dataclass(frozen=True, slots=True)
class Union:
    """Union: any one of the options."""

    options: tuple["Regex", ...]

    def __post_init__(self) -> None:
        if not self.options:
            raise ValueError("a union needs at least one option")


@dataclass(frozen=True, slots=True)
class RegexRepeat:
    """The body ``low`` to ``high`` times in a row; no limit if ``high`` is None."""

    body: "Regex"
    low: int = 0
    high: int | None = None

    def __post_init__(self) -> None:
        if self.low < 0 or (self.high is not None and self.high < self.low):
            raise ValueError(f"a repetition needs 0 <= low <= high, got low={self.low} high={self.high}")


@dataclass(frozen=True, slots=True)
class RegexComplement:
    """Complement: every word that is not in the body, including the empty word; its events are not members."""

    body: "Regex"


@dataclass(frozen=True, slots=True)
class Intersect:
    """Intersection: words of both operands; a member of either is a member."""

    left: "Regex"
    right: "Regex"


Regex: TypeAlias = Symbol | Epsilon | AnyWord | Concat | Union | RegexRepeat | RegexComplement | Intersect


class Counting(Enum):
    """Which matches count: all that end at an event, or only those that start after the last report."""

    OVERLAP = "overlap"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class RegexPattern:
    """A regular expression to look for; a match without members is no match when ``marked_only``."""

    regex: Regex
    counting: Counting = Counting.OVERLAP
    marked_only: bool = True


SKIP = Symbol(ANY_EVENT)


def nullable(regex: Regex) -> bool:
    """Whether the empty word belongs to the language."""
    match regex:
        case Symbol():
            return False
        case Epsilon() | AnyWord():
            return True
        case Concat(parts):
            return all(nullable(part) for part in parts)
        case Union(options):
            return any(nullable(option) for option in options)
        case RegexRepeat(body, low, _):
            return low == 0 or nullable(body)
        case RegexComplement(body):
            return not nullable(body)
        case Intersect(left, right):
            return nullable(left) and nullable(right)


def nonempty(regex: Regex) -> Regex:
    """The same language without the empty word."""
    return Intersect(regex, RegexRepeat(SKIP, 1)) if nullable(regex) else regex


def at_most(regex: Regex, n_events: int) -> Regex:
    """Words of at most ``n_events`` events, including skipped ones."""
    if n_events < 1:
        raise ValueError(f"a window holds at least one event, got {n_events=}")
    return Intersect(regex, RegexRepeat(SKIP, 0, n_events))


def guards_of(regex: Regex) -> Iterator[Guard]:
    """The guards of all symbols, in the order in which they are written."""
    match regex:
        case Symbol(guard, _):
            yield guard
        case Epsilon() | AnyWord():
            return
        case Concat(children) | Union(children):
            for child in children:
                yield from guards_of(child)
        case RegexRepeat(body, _, _) | RegexComplement(body):
            yield from guards_of(body)
        case Intersect(left, right):
            yield from guards_of(left)
            yield from guards_of(right)
