"""Rows that can have to do with each other, and so share their worlds; nothing connects one component with another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inkling.evaluators.hashes import Hashes, row_hashes
from inkling.evaluators.worlds.streams.of import WorldStream
from inkling.kernels.components import islands
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class Components:
    """The component of every row, stream by stream; components stand in the order of their keys' hashes, then time."""

    count: int
    of_rows: tuple[Ints, ...]
    keys: Hashes  # per component


def components_of(streams: Sequence[WorldStream], key: Sequence[str], reach: int | None) -> Components:
    """Rows of one key whose possible times lie within `reach` of each other, directly or through others."""
    codes = [row_hashes((stream.rows[name] for name in key), len(stream.rows)) for stream in streams]
    extents = [stream.extents for stream in streams]
    code = np.concatenate(codes)
    low = np.concatenate([low for low, _ in extents])
    high = np.concatenate([high for _, high in extents])
    order = np.lexsort((low, code))
    number = np.empty(len(code), np.int64)
    number[order] = islands(code[order], low[order], high[order], -1 if reach is None else reach)
    borders = np.cumsum([len(one) for one in codes])[:-1]
    _, first = np.unique(number, return_index=True)
    return Components(len(first), tuple(np.split(number, borders)), code[first])
