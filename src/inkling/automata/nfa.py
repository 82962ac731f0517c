"""Nondeterministic automata without empty moves, whose edges are marked with the slots that an event fills."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from inkling.automata.limits import StateNumbers

Mark: TypeAlias = tuple[int, ...]  # the slots that an event fills, in order; empty if it is skipped


class NfaEdge(NamedTuple):
    symbols: int  # set of symbols, one bit each
    mark: Mark
    target: int


@dataclass(frozen=True, slots=True)
class Nfa:
    """Edges and final states; state 0 is the start and has no incoming edges."""

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
    """The edges in a fixed order, merged to one per mark and target."""
    symbols: dict[tuple[Mark, int], int] = {}
    for edge in edges:
        key = (edge.mark, edge.target)
        symbols[key] = symbols.get(key, 0) | edge.symbols
    return tuple(NfaEdge(symbols[key], *key) for key in sorted(symbols) if symbols[key])


def reachable(successors: Mapping[int, Iterable[int]], roots: Iterable[int]) -> list[int]:
    """The states that are reachable from the roots, roots included, in breadth-first order."""
    found = dict.fromkeys(roots)
    order = list(found)
    for state in order:
        for target in successors.get(state, ()):
            if target not in found:
                found[target] = None
                order.append(target)
    return order


def trimmed(nfa: Nfa) -> Nfa:
    """The automaton without states that are on no path from the start to a final state."""
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
    """The quotient by classes of bisimilar states; class 0 has only the start."""
    edges: dict[int, tuple[NfaEdge, ...]] = {}
    for state in range(nfa.n_states):
        if classes[state] not in edges:
            edges[classes[state]] = merged(edge._replace(target=classes[edge.target]) for edge in nfa.edges[state])
    finals = frozenset(classes[state] for state in nfa.finals)
    return Nfa(tuple(edges[index] for index in range(len(edges))), finals)


def bisimilar(nfa: Nfa) -> list[int]:
    """Classes of bisimilar states, marks included, numbered by first member."""
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
    """Per state the fewest and the most events to a final state; -1 if unbounded.

    Bisimilar states agree in both: an initial partition that separates the states of a long chain.
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
    # states that remain after removing dead ends one by one can reach a cycle
    most = dict.fromkeys(range(nfa.n_states), 0)
    peeled = [state for state in range(nfa.n_states) if not open_ends[state]]
    for target in peeled:
        for state in backward[target]:
            most[state] = max(most[state], most[target] + 1)
            open_ends[state] -= 1
            if not open_ends[state]:
                peeled.append(state)
    return [(fewest.get(state, -1), -1 if open_ends[state] else most[state]) for state in range(nfa.n_states)]


# Beyond this size, computing bisimilar states takes longer than it saves.
MAX_REDUCED = 10_000


def reduced(nfa: Nfa) -> Nfa:
    """An automaton of the same marked words with fewer states."""
    small = trimmed(nfa)
    if small.n_states > MAX_REDUCED:
        return small
    return trimmed(quotient(small, bisimilar(small)))


def marked_only(nfa: Nfa) -> Nfa:
    """The automaton without words that fill no slot."""
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
    """The product: words that both automata accept; an event fills the slots of both."""
    number = StateNumbers((0, 0), limit)
    edges: list[tuple[NfaEdge, ...]] = []
    for one, other in number.order:
        out = []
        for a in left.edges[one]:
            for b in right.edges[other]:
                symbols = a.symbols & b.symbols
                if symbols:
                    target = number[a.target, b.target]
                    out.append(NfaEdge(symbols, tuple(sorted({*a.mark, *b.mark})), target))
        edges.append(merged(out))
    finals = frozenset(
        index for index, (one, other) in enumerate(number.order) if one in left.finals and other in right.finals
    )
    return Nfa(tuple(edges), finals)
