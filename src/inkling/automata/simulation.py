"""Which states of an automaton can do everything that another can."""

from typing import TypeAlias

from inkling.automata.nfa import Nfa, reachable
from inkling.automata.symbols import Moves, members

Cover: TypeAlias = tuple[int, ...]  # by state: the set of states that can do all it can

# Finding the relation takes time quadratic in the states; without it the automaton is only larger.
MAX_SIMULATED = 1_500


def simulation(nfa: Nfa, moves: Moves, finals: int) -> Cover:
    """For each state the states that accept after every word after which it does, step by step."""
    n_states = nfa.n_states
    if n_states > MAX_SIMULATED:
        return tuple(1 << state for state in range(n_states))
    everyone = (1 << n_states) - 1
    sources: list[dict[int, int]] = [{} for _ in range(moves.classes.n_classes)]
    for state, targets in enumerate(moves.targets):
        for index, reached in targets:
            for target in members(reached):
                sources[index][target] = sources[index].get(target, 0) | 1 << state
    cover = [finals if finals >> state & 1 else everyone for state in range(n_states)]
    # states far from the start first, since a state depends on its successors
    forward = {state: [edge.target for edge in edges] for state, edges in enumerate(nfa.edges)}
    order = reachable(forward, [0])[::-1]
    changed = True
    while changed:
        changed = False
        for state in order:
            able = cover[state]
            for index, reached in moves.targets[state]:
                for target in members(reached):
                    able &= _into(cover[target], sources[index])
            changed |= able != cover[state]
            cover[state] = able
    return tuple(cover)


def drop_covered(states: int, cover: Cover) -> int:
    """The set without the states whose words are all accepted from another of its states."""
    for state in members(states):
        if states & cover[state] & ~(1 << state):
            states &= ~(1 << state)
    return states


def _into(targets: int, sources: dict[int, int]) -> int:
    """The states with a move into one of the targets."""
    found = 0
    for target, states in sources.items():
        if targets >> target & 1:
            found |= states
    return found
