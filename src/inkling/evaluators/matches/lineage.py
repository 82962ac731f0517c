"""Ids of the events that matches rest on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from inkling.model.batch import EventBatch, Ints, taken


def lineage_ids(batch: EventBatch, offsets: Ints, rows: Ints) -> pa.ListArray:
    """Ids per match, in pattern order; derived events contribute all of theirs."""
    if batch.has_single_ids:
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), taken(batch.ids, rows))
    width = batch.id_offsets[rows + 1] - batch.id_offsets[rows]
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(width)])
    position = np.repeat(batch.id_offsets[rows] - ends[:-1], width) + np.arange(ends[-1])
    return pa.ListArray.from_arrays(pa.array(ends[offsets], pa.int32()), batch.ids.take(pa.array(position)))
