"""Rows whose time is not exact: as they were recorded, as they happened, and with recorded times taken for true.

The record comes first: it says between which ticks (`lo`, `hi`) a row may have happened, and the tick at which it did
is drawn evenly from these. So the stated uncertainty is all the uncertainty there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa

from .randomness import BlockRandom, Integers, drawn_below

View: TypeAlias = Literal["recorded", "true", "naive"]

OF_THE_RECORD = frozenset({"lo", "hi", "skew"})
"""Columns that say how inexact a row is."""


def streams_in(view: View, recorded: Mapping[str, pa.Schema]) -> dict[str, pa.Schema]:
    """What the streams of a record look like in a view."""
    if view == "recorded":
        return dict(recorded)
    return {
        name: pa.schema([one for one in schema if one.name not in OF_THE_RECORD]) for name, schema in recorded.items()
    }


def true_ticks(lo: Integers, hi: Integers, random: BlockRandom) -> Integers:
    """When each row happened; to be drawn in every view, so that all of them draw alike."""
    return lo + drawn_below(hi - lo + 1, random.unit(lo.shape))


def in_view(rows: pa.RecordBatch, view: View, happened: Integers) -> pa.RecordBatch:
    """Recorded rows in a view, in the order of its times."""
    if view == "recorded":
        return rows
    if view == "true":
        rows = rows.set_column(rows.schema.get_field_index("t"), rows.schema.field("t"), pa.array(happened))
    kept = rows.select([name for name in rows.schema.names if name not in OF_THE_RECORD])
    return kept.take(pa.array(np.argsort(kept["t"].to_numpy(), kind="stable")))
