"""A pattern made ready to run: its alphabet and its automata."""

from collections.abc import Sequence
from dataclasses import dataclass

from inkling.automata.build import regex_to_nfa
from inkling.automata.determinize import detecting
from inkling.automata.dfa import Dfa
from inkling.automata.guards import Alphabet, Guard
from inkling.automata.limits import MAX_STATES
from inkling.automata.meaning import Counting, Pattern
from inkling.automata.minterms import Joint
from inkling.automata.nfa import Nfa, marked_only
from inkling.automata.regex import guards_of


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """The marked automaton of a pattern, from which everything else follows."""

    alphabet: Alphabet
    nfa: Nfa
    restart: bool

    @classmethod
    def of(
        cls,
        pattern: Pattern,
        n_streams: int,
        *,
        exclusive: Sequence[frozenset[int]] = (),
        joint: Sequence[Joint] = (),
        extras: Sequence[Guard] = (),
        max_states: int = MAX_STATES,
    ) -> "CompiledPattern":
        """`extras` are guards that tell symbols apart although the pattern does not ask for them."""
        alphabet = Alphabet.of((*guards_of(pattern.regex), *extras), n_streams, exclusive=exclusive, joint=joint)
        nfa = regex_to_nfa(pattern.regex, alphabet, max_states=max_states)
        if pattern.marked_only:
            nfa = marked_only(nfa)
        return cls(alphabet, nfa, pattern.counting is Counting.RESTART)

    def dfa(self, *, max_states: int = MAX_STATES) -> Dfa:
        """The smallest automaton that is in a final state wherever the pattern is detected."""
        return detecting(self.nfa, self.alphabet.n_symbols, restart=self.restart, max_states=max_states)
