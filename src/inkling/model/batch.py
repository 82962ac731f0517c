"""The columnar contract: events of many keys enter an evaluator, matches leave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints = NDArray[np.int64]
UNORDERED = np.int64(2**62)
"""Place of an event without `ORDER BY`: it starts before and ends after everything simultaneous."""

FOREVER = 2**62
"""A watermark that no event can pass."""


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Rows of one stage, sorted by (key, end, place, start, source, id).

    `key` is a code of the partition; codes stay the same from batch to batch. `source` indexes the stage's list of
    inputs. Rows that stand for the same event (a stream and its joins with tables) share `event`, which counts up in
    canonical order. `bits[:, w]` holds the truth of local conditions 64w … 64w + 63.
    """

    key: Ints
    source: NDArray[np.int16]
    start: Ints
    start_place: Ints
    end: Ints
    end_place: Ints
    known: Ints  # when the event was certain to have happened: its end, or later for derived events
    event: Ints
    bits: NDArray[np.uint64]
    columns: Mapping[str, pa.Array]
    id_offsets: Ints
    ids: pa.Array

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, slots=True)
class MatchBatch:
    """Results of one event: `values` by output name, `lineage` a list of event ids per result."""

    event: str
    key: Ints
    start: Ints
    start_place: Ints
    end: Ints
    end_place: Ints
    detected_at: Ints
    values: Mapping[str, pa.Array]
    lineage: pa.ListArray

    def __len__(self) -> int:
        return len(self.key)
