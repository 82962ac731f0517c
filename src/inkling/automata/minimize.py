"""The smallest equal automaton, with numbers that depend on its language alone."""

import numpy as np
import numpy.typing as npt

from inkling.automata.dfa import Dfa


def minimized(dfa: Dfa) -> Dfa:
    """One state per distinguishable future (Moore), numbered breadth first; equal columns are merged."""
    classes = _futures(dfa)
    _, members = np.unique(classes, return_index=True)
    small = Dfa(classes[dfa.delta[members]], dfa.final[members], dfa.columns)
    return _merge_columns(_breadth_first(small, int(classes[0])))


def _futures(dfa: Dfa) -> npt.NDArray[np.int32]:
    """Class of each state, refined by one symbol of look-ahead at a time until nothing splits."""
    _, classes = np.unique(_distances(dfa), return_inverse=True)
    n_classes = 0
    while n_classes < (n_classes := int(classes.max()) + 1):
        before = classes
        for column in range(dfa.n_columns):
            pairs = classes * (n_classes + dfa.n_states) + before[dfa.delta[:, column]]
            _, classes = np.unique(pairs, return_inverse=True)
    return classes.astype(np.int32)


def _distances(dfa: Dfa) -> npt.NDArray[np.int64]:
    """The fewest symbols to a final state, which tells most states apart before any refinement."""
    never = dfa.n_states
    distances = np.where(dfa.final, 0, never)
    while True:
        nearer = np.minimum(distances, distances[dfa.delta].min(axis=1) + 1).clip(max=never)
        if (nearer == distances).all():
            return distances
        distances = nearer


def _breadth_first(dfa: Dfa, start: int) -> Dfa:
    order = [start]
    number = {start: 0}
    for state in order:
        for target in dfa.delta[state].tolist():
            if target not in number:
                number[target] = len(order)
                order.append(target)
    renumbered = np.zeros(dfa.n_states, dtype=np.int32)
    renumbered[order] = np.arange(len(order))
    return Dfa(renumbered[dfa.delta[order]], dfa.final[order], dfa.columns)


def _merge_columns(dfa: Dfa) -> Dfa:
    """Columns keep the order of their first symbol."""
    _, first, merged = np.unique(dfa.delta, axis=1, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    columns = rank[merged.reshape(-1)].astype(np.int32)
    return Dfa(np.ascontiguousarray(dfa.delta[:, np.sort(first)]), dfa.final, columns[dfa.columns])
