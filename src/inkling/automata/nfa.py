"""Nondeterministic automata without empty moves, whose edges say which slots an event fills."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from inkling.automata.limits import TooManyStates

Mark: TypeAlias = tuple[int, ...]  # the slots an event fills, in order; none when it is skipped


class NfaEdge(NamedTuple):
    symbols: int  # a set, one bit per symbol
    mark: Mark
    target: int


@dataclass(frozen=True, slots=True)
class Nfa:
    """States by number; state 0 is where words start and no edge leads back to it."""

    edges: tuple[tuple[NfaEdge, ...], ...]
    finals: frozenset[int]

    def __post_init__(self) -> None:
        if any(edge.target == 0 for edges in self.edges for edge in edges):
            raise ValueError("no edge may lead to the start state")

    @property
    def n_states(self) -> int:
        return len(self.edges)

    @property
    def nullable(self) -> bool:
        return 0 in self.finals


def merged(edges: Iterable[NfaEdge]) -> tuple[NfaEdge, ...]:
    """The same edges in a fixed order, one for each mark and target."""
    symbols: dict[tuple[Mark, int], int] = {}
    for edge in edges:
        key = (edge.mark, edge.target)
        symbols[key] = symbols.get(key, 0) | edge.symbols
    return tuple(NfaEdge(symbols[key], *key) for key in sorted(symbols) if symbols[key])


def reachable(successors: Mapping[int, Iterable[int]], roots: Iterable[int]) -> list[int]:
    """The states that can be reached from some others, themselves included, breadth first."""
    found = dict.fromkeys(roots)
    order = list(found)
    for state in order:
        for target in successors.get(state, ()):
            if target not in found:
                found[target] = None
                order.append(target)
    return order


def trimmed(nfa: Nfa) -> Nfa:
    """Without the states that no word passes through on its way from the start to a final state."""
    forward = {state: [edge.target for edge in edges] for state, edges in enumerate(nfa.edges)}
    backward: dict[int, list[int]] = {}
    for state, targets in forward.items():
        for target in targets:
            backward.setdefault(target, []).append(state)
    useful = set(reachable(backward, sorted(nfa.finals)))
    order = [state for state in reachable(forward, [0]) if state == 0 or state in useful]
    number = {state: index for index, state in enumerate(order)}
    kept = ([edge for edge in nfa.edges[state] if edge.target in number] for state in order)
    edges = tuple(merged(edge._replace(target=number[edge.target]) for edge in group) for group in kept)
    return Nfa(edges, frozenset(number[state] for state in nfa.finals if state in number))


def quotient(nfa: Nfa, classes: Sequence[int]) -> Nfa:
    """One state for each class of states that have the same future; class 0 is that of the start alone."""
    edges: dict[int, tuple[NfaEdge, ...]] = {}
    for state in range(nfa.n_states):
        if classes[state] not in edges:
            edges[classes[state]] = merged(edge._replace(target=classes[edge.target]) for edge in nfa.edges[state])
    finals = frozenset(classes[state] for state in nfa.finals)
    return Nfa(tuple(edges[index] for index in range(len(edges))), finals)


def bisimilar(nfa: Nfa) -> list[int]:
    """Classes of states with the same future, marks included, numbered by first member."""
    lengths = _word_lengths(nfa)
    numbers: dict[object, int] = {}
    classes = [
        numbers.setdefault((state == 0, state in nfa.finals, lengths[state]), len(numbers))
        for state in range(nfa.n_states)
    ]
    n_classes = 0
    while n_classes < (n_classes := len(set(classes))):
        numbers = {}
        classes = [
            numbers.setdefault(
                (classes[state], merged(edge._replace(target=classes[edge.target]) for edge in nfa.edges[state])),
                len(numbers),
            )
            for state in range(nfa.n_states)
        ]
    return classes


def _word_lengths(nfa: Nfa) -> list[tuple[int, int]]:
    """For each state the fewest events to a final state, and the most, -1 when there is no most.

    States with the same future agree in both, which distinguishes the states of a long chain at once.
    """
    backward: dict[int, list[int]] = {state: [] for state in range(nfa.n_states)}
    open_ends = [0] * nfa.n_states
    for state, edges in enumerate(nfa.edges):
        for target in {edge.target for edge in edges}:
            backward[target].append(state)
            open_ends[state] += 1
    fewest = dict.fromkeys(sorted(nfa.finals), 0)
    order = list(fewest)
    for target in order:
        for state in backward[target]:
            if state not in fewest:
                fewest[state] = fewest[target] + 1
                order.append(state)
    # what is left with open ends after peeling off dead ends can go around a cycle
    most = dict.fromkeys(range(nfa.n_states), 0)
    peeled = [state for state in range(nfa.n_states) if not open_ends[state]]
    for target in peeled:
        for state in backward[target]:
            most[state] = max(most[state], most[target] + 1)
            open_ends[state] -= 1
            if not open_ends[state]:
                peeled.append(state)
    return [(fewest.get(state, -1), -1 if open_ends[state] else most[state]) for state in range(nfa.n_states)]


# Beyond this size looking for equal futures takes longer than it saves.
MAX_REDUCED = 10_000


def reduced(nfa: Nfa) -> Nfa:
    """The same marked words with fewer states."""
    small = trimmed(nfa)
    if small.n_states > MAX_REDUCED:
        return small
    return trimmed(quotient(small, bisimilar(small)))


def marked_only(nfa: Nfa) -> Nfa:
    """Without the words that can be read without filling any slot."""
    unmarked = {state: [edge.target for edge in edges if not edge.mark] for state, edges in enumerate(nfa.edges)}
    if nfa.finals.isdisjoint(reachable(unmarked, [0])):
        return nfa
    n_states = nfa.n_states
    still_empty = tuple(
        tuple(edge._replace(target=edge.target + (n_states if edge.mark else 0)) for edge in edges)
        for edges in nfa.edges
    )
    filled = tuple(tuple(edge._replace(target=edge.target + n_states) for edge in edges) for edges in nfa.edges)
    return reduced(Nfa(still_empty + filled, frozenset(state + n_states for state in nfa.finals)))


def product(left: Nfa, right: Nfa, limit: int) -> Nfa:
    """Words that both automata accept, each event filling the slots of both sides."""
    number = {(0, 0): 0}
    order = [(0, 0)]
    edges: list[tuple[NfaEdge, ...]] = []
    for one, other in order:
        out = []
        for a in left.edges[one]:
            for b in right.edges[other]:
                symbols = a.symbols & b.symbols
                if not symbols:
                    continue
                pair = (a.target, b.target)
                if pair not in number:
                    number[pair] = len(order)
                    order.append(pair)
                    if len(order) > limit:
                        raise TooManyStates(len(order), limit)
                out.append(NfaEdge(symbols, tuple(sorted({*a.mark, *b.mark})), number[pair]))
        edges.append(merged(out))
    finals = frozenset(
        index for index, (one, other) in enumerate(order) if one in left.finals and other in right.finals
    )
    return Nfa(tuple(edges), finals)
