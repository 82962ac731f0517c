"""Tables are stored as bytes that depend on the pattern alone, and reject to grow without bound."""

import os
import subprocess
import sys

import pytest

from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.guards import ANY_EVENT, Guard
from inkling.automata.limits import TooManyStates
from inkling.automata.policies import Component, any_, next_, strict
from inkling.automata.regex import Concat, Counting, Regex, RegexComplement, RegexPattern, RegexRepeat, Symbol, at_most

A, B, C = (Symbol(Guard(frozenset({stream})), stream) for stream in range(3))


def dfa_of(regex: Regex, counting: Counting = Counting.OVERLAP) -> Dfa:
    return CompiledPattern.of(RegexPattern(regex, counting), 3).dfa()


def test_bytes_round_trip() -> None:
    dfa = dfa_of(next_([A, Component(B, 1, 3), C]))
    again = Dfa.from_bytes(dfa.to_bytes())
    assert again.delta.tolist() == dfa.delta.tolist()
    assert again.final.tolist() == dfa.final.tolist()
    assert again.columns.tolist() == dfa.columns.tolist()
    assert again.fingerprint == dfa.fingerprint


def test_other_bytes_are_rejected() -> None:
    data = dfa_of(strict([A, B])).to_bytes()
    with pytest.raises(ValueError, match="not an automaton of this version"):
        Dfa.from_bytes(b"X" + data[1:])


def test_equal_languages_have_equal_tables() -> None:
    # guards stand in the same order, so symbols have the same numbers
    left = any_([A, B])
    right = Concat((A, RegexRepeat(Symbol(ANY_EVENT)), B))
    assert dfa_of(left).fingerprint == dfa_of(right).fingerprint
    assert dfa_of(left).fingerprint != dfa_of(left, Counting.RESTART).fingerprint


FINGERPRINT = """
from inkling.automata.run.engine import PatternSet
from inkling.automata.guards import Guard
from inkling.automata.regex import RegexPattern
from inkling.automata.policies import Component, any_, next_, strict
from inkling.automata.regex import Symbol
a, b, c = (Symbol(Guard(frozenset({s}), frozenset({s, s + 40})), s) for s in range(3))
patterns = PatternSet.compile([RegexPattern(next_([a, Component(b, 0, None), any_([c, strict([a, b])])]))], 3)
print(patterns.fingerprint.hex(), *(pattern.dfa().fingerprint for pattern in patterns.patterns))
"""


def test_fingerprints_do_not_depend_on_the_process() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            env={**os.environ, "PYTHONHASHSEED": seed, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": "src"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_too_many_states() -> None:
    # twenty events after an `a`: which of the last twenty were an `a` must be remembered
    pattern = CompiledPattern.of(RegexPattern(Concat((A, RegexRepeat(Symbol(ANY_EVENT), 20, 20)))), 3)
    with pytest.raises(TooManyStates, match="at least 5001 states, the limit is 5000") as raised:
        pattern.dfa(max_states=5000)
    assert (raised.value.n_states, raised.value.limit) == (5001, 5000)


def test_too_many_states_inside_a_complement() -> None:
    inner = Concat((RegexRepeat(Symbol(ANY_EVENT)), A, RegexRepeat(Symbol(ANY_EVENT), 20, 20)))
    with pytest.raises(TooManyStates):
        CompiledPattern.of(RegexPattern(Concat((A, RegexComplement(inner)))), 3, max_states=1000)


def test_windows_do_not_explode() -> None:
    # of all `a` in the window only the last matters for detection
    for width in (10, 40):
        n_states = dfa_of(at_most(any_([A, B]), width)).n_states
        assert n_states <= 2 * width


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_window_by_hand(width: int) -> None:
    dfa_states = CompiledPattern.of(RegexPattern(at_most(any_([A, B]), width)), 3)
    dfa = dfa_states.dfa()
    text = "accbaccccbabbcaacb"
    symbols = [dfa_states.alphabet.symbol("abc".index(letter), 0) or 0 for letter in text]
    found = [index for index, state in enumerate(dfa.run(symbols)) if dfa.final[state]]
    expected = [end for end, letter in enumerate(text) if letter == "b" and "a" in text[max(0, end - width + 1) : end]]
    assert found == expected
