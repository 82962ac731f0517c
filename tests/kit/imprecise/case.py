"""Events whose instant is known up to an interval, and the patterns that are asked of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

Chance = Fraction | float
Range = tuple[int, int]
Signature = tuple[tuple[str, ...], ...]


class Policy(Enum):
    ANY = "any"
    NEXT = "next"
    STRICT = "strict"
    PARTITION = "partition"


@dataclass(frozen=True, slots=True, eq=False)
class TimedEvent:
    """It happened at one instant between `lower` and `upper`, at each with its chance."""

    id: str
    kind: str
    lower: int
    upper: int
    chances: tuple[Chance, ...]
    key: object = None
    full_support: bool = field(init=False)
    _before: tuple[Chance, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "full_support", all(self.chances))
        object.__setattr__(self, "_before", (0, *accumulate(self.chances)))

    def at(self, instant: int) -> Chance:
        return self.chances[instant - self.lower] if self.lower <= instant <= self.upper else 0

    def mass(self, first: int, last: int) -> Chance:
        """The chance that it happened in an inclusive range of instants."""
        first, last = max(first, self.lower), min(last, self.upper)
        return self._before[last - self.lower + 1] - self._before[first - self.lower] if first <= last else 0

    def instants(self) -> Iterator[int]:
        return (self.lower + number for number, chance in enumerate(self.chances) if chance)

    def __str__(self) -> str:
        weights = "" if len(set(self.chances)) == 1 else f" {[str(one) for one in self.chances]}"
        return f"{self.id}:{self.kind}[{self.lower},{self.upper}]{weights}" + (
            "" if self.key is None else f"@{self.key}"
        )


def timed_event(
    name: str, kind: str, lower: int, upper: int, weights: Sequence[Chance] | None = None, *, key: object = None
) -> TimedEvent:
    """An event whose weights are made to sum to one; instants without weight at either end are cut off."""
    if weights is None:
        size = upper - lower + 1
        return TimedEvent(name, kind, lower, upper, (Fraction(1, size),) * size, key)
    if len(weights) != upper - lower + 1:
        raise ValueError(f"{name}: {len(weights)} weights for {upper - lower + 1} instants")
    if any(one < 0 or not math.isfinite(one) for one in weights) or not any(weights):
        raise ValueError(f"{name}: weights must be finite, none negative, some positive")
    support = [number for number, weight in enumerate(weights) if weight]
    total = sum(weights)
    kept = tuple(one / total for one in weights[support[0] : support[-1] + 1])
    return TimedEvent(name, kind, lower + support[0], lower + support[-1], kept, key)


class Position(NamedTuple):
    """A place of a pattern: kinds of events that may stand there, or must not."""

    kinds: frozenset[str]
    same_key: bool = False
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """Steps in increasing time; `absences[g]` must not happen before step `g`, the last ones not after all of them."""

    steps: tuple[Position, ...]
    absences: tuple[tuple[Position, ...], ...]
    window: int | None
    policy: Policy

    def __post_init__(self) -> None:
        if not self.steps or len(self.absences) != len(self.steps) + 1:
            raise ValueError("a pattern needs a step, and a list of absences before each and after the last")
        if self.window is None and (self.absences[0] or self.absences[-1]):
            raise ValueError("an absence at either end needs a window")

    def fits(self, event: TimedEvent, position: Position, first: TimedEvent) -> bool:
        """Whether an event qualifies for a position of a match that starts with `first`."""
        same_key = position.same_key or self.policy is Policy.PARTITION
        return event.kind in position.kinds and (not same_key or event.key == first.key)

    def next_steps(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Steps that the next event may be for, after events for the steps of `shape`."""
        if not shape:
            return (0,)
        last = shape[-1]
        again = (last,) if self.steps[last].repeated else ()
        return (*again, last + 1) if last + 1 < len(self.steps) else again

    def is_complete(self, shape: Sequence[int]) -> bool:
        return shape[-1] == len(self.steps) - 1

    def n_missing(self, shape: Sequence[int]) -> int:
        """How many more events a match needs at least."""
        return len(self.steps) - 1 - shape[-1]

    @property
    def has_blockers(self) -> bool:
        return self.policy is not Policy.ANY or any(self.absences)


def query(*pattern: str, window: int | None, policy: Policy = Policy.ANY) -> Query:
    """`!B` is absent, `B+` repeated, `B|Z` either, `B@k` has the key of the first event.

    >>> query("A", "!N", "B+", window=5).absences[1][0].kinds
    frozenset({'N'})
    """
    steps: list[Position] = []
    absences: list[tuple[Position, ...]] = [()]
    for text in pattern:
        kinds, _, joined = text.strip("!+").partition("@")
        position = Position(frozenset(kinds.split("|")), bool(joined), text.endswith("+"))
        if text.startswith("!"):
            if position.repeated:
                raise ValueError(f"`{text}` is both absent and repeated")
            absences[-1] = (*absences[-1], position)
        else:
            steps.append(position)
            absences.append(())
    return Query(tuple(steps), tuple(absences), window, policy)


def signature_of(shape: Sequence[int], events: Sequence[TimedEvent]) -> Signature:
    """The ids of a match, those of a repeated step together."""
    return tuple(
        tuple(event.id for step, event in zip(shape, events, strict=True) if step == wanted)
        for wanted in range(shape[-1] + 1)
    )


class Outcome(NamedTuple):
    """What is said of a signature: the instants that each of its events takes in matches, and its confidence."""

    ranges: tuple[Range, ...]
    confidence: Chance

    @property
    def first(self) -> int:
        return self.ranges[0][0]

    @property
    def last(self) -> int:
        return self.ranges[-1][1]


Results = dict[Signature, Outcome]


class Case(NamedTuple):
    """A query, its events, how many worlds they have, and all results: first and last instant, and confidence."""

    query: Query
    events: tuple[TimedEvent, ...]
    n_worlds: int
    results: dict[Signature, tuple[int, int, Fraction]]


def case_of(line: Mapping[str, Any]) -> Case:
    """A case from one line of a list of oracles."""
    asked = query(*line["pattern"], window=line["points"], policy=Policy[line["policy"]])
    results = {
        tuple(tuple(group.split("+")) for group in ids.split()): (first, last, Fraction(confidence))
        for ids, first, last, confidence in line["results"]
    }
    return Case(asked, tuple(_event_of(one) for one in line["events"]), line["worlds"], results)


def _event_of(row: Sequence[Any]) -> TimedEvent:
    name, kind, lower, upper, *more = row
    weights = next(([Fraction(weight) for weight in one] for one in more if isinstance(one, list)), None)
    key = next((one["k"] for one in more if isinstance(one, dict)), None)
    return timed_event(name, kind, lower, upper, weights, key=key)
