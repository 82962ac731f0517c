"""State between batches is small, explicit, and belongs to its patterns."""

import pickle

import numpy as np
import pytest

from inkling.automata.guards import Guard
from inkling.automata.policies import Component, any_, strict
from inkling.automata.regex import Counting, RegexPattern, Symbol
from inkling.automata.run.engine import PatternSet
from inkling.automata.run.state import AutomatonState
from inkling.evaluators.state import from_bytes, to_bytes

A, B, C = (Symbol(Guard(frozenset({stream})), stream) for stream in range(3))


@pytest.fixture
def patterns() -> PatternSet:
    return PatternSet.compile(
        [RegexPattern(strict([A, B])), RegexPattern(any_([A, Component(B, 1, None), C]), Counting.RESTART)], 3
    )


def read(patterns: PatternSet, state: AutomatonState, key: list[int], text: str, first: int) -> tuple:
    streams = ["abc".index(letter) for letter in text]
    events = np.arange(first, first + len(text))
    state, found = patterns.step(state, key, streams, [0] * len(text), events)
    return state, found


def test_idle_keys_are_forgotten(patterns: PatternSet) -> None:
    state, _ = read(patterns, patterns.initial_state(), [1, 1, 2, 3, 3, 3], "bcaabc", 0)
    assert state.key.tolist() == [2]
    assert state.live_events().tolist() == [2]


def test_a_match_across_batches_names_events_of_both(patterns: PatternSet) -> None:
    state, found = read(patterns, patterns.initial_state(), [5, 7, 7], "aab", 100)
    assert found.pattern.tolist() == [0]
    state, found = read(patterns, state, [5, 5, 7], "bcc", 103)
    lineage = found.lineage()
    lists = np.split(lineage.events, lineage.offsets[1:-1])
    assert list(zip(found.key.tolist(), found.pattern.tolist(), map(np.ndarray.tolist, lists), strict=True)) == [
        (5, 0, [100, 103]),
        (5, 1, [100, 103, 104]),
        (7, 1, [101, 102, 105]),
    ]
    assert found.first_event().tolist() == [100, 100, 101]
    assert lineage.slots.tolist() == [0, 1, 0, 1, 2, 0, 1, 2]
    assert state.n_keys == 0


def test_bytes_round_trip(patterns: PatternSet) -> None:
    state, _ = read(patterns, patterns.initial_state(), [1, 2, 2, 2, 3], "aabba", 0)
    again = from_bytes(to_bytes(state), AutomatonState)
    assert to_bytes(again) == to_bytes(state)
    assert again.key.tolist() == [1, 2, 3]


def test_bytes_do_not_depend_on_how_the_state_came_about(patterns: PatternSet) -> None:
    whole, _ = read(patterns, patterns.initial_state(), [1, 1, 1, 2, 2], "abbab", 0)
    parts = patterns.initial_state()
    for key, letter, event in ((2, "a", 3), (1, "a", 0), (2, "b", 4), (1, "b", 1), (1, "b", 2)):
        parts, _ = read(patterns, parts, [key], letter, event)
    assert to_bytes(parts.only([1])) == to_bytes(whole.only([1]))
    assert to_bytes(parts.only([2])) == to_bytes(whole.only([2]))


def test_parts_of_a_state(patterns: PatternSet) -> None:
    state, _ = read(patterns, patterns.initial_state(), [1, 2, 2, 3], "aaba", 0)
    one, others = state.only([2, 9]), state.without([2])
    assert (one.key.tolist(), others.key.tolist()) == ([2], [1, 3])
    assert one.live_events().tolist() == [1, 2]
    assert one.joined(others).key.tolist() == [1, 2, 3]
    assert to_bytes(others.joined(one).only([3])) == to_bytes(state.only([3]))
    with pytest.raises(ValueError, match="share a key"):
        one.joined(state)


def test_a_reset_row_ends_the_runs_of_its_key(patterns: PatternSet) -> None:
    columns = ([1, 1, 1, 2, 2], [0, -1, 1, 0, 1], [0] * 5)
    _, found = patterns.step(patterns.initial_state(), *columns, np.arange(5))
    assert found.row.tolist() == [4]


def test_state_of_other_patterns_is_rejected(patterns: PatternSet) -> None:
    other = PatternSet.compile([RegexPattern(strict([B, A])), RegexPattern(strict([A, C]))], 3)
    with pytest.raises(ValueError, match="other patterns"):
        patterns.step(other.initial_state(), [0], [0], [0], [0])
    with pytest.raises(ValueError, match="different patterns"):
        patterns.initial_state().joined(other.initial_state())


def test_no_rows(patterns: PatternSet) -> None:
    state, _ = read(patterns, patterns.initial_state(), [1], "a", 0)
    after, found = read(patterns, state, [], "", 1)
    assert to_bytes(after) == to_bytes(state)
    assert len(found) == len(found.lineage().events) == 0


def test_patterns_and_state_pickle(patterns: PatternSet) -> None:
    state, _ = read(patterns, patterns.initial_state(), [1], "a", 0)
    copied, copied_state = pickle.loads(pickle.dumps((patterns, state)))
    _, found = read(copied, copied_state, [1], "b", 1)
    assert found.lineage().events.tolist() == [0, 1]


def test_pickling_compiles_nothing_anew(patterns: PatternSet) -> None:
    from inkling.kernels.automaton.witness import track

    read(patterns, patterns.initial_state(), [1], "a", 0)
    before = len(getattr(track, "signatures", []))
    copied = pickle.loads(pickle.dumps(patterns))
    read(copied, copied.initial_state(), [1], "a", 0)
    assert len(getattr(track, "signatures", [])) == before <= 1


def test_events_must_be_as_many_as_rows(patterns: PatternSet) -> None:
    with pytest.raises(ValueError, match="key 2, events 1"):
        patterns.step(patterns.initial_state(), [0, 0], [0, 0], [0, 0], [0])


def test_nothing_to_compile() -> None:
    with pytest.raises(ValueError, match="got 0 and 1"):
        PatternSet.compile([], 1)
    with pytest.raises(ValueError, match="got 1 and 0"):
        PatternSet.compile([RegexPattern(A)], 0)
