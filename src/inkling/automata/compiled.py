"""Compilation of a pattern: from a regular expression to an alphabet of minterms and a marked automaton.

The automaton is the position automaton (Glushkov 1961): one state per symbol of the expression, no empty moves.
Complement and intersection are built as automata of their own and embedded.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

from inkling.automata import regex as r
from inkling.automata.dfa import Dfa, complement, detecting
from inkling.automata.guards import Alphabet, Guard, Joint
from inkling.automata.limits import MAX_STATES, TooManyStates
from inkling.automata.nfa import Mark, Nfa, NfaEdge, marked_only, merged, product, reduced


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """A pattern with its alphabet and its marked automaton; an edge is marked with the slots that its event fills."""

    alphabet: Alphabet
    nfa: Nfa
    restart: bool

    @classmethod
    def of(
        cls,
        pattern: r.RegexPattern,
        n_streams: int,
        *,
        exclusive: Sequence[frozenset[int]] = (),
        joint: Sequence[Joint] = (),
        extras: Sequence[Guard] = (),
        max_states: int = MAX_STATES,
    ) -> "CompiledPattern":
        """`extras`: further guards that distinguish symbols, for models."""
        alphabet = Alphabet.of((*r.guards_of(pattern.regex), *extras), n_streams, exclusive=exclusive, joint=joint)
        nfa = regex_to_nfa(pattern.regex, alphabet, max_states=max_states)
        if pattern.marked_only:
            nfa = marked_only(nfa)
        return cls(alphabet, nfa, pattern.counting is r.Counting.RESTART)

    def dfa(self, *, max_states: int = MAX_STATES) -> Dfa:
        """The minimal automaton that is in a final state after each event at which the pattern is detected."""
        return detecting(self.nfa, self.alphabet.n_symbols, restart=self.restart, max_states=max_states)


class _Fragment(NamedTuple):
    """A sub-expression of the position automaton: first edges, last states, and whether it accepts the empty word."""

    first: tuple[NfaEdge, ...]
    last: tuple[int, ...]
    nullable: bool


_EMPTY_WORD = _Fragment((), (), True)


def regex_to_nfa(regex: r.Regex, alphabet: Alphabet, *, max_states: int = MAX_STATES) -> Nfa:
    """The automaton of a regular expression whose guards belong to the alphabet."""
    return _Automata(alphabet, max_states).nfa(regex)


@dataclass(slots=True)
class _Automata:
    """Builds automata over one alphabet, with a cache of those of inner expressions."""

    alphabet: Alphabet
    max_states: int
    known: dict[r.Regex, Nfa] = field(default_factory=dict)

    def nfa(self, regex: r.Regex) -> Nfa:
        if regex not in self.known:
            self.known[regex] = reduced(self._built(regex))
        return self.known[regex]

    def _built(self, regex: r.Regex) -> Nfa:
        match regex:
            case r.RegexComplement(body):
                return complement(self.nfa(body), self.alphabet, max_states=self.max_states)
            case r.Intersect(left, right):
                return product(self.nfa(left), self.nfa(right), self.max_states)
            case _:
                return _Positions(self).nfa(regex)


@dataclass(slots=True)
class _Positions:
    """The position automaton of one expression, built bottom up."""

    inner: _Automata
    edges: list[list[NfaEdge]] = field(default_factory=lambda: [[]])

    def nfa(self, regex: r.Regex) -> Nfa:
        whole = self.fragment(regex)
        self.edges[0].extend(whole.first)
        finals = frozenset(whole.last) | (frozenset({0}) if whole.nullable else frozenset())
        return Nfa(tuple(merged(edges) for edges in self.edges), finals)

    def fragment(self, regex: r.Regex) -> _Fragment:
        match regex:
            case r.Symbol(guard, slot):
                return self.symbol(self.inner.alphabet.symbols_of(guard), () if slot is None else (slot,))
            case r.Epsilon():
                return _EMPTY_WORD
            case r.AnyWord():
                return self.star(self.symbol(self.inner.alphabet.every_event, ()))
            case r.Concat(parts):
                return self.concat(self.fragment(part) for part in parts)
            case r.Union(options):
                return self.union([self.fragment(option) for option in options])
            case r.RegexRepeat(body, low, high):
                return self.repeat(body, low, high)
            case r.RegexComplement() | r.Intersect():
                return self.embedded(self.inner.nfa(regex))
            case _:
                assert_never(regex)

    def new_state(self) -> int:
        if len(self.edges) > self.inner.max_states:
            raise TooManyStates(len(self.edges), self.inner.max_states)
        self.edges.append([])
        return len(self.edges) - 1

    def symbol(self, symbols: int, mark: Mark) -> _Fragment:
        state = self.new_state()
        return _Fragment((NfaEdge(symbols, mark, state),), (state,), False)

    def join(self, head: _Fragment, tail: _Fragment) -> _Fragment:
        for state in head.last:
            self.edges[state].extend(tail.first)
        return _Fragment(
            head.first + tail.first if head.nullable else head.first,
            head.last + tail.last if tail.nullable else tail.last,
            head.nullable and tail.nullable,
        )

    def concat(self, parts: Iterable[_Fragment]) -> _Fragment:
        # from the right: otherwise a long tail of optional parts would be entered at every part
        whole = _EMPTY_WORD
        for part in reversed(list(parts)):
            whole = self.join(part, whole)
        return whole

    def union(self, options: list[_Fragment]) -> _Fragment:
        return _Fragment(
            tuple(edge for option in options for edge in option.first),
            tuple(state for option in options for state in option.last),
            any(option.nullable for option in options),
        )

    def star(self, body: _Fragment) -> _Fragment:
        for state in body.last:
            self.edges[state].extend(body.first)
        return body._replace(nullable=True)

    def repeat(self, body: r.Regex, low: int, high: int | None) -> _Fragment:
        if high is None:
            whole = self.star(self.fragment(body))
        else:
            whole = _EMPTY_WORD
            for _ in range(high - low):
                whole = self.join(self.fragment(body), whole)._replace(nullable=True)
        for _ in range(low):
            whole = self.join(self.fragment(body), whole)
        return whole

    def embedded(self, nfa: Nfa) -> _Fragment:
        shift = len(self.edges) - 1
        for _ in range(nfa.n_states - 1):
            self.new_state()
        moved = [tuple(edge._replace(target=edge.target + shift) for edge in edges) for edges in nfa.edges]
        for state, edges in enumerate(moved[1:], start=1):
            self.edges[state + shift].extend(edges)
        last = tuple(state + shift for state in sorted(nfa.finals) if state)
        return _Fragment(moved[0], last, nfa.nullable)
