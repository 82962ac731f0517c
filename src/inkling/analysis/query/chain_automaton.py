"""The automaton of the first stages of a query, over what happens at each time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from inkling.analysis.query.bits import accepted, candidate, of_row
from inkling.analysis.query.query import Query
from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.guards import Guard
from inkling.automata.limits import TooManyStates, TooManySymbols
from inkling.automata.meaning import RegexPattern
from inkling.automata.regex import Concat, Epsilon, Regex, RegexRepeat, Symbol
from inkling.logical.expr import Expr


@dataclass(frozen=True, slots=True)
class ChainAutomaton:
    """Stages as a regular expression over what happens at each time; equal stages ask for equal things."""

    pattern: CompiledPattern
    dfa: Dfa
    accepts: tuple[int, ...]  # per bit of the expression that stands for acceptance, a bit of predicate masks
    spares: tuple[int, ...]  # per bit that stands for the lack of a candidate, a bit of predicate masks
    open_prefixes: tuple[Regex, ...]  # the first 1, 2, … subgoals, which wait for the next one

    @classmethod
    def of(cls, query: Query, n_stages: int, variables: Iterable[str]) -> ChainAutomaton:
        """Raises `TooManyStates` or `TooManySymbols`."""
        accepts: dict[Hashable, tuple[int, int]] = {}
        spares: dict[Hashable, tuple[int, int]] = {}
        parts: list[Regex] = []
        prefixes: list[Regex] = []
        names = frozenset(variables)
        asks = [_asked(query, number, names) for number in range(n_stages)]
        always = _never_waits(query, asks)
        exclusive: set[frozenset[int]] = set()
        for number, stage in enumerate(query.stages[:n_stages]):
            spare = spares.setdefault(asks[number], (32 + len(spares), candidate(number)))[0]
            passed = asks[number].filters | {of_row(one, stage) for one in stage.accepts}
            wanted = replace(asks[number], filters=passed)
            accept = accepts.setdefault(wanted, (len(accepts), accepted(number)))[0]
            exclusive.add(frozenset((accept, spare)))
            taken = Symbol(Guard(bits=frozenset({accept})), stage.slot)
            waiting: Regex = Epsilon() if always else RegexRepeat(Symbol(Guard(bits=frozenset({spare}))))
            hop: Regex = taken if number == 0 else Concat((waiting, taken))
            if number:
                more: Regex = RegexRepeat(hop) if stage.repeated else Epsilon()
                prefixes.append(Concat((*parts, more, waiting)))
            if not stage.repeated:
                parts.append(hop)
            elif number == 0:
                parts.append(Concat((hop, RegexRepeat(Concat((waiting, taken))))))
            else:
                parts.append(RegexRepeat(hop, 1))
        pattern = CompiledPattern.of(RegexPattern(Concat(tuple(parts))), 1, exclusive=sorted(exclusive, key=sorted))
        return cls(
            pattern,
            pattern.dfa(),
            tuple(bit for _, bit in accepts.values()),
            tuple(bit for _, bit in spares.values()),
            tuple(prefixes),
        )

    @property
    def n_states(self) -> int:
        return self.dfa.n_states

    @property
    def n_runs(self) -> int:
        return self.pattern.nfa.n_states

    def symbol(self, mask: int) -> int:
        """The minterm of a predicate mask."""
        bits = sum(1 << place for place, bit in enumerate(self.accepts) if mask & bit)
        bits |= sum(1 << (32 + place) for place, bit in enumerate(self.spares) if not mask & bit)
        symbol = self.pattern.alphabet.symbol(0, bits)
        assert symbol is not None
        return symbol


@dataclass(frozen=True, slots=True)
class _CandidateCondition:
    """What makes a row a candidate of a stage."""

    source: str
    bound: tuple[tuple[str, frozenset[str]], ...]
    filters: frozenset[Expr]


def _asked(query: Query, number: int, variables: frozenset[str]) -> _CandidateCondition:
    stage = query.stages[number]
    bound = tuple((one.name, one.columns_in(number)) for one in query.variables if one.name in variables)
    return _CandidateCondition(stage.source, bound, frozenset(of_row(one, stage) for one in stage.filters))


def _never_waits(query: Query, asks: Sequence[_CandidateCondition]) -> bool:
    """Whether all that is read at all is a candidate of every stage that could wait for one."""
    waiting = set(asks if query.stages[0].repeated else asks[1:])
    if len(waiting) != 1:
        return False
    (common,) = waiting
    return asks[0] == replace(common, filters=asks[0].filters) and common.filters <= asks[0].filters


def fits(query: Query, n_stages: int, variables: Iterable[str]) -> bool:
    """Whether there is an automaton of a size that can be handled."""
    return _fits(_QueryKey(query), n_stages, tuple(variables))


class _QueryKey:
    """A query, distinguished by what is asked."""

    def __init__(self, query: Query) -> None:
        self.query, self._text = query, repr(query)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _QueryKey) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


@cache
def _fits(compared: _QueryKey, n_stages: int, variables: tuple[str, ...]) -> bool:
    try:
        ChainAutomaton.of(compared.query, n_stages, variables)
    except (TooManyStates, TooManySymbols):
        return False
    return True
