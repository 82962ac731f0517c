"""Sequences under each policy match what the words of the policy say."""

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import pytest
from tests.reference.automata.words import Event, EventWord, Lineage

from inkling.automata.guards import Guard
from inkling.automata.policies import Component, any_, next_, strict
from inkling.automata.regex import Regex, RegexRepeat, Symbol, at_most

A, B, C, D = (Symbol(Guard(frozenset({stream})), stream) for stream in range(4))


class Occurrence(NamedTuple):
    start: int
    end: int  # last event
    lineage: Lineage


def occurrences(word: EventWord, body: Regex) -> list[Occurrence]:
    n = len(word.events)
    return [
        Occurrence(start, end, lineage)
        for start in range(n)
        for end in range(start, n)
        for lineage in word.matches(body, start, end + 1)
    ]


def allowed(policy: str, word: EventWord, x: Occurrence, y: Occurrence, body: Regex, absent: Sequence[Regex]) -> bool:
    """Whether a hop from x to the occurrence y of a component may be made."""
    if not x.end < y.start:
        return False

    def in_gap(other: Occurrence) -> bool:
        return x.end < other.start and other.end < y.start

    if any(in_gap(z) for pattern in absent for z in occurrences(word, pattern)):
        return False
    match policy:
        case "strict":
            return x.end + 1 == y.start
        case "next":
            return not any(in_gap(z) for z in occurrences(word, body))
        case _:
            return True


def unfolded(components: Sequence[Component], longest: int) -> Iterator[list[tuple[Regex, list[Regex]]]]:
    """Plain sequences: bodies with what must be absent in the gap before them."""
    choices = [
        range(c.low, (c.low + longest if c.high is None else min(c.high, c.low + longest)) + 1) for c in components
    ]
    for counts in product(*choices):
        plain: list[tuple[Regex, list[Regex]]] = []
        waiting: list[Regex] = []
        for component, count in zip(components, counts, strict=True):
            waiting += component.absent_before
            for _ in range(count):
                plain.append((component.body, waiting))
                waiting = []
        yield plain


def matches(policy: str, word: EventWord, components: Sequence[Component]) -> set[tuple[int, int, Lineage]]:
    found = set()

    def extend(plain: list[tuple[Regex, list[Regex]]], at: int, start: int, x: Occurrence, seen: Lineage) -> None:
        if at == len(plain):
            found.add((start, x.end, seen))
            return
        body, absent = plain[at]
        for y in occurrences(word, body):
            if allowed(policy, word, x, y, body, absent):
                extend(plain, at + 1, start, y, seen | y.lineage)

    for plain in unfolded(components, len(word.events)):
        if 0 < len(plain) <= len(word.events):
            for x in occurrences(word, plain[0][0]):
                extend(plain, 1, x.start, x, x.lineage)
    return found


def random_components(rnd: random.Random) -> list[Component]:
    def body(slot: int) -> Regex:
        one = Symbol(Guard(frozenset(rnd.sample(range(3), rnd.choice([1, 1, 2])))), slot)
        return one if rnd.random() < 0.7 else strict([one, Symbol(Guard(frozenset({rnd.randrange(3)})), slot)])

    n = rnd.choice([1, 2, 3, 3])
    bounds = [rnd.choice([(1, 1), (1, 1), (0, 1), (1, None), (0, None), (2, 3)]) for _ in range(n)]
    if n > 1 and rnd.random() < 0.6:
        # an absent pattern stands between components that always match
        bounds[0], bounds[-1] = (1, 1), rnd.choice([(1, 1), (1, None)])
        place = rnd.randint(1, n - 1)
    else:
        place = None
    return [
        Component(body(i), low, high, (Symbol(Guard(frozenset({rnd.randrange(3)}))),) if i == place else ())
        for i, (low, high) in enumerate(bounds)
    ]


@pytest.mark.parametrize("policy", ["strict", "any", "next"])
def test_policy_eq_definition(policy: str) -> None:
    build = {"strict": strict, "any": any_, "next": next_}[policy]
    rnd = random.Random(policy)
    for _ in range(250):
        components = random_components(rnd)
        events: tuple[Event, ...] = tuple((rnd.randrange(3), 0) for _ in range(rnd.randint(2, 7)))
        word = EventWord(events)
        regex = build(components)
        spans = [(s, e) for s in range(len(events)) for e in range(s, len(events))]
        found = {(s, e, lineage) for s, e in spans for lineage in word.matches(regex, s, e + 1)}
        assert found == matches(policy, word, components), (components, events)


def lineages(regex: Regex, streams: Sequence[int]) -> set[tuple[int, ...]]:
    """Positions, counted from one, of all matches."""
    word = EventWord(tuple((stream, 0) for stream in streams))
    n = len(streams)
    spans = [(s, e) for s in range(n) for e in range(s + 1, n + 1)]
    found = {lineage for s, e in spans for lineage in word.matches(regex, s, e)}
    return {tuple(sorted(position + 1 for position, _ in lineage)) for lineage in found}


def test_any_takes_both_middles_and_next_the_first() -> None:
    streams = [0, 1, 1, 2, 3]
    assert lineages(any_([A, B, C, D]), streams) == {(1, 2, 4, 5), (1, 3, 4, 5)}
    assert lineages(next_([A, B, C, D]), streams) == {(1, 2, 4, 5)}


def test_next_repetition_takes_every_prefix() -> None:
    assert lineages(next_([A, Component(B, 1, None), C]), [0, 1, 1, 2]) == {(1, 2, 4), (1, 2, 3, 4)}


def test_six_results() -> None:
    assert len(lineages(any_([A, B, C]), [0, 0, 0, 1, 1, 2])) == 6


def test_count_window_counts_every_event_of_the_scope() -> None:
    streams = [0, 3, 3, 1]
    assert lineages(at_most(any_([A, B]), 4), streams) == {(1, 4)}
    assert lineages(at_most(any_([A, B]), 3), streams) == set()


def test_absence_reaches_over_a_component_that_does_not_match() -> None:
    sequence = any_([A, Component(B, 0, 1, absent_before=(D,)), C])
    assert lineages(sequence, [0, 3, 2]) == set()
    assert lineages(sequence, [0, 2]) == {(1, 2)}
    assert lineages(sequence, [0, 1, 3, 2]) == {(1, 2, 4)}
    assert lineages(sequence, [0, 3, 1, 2]) == set()


def test_absent_needs_neighbors() -> None:
    gap = (C,)
    for parts in (
        [Component(A, absent_before=gap), B],
        [Component(A, 0, 1), Component(B, absent_before=gap)],
        [A, Component(B, 0, 1, absent_before=gap)],
    ):
        with pytest.raises(ValueError, match="on either side"):
            any_(parts)


def test_nonsense_is_rejected() -> None:
    with pytest.raises(ValueError, match="low=2 high=1"):
        Component(A, 2, 1)
    with pytest.raises(ValueError, match="low=2 high=1"):
        RegexRepeat(A, 2, 1)
    with pytest.raises(ValueError, match="n_events=0"):
        at_most(A, 0)
    with pytest.raises(ValueError, match="at least one component"):
        strict([])
    with pytest.raises(ValueError, match="0 to 63"):
        Guard(bits=frozenset({64}))
