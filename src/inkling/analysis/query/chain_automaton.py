"""The automaton of a regular query (Lahar, section 3.1.1: translation to a regular expression).

The automaton reads one symbol per time: which subgoals have a candidate then, and which have an accepted one. Subgoal i
is the expression (no candidate of i)*, (an accepted candidate of i); a Kleene plus repeats it. Each condition of the
expression is a bit, for acceptance from bit 0 on and for the absence of a candidate from bit 32 on.

    At(x, 'a'); At(x, 'b')      →  a0, (no candidate of 1)*, a1
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from inkling.analysis.query.pattern import MOST_STATES
from inkling.analysis.query.query import Query, accepted, candidate, of_row
from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.guards import Guard
from inkling.automata.limits import TooManyStates, TooManySymbols
from inkling.automata.prefixes import distinguishing
from inkling.automata.regex import Concat, Epsilon, Regex, RegexPattern, RegexRepeat, Symbol
from inkling.logical.expr import Expr

FIRST_ABSENCE = 32
"""The first bit of the expression that stands for the absence of a candidate."""


@dataclass(frozen=True, slots=True)
class ChainAutomaton:
    """The compiled expression of the first subgoals; subgoals with equal conditions share their bits."""

    pattern: CompiledPattern
    dfa: Dfa
    accepts: tuple[int, ...]  # for each bit of acceptance, the bit of predicate masks that sets it
    absences: tuple[int, ...]  # for each bit of absence, the bit of predicate masks that clears it
    open_prefixes: tuple[Regex, ...]  # the first 1, 2, … subgoals, which wait for the next one

    @classmethod
    def of(cls, query: Query, n_subgoals: int, variables: Iterable[str]) -> ChainAutomaton:
        """Raises `TooManyStates` or `TooManySymbols`."""
        accepts: dict[Hashable, tuple[int, int]] = {}
        absences: dict[Hashable, tuple[int, int]] = {}
        parts: list[Regex] = []
        prefixes: list[Regex] = []
        names = frozenset(variables)
        asks = [_asked(query, number, names) for number in range(n_subgoals)]
        always = _never_waits(query, asks)
        exclusive: set[frozenset[int]] = set()
        for number, subgoal in enumerate(query.subgoals[:n_subgoals]):
            absent = absences.setdefault(asks[number], (FIRST_ABSENCE + len(absences), candidate(number)))[0]
            passed = asks[number].filters | {of_row(one, subgoal) for one in subgoal.accepts}
            wanted = replace(asks[number], filters=passed)
            accept = accepts.setdefault(wanted, (len(accepts), accepted(number)))[0]
            exclusive.add(frozenset((accept, absent)))
            taken = Symbol(Guard(bits=frozenset({accept})), subgoal.slot)
            waiting: Regex = Epsilon() if always else RegexRepeat(Symbol(Guard(bits=frozenset({absent}))))
            successor: Regex = taken if number == 0 else Concat((waiting, taken))
            if number:
                more: Regex = RegexRepeat(successor) if subgoal.repeated else Epsilon()
                prefixes.append(Concat((*parts, more, waiting)))
            if not subgoal.repeated:
                parts.append(successor)
            elif number == 0:
                parts.append(Concat((successor, RegexRepeat(Concat((waiting, taken))))))
            else:
                parts.append(RegexRepeat(successor, 1))
        pattern = CompiledPattern.of(RegexPattern(Concat(tuple(parts))), 1, exclusive=sorted(exclusive, key=sorted))
        return cls(
            pattern,
            pattern.dfa(),
            tuple(bit for _, bit in accepts.values()),
            tuple(bit for _, bit in absences.values()),
            tuple(prefixes),
        )

    def with_open_prefixes(self) -> ChainAutomaton:
        """With states that say which subgoals wait; the same where these would be too many."""
        try:
            pattern, dfa = distinguishing(self.pattern, self.dfa, self.open_prefixes, MOST_STATES)
        except (TooManyStates, TooManySymbols):
            return self
        return replace(self, pattern=pattern, dfa=dfa)

    @property
    def n_states(self) -> int:
        return self.dfa.n_states

    @property
    def n_runs(self) -> int:
        return self.pattern.nfa.n_states

    def symbol(self, mask: int) -> int:
        """The minterm of a predicate mask."""
        bits = sum(1 << place for place, bit in enumerate(self.accepts) if mask & bit)
        bits |= sum(1 << (FIRST_ABSENCE + place) for place, bit in enumerate(self.absences) if not mask & bit)
        symbol = self.pattern.alphabet.symbol(0, bits)
        assert symbol is not None
        return symbol


@dataclass(frozen=True, slots=True)
class _CandidateCondition:
    """What makes a row a candidate of a subgoal: its stream, the columns of bound variables, and the filters."""

    source: str
    bound: tuple[tuple[str, frozenset[str]], ...]
    filters: frozenset[Expr]


def _asked(query: Query, number: int, variables: frozenset[str]) -> _CandidateCondition:
    subgoal = query.subgoals[number]
    bound = tuple((one.name, one.columns_in(number)) for one in query.variables if one.name in variables)
    return _CandidateCondition(subgoal.source, bound, frozenset(of_row(one, subgoal) for one in subgoal.filters))


def _never_waits(query: Query, asks: Sequence[_CandidateCondition]) -> bool:
    """Whether every event that is read is a candidate of each subgoal that waits, so that waiting takes no event."""
    waiting = set(asks if query.subgoals[0].repeated else asks[1:])
    if len(waiting) != 1:
        return False
    (common,) = waiting
    return asks[0] == replace(common, filters=asks[0].filters) and common.filters <= asks[0].filters


def fits(query: Query, n_subgoals: int, variables: Iterable[str]) -> bool:
    """Whether the automaton of the first subgoals stays within the limits on states and symbols."""
    return _fits(_QueryKey(query), n_subgoals, tuple(variables))


class _QueryKey:
    """A query as a key of the cache: equal if the queries read alike."""

    def __init__(self, query: Query) -> None:
        self.query, self._text = query, repr(query)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _QueryKey) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


@cache
def _fits(compared: _QueryKey, n_subgoals: int, variables: tuple[str, ...]) -> bool:
    try:
        ChainAutomaton.of(compared.query, n_subgoals, variables)
    except (TooManyStates, TooManySymbols):
        return False
    return True
