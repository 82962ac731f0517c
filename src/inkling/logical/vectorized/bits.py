"""Conditions packed as bits: condition i is bit i % 64 of word i // 64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
