"""Automata that distinguish whether a prefix of a pattern waits, compared with reading all short words."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest

from inkling.automata.compiled import CompiledPattern, regex_to_nfa
from inkling.automata.dfa import Dfa, detecting
from inkling.automata.guards import RESET, Guard
from inkling.automata.limits import TooManyStates
from inkling.automata.nfa import marked_only
from inkling.automata.prefixes import distinguishing, prefix_states
from inkling.automata.regex import Concat, Counting, Regex, RegexPattern, RegexRepeat, Symbol

LONGEST = 5


def parts(rng: random.Random) -> list[Regex]:
    """Symbols, options and repetitions, of which the first happens."""

    def symbol() -> Regex:
        return Symbol(Guard(bits=frozenset(rng.sample(range(2), rng.randint(0, 2)))), 0)

    found = [symbol()]
    for _ in range(2):
        found.append(rng.choice((symbol(), RegexRepeat(symbol(), 0, 1), RegexRepeat(symbol(), 0, None))))
    return [*found, symbol()]


def accepts(dfa: Dfa, word: Sequence[int]) -> bool:
    return bool(dfa.final[[0, *dfa.run(word)][-1]])


@pytest.mark.parametrize("counting", [Counting.OVERLAP, Counting.RESTART])
def test_refined_automata_find_the_same_and_know_what_waits(counting: Counting) -> None:
    rng, n_refined = random.Random(f"prefixes {counting}"), 0
    for _ in range(40):
        every = parts(rng)
        pattern = CompiledPattern.of(RegexPattern(Concat(tuple(every)), counting), 1)
        prefixes = [Concat(tuple(every[:n])) for n in range(1, len(every))]
        dfa = pattern.dfa()
        refined, finer = distinguishing(pattern, dfa, prefixes, 1000)
        n_symbols = pattern.alphabet.n_symbols
        words = [one for n in range(LONGEST) for one in product([s for s in range(n_symbols) if s != RESET], repeat=n)]
        for word in words:
            assert accepts(finer, word) == accepts(dfa, word)
        assert detecting(refined.nfa, n_symbols, restart=refined.restart).to_bytes() == dfa.to_bytes()
        for prefix in prefixes:
            known = prefix_states(refined, finer, prefix)
            assert known is not None
            ends = detecting(marked_only(regex_to_nfa(prefix, pattern.alphabet)), n_symbols)
            for word in words:
                begin = 0  # CONSUME RESTART: what is read of a match that ended does not wait
                if counting is Counting.RESTART:
                    begin = max((n for n in range(1, len(word) + 1) if accepts(dfa, word[:n])), default=0)
                assert known.states[[0, *finer.run(word)][-1]] == accepts(ends, word[begin:]), (every, prefix, word)
        n_refined += finer.n_states > dfa.n_states
    assert n_refined > 5


def test_automata_that_would_be_too_large() -> None:
    first, other = (Symbol(Guard(bits=frozenset({bit})), 0) for bit in (0, 1))
    pattern = CompiledPattern.of(RegexPattern(Concat((first, RegexRepeat(other), first))), 1)
    dfa = pattern.dfa()
    with pytest.raises(TooManyStates):
        distinguishing(pattern, dfa, [first], dfa.n_states)
