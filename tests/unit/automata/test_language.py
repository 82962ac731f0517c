"""Automata accept exactly the words of their expressions, all short words tried."""

import random
from functools import cache
from itertools import product

import pytest

from inkling.automata.compiled import regex_to_nfa
from inkling.automata.dfa import Dfa, accepting, detecting
from inkling.automata.guards import Alphabet, Guard
from inkling.automata.nfa import Nfa
from inkling.automata.policies import Component, any_, next_, strict
from inkling.automata.regex import (
    AnyWord,
    Concat,
    Epsilon,
    Intersect,
    Regex,
    RegexComplement,
    RegexRepeat,
    Symbol,
    Union,
    at_most,
    nullable,
)

pytestmark = pytest.mark.slow

LONGEST = 5
SYMBOLS = "abc"
ALL = frozenset("".join(word) for n in range(LONGEST + 1) for word in product(SYMBOLS, repeat=n))
GUARDS = [Guard(frozenset(SYMBOLS.index(symbol) for symbol in chosen)) for chosen in ("a", "b", "c", "ab", "bc")] + [
    Guard()
]
ALPHABET = Alphabet.of(GUARDS, 3)


@cache
def language(regex: Regex) -> frozenset[str]:
    """The words of at most five letters, by the definition of each operator."""
    match regex:
        case Symbol(guard, _):
            return frozenset(symbol for index, symbol in enumerate(SYMBOLS) if guard.admits(index, 0))
        case Epsilon():
            return frozenset({""})
        case AnyWord():
            return ALL
        case Concat(parts):
            words = frozenset({""})
            for part in parts:
                words = joined(words, language(part))
            return words
        case Union(options):
            return frozenset().union(*map(language, options))
        case RegexRepeat(body, low, high):
            power, words = frozenset({""}), frozenset()
            for count in range(low + LONGEST + 1 if high is None else high + 1):
                words |= power if count >= low else frozenset()
                power = joined(power, language(body))
            return words
        case RegexComplement(body):
            return ALL - language(body)
        case Intersect(left, right):
            return language(left) & language(right)


def joined(heads: frozenset[str], tails: frozenset[str]) -> frozenset[str]:
    return frozenset(head + tail for head in heads for tail in tails if len(head) + len(tail) <= LONGEST)


def random_regex(rnd: random.Random, depth: int) -> Regex:
    if depth == 0:
        return rnd.choice([Epsilon(), AnyWord(), *(Symbol(guard, slot) for guard in GUARDS for slot in (0, None))])

    def inner() -> Regex:
        return random_regex(rnd, rnd.randrange(depth))

    low = rnd.randint(0, 2)
    high = rnd.choice([None, low, low + 1, low + 2])
    match rnd.randrange(8):
        case 0 | 1:
            return Concat(tuple(inner() for _ in range(rnd.randint(0, 3))))
        case 2:
            return Union(tuple(inner() for _ in range(rnd.randint(1, 3))))
        case 3:
            return RegexRepeat(inner(), low, high)
        case 4:
            return RegexComplement(inner())
        case 5:
            return Intersect(inner(), inner())
        case 6:
            return at_most(inner(), rnd.randint(1, 4))
        case _:
            policy = rnd.choice([strict, any_, next_])
            parts = [Component(inner(), low, None if high is None else max(high, 1)), inner()]
            return policy(rnd.sample(parts, rnd.randint(1, 2)))


def symbols(word: str) -> list[int]:
    return [ALPHABET.symbol(SYMBOLS.index(letter), 0) or 0 for letter in word]


def reads(nfa: Nfa, word: str) -> bool:
    states = {0}
    for symbol in symbols(word):
        states = {edge.target for state in states for edge in nfa.edges[state] if edge.symbols >> symbol & 1}
    return not states.isdisjoint(nfa.finals)


def accepted(dfa: Dfa) -> frozenset[str]:
    state, words = {"": 0}, []
    for n in range(1, LONGEST + 1):
        for letters in product(SYMBOLS, repeat=n):
            word = "".join(letters)
            symbol = symbols(word[-1])[0]
            state[word] = int(dfa.delta[state[word[:-1]], dfa.columns[symbol]])
    words = [word for word, at in state.items() if dfa.final[at]]
    return frozenset(words)


@pytest.mark.parametrize("seed", range(10))
def test_automata_accept_the_language(seed: int) -> None:
    rnd = random.Random(seed)
    for _ in range(110):
        regex = random_regex(rnd, 4)
        expected = language(regex)
        nfa = regex_to_nfa(regex, ALPHABET)
        assert accepted(accepting(nfa, ALPHABET.n_symbols)) == expected, regex
        assert nullable(regex) == ("" in expected)
        for word in rnd.sample(sorted(ALL), 25):
            assert reads(nfa, word) == (word in expected), regex


@pytest.mark.parametrize("restart", [False, True])
def test_detection_is_a_search_for_suffixes(restart: bool) -> None:
    rnd = random.Random(int(restart))
    for _ in range(150):
        regex = random_regex(rnd, 3)
        words = language(regex)
        dfa = detecting(regex_to_nfa(regex, ALPHABET), ALPHABET.n_symbols, restart=restart)
        for text in rnd.sample(sorted(word for word in ALL if len(word) == LONGEST), 20):
            found, earliest = [], 0
            for end in range(1, LONGEST + 1):
                if any(text[start:end] in words for start in range(earliest, end)):
                    found.append(end)
                    earliest = end if restart else 0
            states = dfa.run(symbols(text))
            assert [index + 1 for index, state in enumerate(states) if dfa.final[state]] == found, regex


def test_complement_twice_is_nothing() -> None:
    rnd = random.Random(1)
    for _ in range(100):
        regex = random_regex(rnd, 3)
        once = accepting(regex_to_nfa(regex, ALPHABET), ALPHABET.n_symbols)
        twice = accepting(regex_to_nfa(RegexComplement(RegexComplement(regex)), ALPHABET), ALPHABET.n_symbols)
        assert accepted(twice) == accepted(once) == language(regex)


def test_strict_and_next_are_part_of_any() -> None:
    rnd = random.Random(2)
    for _ in range(150):
        parts = [random_regex(rnd, 2) for _ in range(rnd.randint(2, 3))]
        # a component that may be empty is optional under ANY and NEXT, so only others compare
        if any(map(nullable, parts)):
            continue
        assert language(strict(parts)) <= language(any_(parts))
        assert language(next_(parts)) <= language(any_(parts))


def equivalent_states(dfa: Dfa) -> int:
    """How many states of a table can be distinguished, pair by pair."""
    n = dfa.n_states
    apart = {(p, q) for p in range(n) for q in range(n) if dfa.final[p] != dfa.final[q]}
    while True:
        more = {
            (p, q)
            for p in range(n)
            for q in range(n)
            if (p, q) not in apart
            and any((int(dfa.delta[p, c]), int(dfa.delta[q, c])) in apart for c in range(dfa.n_columns))
        }
        if not more:
            return len({frozenset(q for q in range(n) if (p, q) not in apart) for p in range(n)})
        apart |= more


def test_tables_are_minimal_and_numbered_breadth_first() -> None:
    rnd = random.Random(5)
    for _ in range(60):
        nfa = regex_to_nfa(random_regex(rnd, 3), ALPHABET)
        for dfa in (accepting(nfa, ALPHABET.n_symbols), detecting(nfa, ALPHABET.n_symbols)):
            assert equivalent_states(dfa) == dfa.n_states
            seen = [0]
            for state in range(dfa.n_states):
                seen += [q for q in dict.fromkeys(dfa.delta[state].tolist()) if q not in seen]
            assert seen == list(range(dfa.n_states))
            columns = {tuple(dfa.delta[:, column].tolist()) for column in range(dfa.n_columns)}
            assert len(columns) == dfa.n_columns
