"""Expressions over whole Arrow columns at once, with the values that `logical.evaluate` defines.

Enters: a bound expression and, for each of its references, a column. Leaves: one Arrow array of its values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.logical.vectorized.columns import ARROW_TYPES, Reference, evaluate, references_of

__all__ = [
    "ARROW_TYPES",
    "BITS_PER_WORD",
    "Reference",
    "evaluate",
    "pack_bits",
    "references_of",
    "words_to_bits",
]


BITS_PER_WORD = 64


def pack_bits(conditions: Sequence[pa.Array], n_rows: int) -> NDArray[np.uint64]:
    """One row of words per row; at least one word.

    >>> pack_bits([pa.array([True, False]), pa.array([True, True])], 2).tolist()
    [[3], [2]]
    """
    n_words = max(1, -(-len(conditions) // BITS_PER_WORD))
    words = np.zeros((n_words, n_rows), dtype=np.uint64)
    for number, truth in enumerate(conditions):
        bit = np.uint64(number % BITS_PER_WORD)
        words[number // BITS_PER_WORD] |= truth.to_numpy(zero_copy_only=False).astype(np.uint64) << bit
    return np.ascontiguousarray(words.T)


def words_to_bits(columns: Sequence[pa.Array], n_rows: int) -> NDArray[np.uint64]:
    """The same from columns of signed integers, which are all that Spark has."""
    if not columns:
        return np.zeros((n_rows, 1), dtype=np.uint64)
    return np.stack([column.to_numpy().view(np.uint64) for column in columns], axis=1)
