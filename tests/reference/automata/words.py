"""The definition of regular patterns on a word of events, by recursion on the expression; not optimized.

Ntoulias et al. (Wayeb), section 3.1: a pattern is detected at event k if a non-empty suffix of the events up to k is in
its language.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from inkling.automata.regex import (
    AnyWord,
    Concat,
    Counting,
    Epsilon,
    Intersect,
    Regex,
    RegexComplement,
    RegexPattern,
    RegexRepeat,
    Symbol,
    Union,
)

Event: TypeAlias = tuple[int, int]  # stream (-1 for a row that resets), predicate bits
Lineage: TypeAlias = frozenset[tuple[int, int]]  # position and slot of each member
Order: TypeAlias = tuple[tuple[float, ...], tuple[tuple[int, ...], ...]]


@dataclass(frozen=True, slots=True)
class Detection:
    """A detection at event ``end``; ``witness`` is the first of the matches that end there."""

    end: int
    witness: Lineage


@dataclass(frozen=True, slots=True)
class EventWord:
    """A sequence of events, with a cache of the matches in its sub-words."""

    events: tuple[Event, ...]
    _known: dict[tuple[Regex, int, int], frozenset[Lineage]] = field(default_factory=dict, repr=False, compare=False)

    def matches(self, regex: Regex, start: int, stop: int) -> frozenset[Lineage]:
        """The lineages of matches that consist of the events ``start`` to ``stop`` - 1."""
        key = (regex, start, stop)
        if key not in self._known:
            self._known[key] = frozenset(self._matches(regex, start, stop))
        return self._known[key]

    def _matches(self, regex: Regex, start: int, stop: int) -> set[Lineage]:
        nothing: Lineage = frozenset()
        match regex:
            case Symbol(guard, slot):
                if stop - start != 1 or not guard.admits(*self.events[start]):
                    return set()
                return {nothing if slot is None else frozenset({(start, slot)})}
            case Epsilon():
                return {nothing} if start == stop else set()
            case AnyWord():
                return {nothing}
            case Concat(parts):
                if not parts:
                    return {nothing} if start == stop else set()
                return self._joined(parts[0], Concat(parts[1:]), start, stop)
            case Union(options):
                return set().union(*(self.matches(option, start, stop) for option in options))
            case RegexRepeat(body, low, high):
                # beyond the required rounds, more rounds than events would only add empty ones
                rounds = low + (stop - start)
                counts = range(low, rounds + 1 if high is None else min(high, rounds) + 1)
                return set().union(*(self.matches(Concat((body,) * n), start, stop) for n in counts))
            case RegexComplement(body):
                return set() if self.matches(body, start, stop) else {nothing}
            case Intersect(left, right):
                return {
                    one | other for one in self.matches(left, start, stop) for other in self.matches(right, start, stop)
                }
            case _:
                assert_never(regex)

    def _joined(self, head: Regex, tail: Regex, start: int, stop: int) -> set[Lineage]:
        return {
            one | other
            for middle in range(start, stop + 1)
            for one in self.matches(head, start, middle)
            for other in self.matches(tail, middle, stop)
        }


def witness_order(lineage: Lineage) -> Order:
    """The sort key of lineages; the smallest is the witness.

    Positions are compared from the earliest on, and a prefix is larger than its continuation; then slots are compared.
    """
    positions = sorted({position for position, _ in lineage})
    slots = tuple(tuple(sorted(slot for at, slot in lineage if at == position)) for position in positions)
    return (*positions, float("inf")), slots


def detections(pattern: RegexPattern, events: Sequence[Event]) -> list[Detection]:
    """Every event at which a non-empty suffix of the word so far is a match, with its witness."""
    word = EventWord(tuple(events))
    found: list[Detection] = []
    earliest = 0
    for end, (stream, _) in enumerate(events):
        if stream < 0:
            earliest = end + 1
            continue
        lineages = {
            lineage
            for start in range(earliest, end + 1)
            for lineage in word.matches(pattern.regex, start, end + 1)
            if lineage or not pattern.marked_only
        }
        if lineages:
            found.append(Detection(end, min(lineages, key=witness_order)))
            if pattern.counting is Counting.RESTART:
                earliest = end + 1
    return found
