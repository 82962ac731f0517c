"""Which stage rows pass the tests of some leaves, before they are events."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import source_numbers
from inkling.physical.plan import LeafTest


def passing(rows: pa.Table, tests: Iterable[LeafTest]) -> NDArray[np.bool_]:
    """Whether each row comes from an input of one of the leaves and has all its bits."""
    words: dict[int, NDArray[np.uint64]] = {}
    source = source_numbers(rows) if r.SOURCE in rows.column_names else None
    passed = np.zeros(len(rows), bool)
    for test in tests:
        fits = np.ones(len(rows), bool) if source is None else np.isin(source, test.inputs)
        for bit in test.bits:
            if bit >> 6 not in words:
                words[bit >> 6] = rows[r.word_name(bit >> 6)].to_numpy().view(np.uint64)
            fits &= (words[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0
        passed |= fits
    return passed
