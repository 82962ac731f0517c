"""Joins in slices: a kernel returns to Python before a second is over, where Ctrl-C and the memory limit count."""

from collections.abc import Callable

import numpy as np

from inkling.evaluators.memory import require_room
from inkling.model.batch import Ints

TESTED_AT_ONCE = 1 << 22
"""Candidates that one call of a kernel tests at most: some tenths of a second at most."""

Pairs = tuple[Ints, Ints]


def pairs_in_slices(
    event: str,
    first: Ints,
    last: Ints,
    n_candidates: int,
    bytes_each: int,
    find: Callable[[slice], Pairs],
    *,
    all_pass: bool,
) -> Pairs:
    """The pairs of partial matches and candidates that `find` returns for slices of the partial matches.

    Partial match i is paired with candidates from first[i] to last[i]. With `all_pass`, every candidate is a pair.
    """
    n_most = len(first) * n_candidates  # known without a look at the arrays, which small batches would pay for
    n_tested = n_most if n_most <= TESTED_AT_ONCE else int((last - first).sum())
    if n_tested <= TESTED_AT_ONCE:
        left, right = find(slice(0, len(first)))
        require_room(event, len(left), bytes_each)
        return left, right
    if all_pass:
        require_room(event, n_tested, bytes_each)
    until = np.cumsum(last - first)
    cuts = np.searchsorted(until, np.arange(TESTED_AT_ONCE, n_tested, TESTED_AT_ONCE), side="right")
    borders = np.unique(np.concatenate([[0], cuts, [len(first)]]))
    lefts, rights, n_found = [], [], 0
    for begin, end in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        left, right = find(slice(begin, end))
        lefts.append(left + begin)
        rights.append(right)
        n_found += len(left)
        require_room(event, n_found, bytes_each)
    return np.concatenate(lefts), np.concatenate(rights)
