"""The automaton kernels find what the definition finds: same ends, same witnesses, any cut into batches."""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from tests.reference.automata.words import Event, Lineage, detections

from inkling.automata.guards import Guard
from inkling.automata.policies import Component, any_, next_, strict
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
    at_most,
)
from inkling.automata.run.engine import Detections, PatternSet
from inkling.automata.run.state import AutomatonState
from inkling.evaluators.state import from_bytes, to_bytes

N_STREAMS = 2
BITS = (0, 1, 9)  # in two bytes


class Found(NamedTuple):
    key: int
    pattern: int
    end: int
    witness: Lineage


def random_guard(rnd: random.Random) -> Guard:
    streams = rnd.choice([None, frozenset({0}), frozenset({1}), frozenset({0, 1})])
    return Guard(streams, frozenset(bit for bit in BITS if rnd.random() < 0.35))


def random_regex(rnd: random.Random, depth: int) -> Regex:
    if depth == 0 or rnd.random() < 0.15:
        letter = Symbol(random_guard(rnd), rnd.choice([None, 0, 0, 1, 1, 2, 2]))
        return rnd.choice([letter] * 6 + [Epsilon(), AnyWord()])

    def inner() -> Regex:
        return random_regex(rnd, depth - 1)

    low = rnd.choice([0, 0, 1, 2])
    match rnd.choice("ccuurrniwp"):
        case "c":
            return Concat(tuple(inner() for _ in range(rnd.choice([0, 2, 2, 3]))))
        case "u":
            return Union(tuple(inner() for _ in range(rnd.choice([1, 2, 2, 3]))))
        case "r":
            return RegexRepeat(inner(), low, rnd.choice([None, None, low, low + 1, low + 2]))
        case "n":
            return RegexComplement(inner())
        case "i":
            return Intersect(inner(), inner())
        case "w":
            return at_most(inner(), rnd.randint(1, 4))
        case _:
            parts = [Component(inner(), low, rnd.choice([None, low + 1])), Symbol(random_guard(rnd), 2)]
            return rnd.choice([strict, any_, next_])(rnd.sample(parts, 2))


def random_pattern(rnd: random.Random) -> RegexPattern:
    regex = random_regex(rnd, rnd.choice([1, 2, 2, 3]))
    return RegexPattern(regex, rnd.choice(list(Counting)), marked_only=rnd.random() < 0.8)


def random_words(rnd: random.Random, longest: int) -> dict[int, list[Event]]:
    def event() -> Event:
        bits = sum(1 << bit for bit in BITS if rnd.random() < 0.5)
        return (-1 if rnd.random() < 0.05 else rnd.randrange(N_STREAMS), bits)

    return {10 * key: [event() for _ in range(rnd.randint(1, longest))] for key in range(rnd.randint(1, 3))}


class Cut(NamedTuple):
    """Rows of one batch; events are named by their position in their key's word."""

    key: list[int]
    stream: list[int]
    bits: npt.NDArray[np.uint64]
    event: list[int]


def cuts(rnd: random.Random, words: dict[int, list[Event]]) -> Iterator[Cut]:
    done = dict.fromkeys(words, 0)
    while any(done[key] < len(word) for key, word in words.items()):
        rows = []
        for key, word in words.items():
            stop = rnd.randint(done[key], len(word))
            rows += [(key, *word[position], position) for position in range(done[key], stop)]
            done[key] = stop
        key, stream, bits, event = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [])
        yield Cut(key, stream, np.array(bits, dtype=np.uint64), event)


def defined(patterns: list[RegexPattern], words: dict[int, list[Event]]) -> set[Found]:
    return {
        Found(key, index, found.end, found.witness)
        for key, word in words.items()
        for index, pattern in enumerate(patterns)
        for found in detections(pattern, word)
    }


def looked_up(patterns: PatternSet, words: dict[int, list[Event]]) -> set[tuple[int, int, int]]:
    """Key, pattern and end of every match, by the deterministic automata; stream -1 is their symbol 0."""
    found = set()
    for index, pattern in enumerate(patterns.patterns):
        dfa = pattern.dfa()
        for key, word in words.items():
            visited = dfa.run(0 if stream < 0 else pattern.alphabet.symbol(stream, bits) for stream, bits in word)
            found |= {(key, index, end) for end, state in enumerate(visited) if dfa.final[state]}
    return found


def spelled_out(found: Detections, cut: Cut) -> set[Found]:
    lineage = found.lineage()
    members = list(zip(lineage.events.tolist(), lineage.slots.tolist(), strict=True))
    bounds = lineage.offsets.tolist()
    lists = [members[begin:end] for begin, end in pairwise(bounds)]
    assert all(one == sorted(one) for one in lists)
    assert found.first_event().tolist() == [one[0][0] if one else -1 for one in lists]
    columns = (found.key.tolist(), found.pattern.tolist(), found.row.tolist(), lists)
    return {
        Found(key, pattern, cut.event[row], frozenset(one)) for key, pattern, row, one in zip(*columns, strict=True)
    }


def check(rnd: random.Random, longest: int) -> int:
    patterns = [random_pattern(rnd) for _ in range(rnd.choice([1, 3]))]
    words = random_words(rnd, longest)
    compiled = PatternSet.compile(patterns, N_STREAMS)
    state, found = compiled.initial_state(), set()
    for cut in cuts(rnd, words):
        state, batch = compiled.step(state, *cut)
        places = list(zip(batch.row.tolist(), batch.pattern.tolist(), strict=True))
        assert places == sorted(places)
        found |= spelled_out(batch, cut)
        if rnd.random() < 0.3:
            state = from_bytes(to_bytes(state), AutomatonState)
        if rnd.random() < 0.3:
            state = state.without([10]).joined(state.only([10]))
    assert found == defined(patterns, words), (patterns, words)
    assert {one[:3] for one in found} == looked_up(compiled, words), (patterns, words)
    return len(found)


@pytest.mark.parametrize("seed", range(8))
def test_kernels_eq_definition(seed: int) -> None:
    rnd = random.Random(seed)
    assert sum(check(rnd, longest=8) for _ in range(60)) > 0


def test_small_kernels_eq_definition() -> None:
    """Few enough for plain Python; also run so, by `test_uncompiled.py`."""
    rnd = random.Random(99)
    assert sum(check(rnd, longest=5) for _ in range(25)) > 0


def test_more_room() -> None:
    """Every event ends matches of patterns that all hold runs: all buffers have to grow."""
    a = Symbol(Guard(), 0)
    patterns = [RegexPattern(RegexRepeat(a, 1, 2)), RegexPattern(any_([a, a])), RegexPattern(strict([a, a, a]))]
    n = 1500
    compiled = PatternSet.compile(patterns, 1)
    keys = np.repeat(np.arange(n // 3), 3)
    columns = (keys, np.zeros(n), np.zeros(n), np.arange(n))
    state, found = compiled.step(compiled.initial_state(), *columns)
    assert state.n_keys == n // 3
    lineage = found.lineage()
    lists = [tuple(one) for one in np.split(lineage.events, lineage.offsets[1:-1])]
    expected = []
    for first in range(0, n, 3):
        expected += [(first,)]
        expected += [(first, first + 1), (first, first + 1)]
        expected += [(first + 1, first + 2), (first, first + 2), (first, first + 1, first + 2)]
    assert lists == expected


def test_long_keys_eq_lagged_columns() -> None:
    """Strict sequences and runs of one letter need no automaton: comparing shifted columns must agree."""
    rng = np.random.default_rng(4)
    n = 20_000
    key = np.sort(rng.integers(0, 3, n))
    stream = rng.integers(0, 2, n)
    a, b = (Symbol(Guard(frozenset({index})), index) for index in range(2))
    compiled = PatternSet.compile([RegexPattern(strict([a, b])), RegexPattern(RegexRepeat(b, 3))], 2)
    same_key = np.concatenate([[False], key[1:] == key[:-1]])
    before = np.roll(stream, 1)
    a_then_b = same_key & (before == 0) & (stream == 1)
    two = same_key & (before == 1) & (stream == 1)
    three = two & np.roll(two, 1) & same_key
    expected = sorted([(row, 0) for row in np.flatnonzero(a_then_b)] + [(row, 1) for row in np.flatnonzero(three)])
    columns = (key, stream, np.zeros(n))
    _, found = compiled.step(compiled.initial_state(), *columns, np.arange(n))
    assert list(zip(found.row.tolist(), found.pattern.tolist(), strict=True)) == expected
