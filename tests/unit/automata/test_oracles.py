"""Worked examples of recognition whose detections are known."""

from collections.abc import Sequence

import numpy as np
import pytest

from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import detecting
from inkling.automata.guards import Guard
from inkling.automata.policies import Component, any_, next_, strict
from inkling.automata.regex import (
    AnyWord,
    Concat,
    Counting,
    Regex,
    RegexComplement,
    RegexPattern,
    RegexRepeat,
    Symbol,
    Union,
)
from inkling.automata.run.engine import PatternSet

A, B, C = (Symbol(Guard(frozenset({stream})), stream) for stream in range(3))
OVERLAP, RESTART = Counting.OVERLAP, Counting.RESTART
WORDS = ("acbb", "abcacbcab", "aabbcc")
DEMO = "AABAAACCCBBCCCCAAAACABCAACAABBCABBCACBBCCCACBCACCBABCBBAAACCACCAACCCABACBBBBBCBCCCBABBBAABCAABCCABBA"


def without(body: Regex) -> Regex:
    return RegexComplement(Concat((AnyWord(), body, AnyWord())))


def ends(
    regex: Regex,
    streams: Sequence[int],
    bits: Sequence[int] | None = None,
    *,
    counting: Counting = OVERLAP,
    marked_only: bool = True,
    n_streams: int = 3,
) -> list[int]:
    """Detections counted from one, after checking that tables and runs agree."""
    patterns = PatternSet.compile([RegexPattern(regex, counting, marked_only)], n_streams)
    columns = (np.zeros(len(streams)), streams, np.array(bits or [0] * len(streams), dtype=np.uint64))
    _, witnessed = patterns.step(patterns.initial_state(), *columns, np.arange(len(streams)))
    (compiled,) = patterns.patterns
    symbols = [compiled.alphabet.symbol(*event) for event in zip(streams, columns[2].tolist(), strict=True)]
    dfa = compiled.dfa()
    assert np.flatnonzero(dfa.final[dfa.run(symbols)]).tolist() == witnessed.row.tolist()
    return [row + 1 for row in witnessed.row.tolist()]


def spelled(text: str) -> list[int]:
    return ["abc".index(letter) for letter in text.lower()]


def n_states(regex: Regex, n_streams: int = 3) -> int:
    return CompiledPattern.of(RegexPattern(regex), n_streams).dfa().n_states


def test_a_then_b() -> None:
    assert ends(strict([A, B]), spelled("abcabc")) == [2, 5]


def test_two_fast_messages() -> None:
    fast = Symbol(Guard(bits=frozenset({0})), 0)
    speeds = [85, 93, 99, 104, 111]
    bits = [int(speed > 100) for speed in speeds]
    assert ends(strict([fast, fast]), [0] * 5, bits, n_streams=1) == [5]


def test_states_of_two_fast_messages() -> None:
    fast = Symbol(Guard(bits=frozenset({0})), 0)
    for counting, after_detection in ((OVERLAP, 2), (RESTART, 1)):
        pattern = CompiledPattern.of(RegexPattern(strict([fast, fast]), counting), 1)
        dfa = pattern.dfa()
        low, high = (dfa.columns[pattern.alphabet.symbol(0, bits)] for bits in (0, 1))
        assert dfa.run(pattern.alphabet.symbol(0, bit) for bit in (0, 0, 0, 1, 1)) == [0, 0, 0, 1, 2]
        assert dfa.delta[:, [high, low]].tolist() == [[1, 0], [2, 0], [after_detection, 0]]
        assert dfa.final.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("regex", "text", "overlap", "restart"),
    [
        (strict([A, A]), "aaaaa", [2, 3, 4, 5], [2, 4]),
        (RegexRepeat(A, 3), "aaaaabaaaaaa", [3, 4, 5, 9, 10, 11, 12], [3, 9, 12]),
    ],
)
def test_counting(regex: Regex, text: str, overlap: list[int], restart: list[int]) -> None:
    assert ends(regex, spelled(text)) == overlap
    assert ends(regex, spelled(text), counting=RESTART) == restart


def test_three_in_a_row_have_four_states() -> None:
    assert n_states(RegexRepeat(A, 3)) == 4


SMALL = {
    "a;b": (strict([A, B]), 3, [([], []), ([2, 9], [2, 9]), ([3], [3])]),
    "any(a,b)": (any_([A, B]), 3, [([3, 4], [3]), ([2, 6, 9], [2, 6, 9]), ([3, 4], [3])]),
    "next(a,b)": (next_([A, B]), 3, [([3], [3]), ([2, 6, 9], [2, 6, 9]), ([3], [3])]),
    "any(a,b,c)": (any_([A, B, C]), 4, [([], []), ([3, 5, 7], [3, 7]), ([5, 6], [5])]),
    "next(a,b,c)": (next_([A, B, C]), 6, [([], []), ([3, 7], [3, 7]), ([5], [5])]),
    "a;!b;c": (Concat((A, without(B), C)), 3, [([2], [2]), ([5], [5]), ([], [])]),
    "a;b+;c": (strict([A, Component(B, 1, None), C]), 4, [([], []), ([3], [3]), ([5], [5])]),
    "any(a;b,c)": (any_([strict([A, B]), C]), 4, [([], []), ([3, 5, 7], [3]), ([5, 6], [5])]),
    "next(a|b,c)": (next_([Union((A, B)), C]), 3, [([2], [2]), ([3, 5, 7], [3, 5, 7]), ([5], [5])]),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_alphabet(name: str) -> None:
    regex, expected_states, expected = SMALL[name]
    assert n_states(regex) == expected_states
    for word, (overlap, restart) in zip(WORDS, expected, strict=True):
        assert ends(regex, spelled(word)) == overlap
        assert ends(regex, spelled(word), counting=RESTART) == restart


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        (RegexRepeat(A), ([1], [1, 4, 8], [1, 2])),
        (RegexComplement(A), ([2, 3, 4], [2, 3, 4, 5, 6, 7, 8, 9], [2, 3, 4, 5, 6])),
        (RegexRepeat(strict([A, B])), ([], [2, 9], [3])),
    ],
)
def test_the_empty_match_is_no_match(regex: Regex, expected: Sequence[list[int]]) -> None:
    for word, found in zip(WORDS, expected, strict=True):
        assert ends(regex, spelled(word), marked_only=False) == found


@pytest.mark.parametrize("regex", [RegexRepeat(A), RegexComplement(A)])
def test_the_empty_match_can_be_allowed(regex: Regex) -> None:
    pattern = CompiledPattern.of(RegexPattern(regex, marked_only=False), 3)
    dfa = detecting(pattern.nfa, pattern.alphabet.n_symbols, allow_empty=True)
    assert (dfa.n_states, dfa.final.tolist()) == (1, [True])


def test_a_match_without_members_is_dropped() -> None:
    assert ends(RegexComplement(A), spelled("abcacbcab")) == []


def test_keys_are_apart() -> None:
    stream = [(1, "a"), (2, "a"), (1, "b"), (2, "c"), (2, "a"), (1, "a"), (2, "b"), (1, "b")]
    patterns = PatternSet.compile([RegexPattern(strict([A, B]))], 3)
    order = sorted(range(8), key=lambda row: stream[row][0])
    keys = [stream[row][0] for row in order]
    streams = [spelled(stream[row][1])[0] for row in order]
    events = [row + 1 for row in order]
    _, found = patterns.step(patterns.initial_state(), keys, streams, [0] * 8, events)
    positions = {(events[row], key) for row, key in zip(found.row.tolist(), found.key.tolist(), strict=True)}
    assert positions == {(3, 1), (7, 2), (8, 1)}
    assert ends(strict([A, B]), spelled("".join(kind for _, kind in stream))) == [3, 7]


A_OR_B, NOT_C = Symbol(Guard(frozenset({0, 1})), 0), Symbol(Guard(frozenset({0, 1})), 1)
DEMO_COUNTS = {
    "A;(B|C)": (strict([A, Union((B, C))]), (20, 1017), (20, 1017)),
    "A;B;C": (strict([A, B, C]), (4, 262), (4, 262)),
    "any(A,B)": (any_([A, B]), (30, 1751), (15, 792)),
    "next(A,B)": (next_([A, B]), (15, 792), (15, 792)),
    "any(A,B,C)": (any_([A, B, C]), (36, 1733), (10, 493)),
    "next(A,B,C)": (next_([A, B, C]), (12, 583), (10, 493)),
    "A;B+;C": (strict([A, Component(B, 1, None), C]), (6, 328), (6, 328)),
    "C{3,}": (RegexRepeat(C, 3), (6, 230), (5, 215)),
    "A;!B;C": (Concat((A, without(B), C)), (17, 765), (10, 441)),
    "(A|B);C;(A|B)": (strict([Union((A, B)), C, Union((A, B))]), (12, 568), (10, 483)),
    "(A∨B);¬C;C": (strict([A_OR_B, NOT_C, C]), (15, 708), (15, 708)),
    "A;any(B*);C": (strict([A, any_([Component(B, 0, None)]), C]), (21, 1025), (16, 769)),
    "A;next(B*);C": (strict([A, next_([Component(B, 0, None)]), C]), (21, 1025), (16, 769)),
}


@pytest.mark.parametrize("name", DEMO_COUNTS)
def test_demo_stream(name: str) -> None:
    regex, overlap, restart = DEMO_COUNTS[name]
    for counting, expected in ((OVERLAP, overlap), (RESTART, restart)):
        found = ends(regex, spelled(DEMO), counting=counting)
        assert (len(found), sum(found)) == expected


def test_demo_stream_indices() -> None:
    indices = [3, 7, 20, 22, 26, 29, 33, 37, 44, 48, 52, 59, 62, 66, 70, 72, 85, 90, 94, 98]
    assert ends(strict([A, Union((B, C))]), spelled(DEMO)) == indices
    assert ends(RegexRepeat(C, 3), spelled(DEMO)) == [9, 14, 15, 42, 68, 82]
    assert ends(RegexRepeat(C, 3), spelled(DEMO), counting=RESTART) == [9, 14, 42, 68, 82]


def test_only_a_whole_occurrence_blocks_the_next_hop() -> None:
    # letters a b c d x: next(a, b;c, d) on a b x b c d
    a, b, c, d = (Symbol(Guard(frozenset({stream})), stream) for stream in range(4))
    assert ends(next_([a, strict([b, c]), d]), [0, 1, 4, 1, 2, 3], n_streams=5) == [6]


def test_skipped_gap_without_b() -> None:
    gapless = strict([A, without(B), C])
    streams_with_x = [0, 3, 2]
    assert ends(gapless, streams_with_x, n_streams=4) == [3]
    assert ends(gapless, [0, 1, 2], n_streams=4) == []
