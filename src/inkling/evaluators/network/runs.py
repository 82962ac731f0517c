"""Ranges written out, and membership of tuples given as columns."""

from __future__ import annotations

import numpy as np

from inkling.model.batch import Ints


def expand(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Every position in the ranges [first, last), with the number of its range."""
    width = np.maximum(last - first, 0)
    owner = np.repeat(np.arange(len(first)), width)
    begins = np.cumsum(width) - width
    return owner, np.arange(len(owner)) - begins[owner] + first[owner]


def is_among(rows: tuple[Ints, ...], known: tuple[Ints, ...]) -> np.ndarray:
    """Whether each row, given as columns, is one of the known rows."""
    n = len(rows[0])
    columns = [np.concatenate(pair) for pair in zip(rows, known, strict=True)]
    is_known = np.concatenate([np.zeros(n, np.int64), np.ones(len(known[0]), np.int64)])
    order = np.lexsort([1 - is_known, *columns[::-1]])
    new = np.ones(len(order), bool)
    if len(order):
        new[1:] = False
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    group = np.cumsum(new) - 1
    known_group = np.zeros(group[-1] + 1 if len(group) else 0, bool)
    known_group[group[is_known[order] == 1]] = True
    among = np.empty(len(order), bool)
    among[order] = known_group[group]
    return among[:n]
