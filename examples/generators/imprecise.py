"""Rows with imprecise times: as recorded, with true times, and with recorded times as if they were true.

The record is generated first: it states between which ticks (`lo`, `hi`) a row may have happened, and the true tick is
drawn uniformly from these. So the stated uncertainty is exact.
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
    """The streams of a record in a view."""
    if view == "recorded":
        return dict(recorded)
    return {
        name: pa.schema([one for one in schema if one.name not in OF_THE_RECORD]) for name, schema in recorded.items()
    }


def true_ticks(lo: Integers, hi: Integers, random: BlockRandom) -> Integers:
    """The true time of each row; drawn in every view, so that all views use the same random numbers."""
    return lo + drawn_below(hi - lo + 1, random.unit(lo.shape))


def in_view(rows: pa.RecordBatch, view: View, happened: Integers) -> pa.RecordBatch:
    """Recorded rows in a view, in the order of its times."""
    if view == "recorded":
        return rows
    if view == "true":
        rows = rows.set_column(rows.schema.get_field_index("t"), rows.schema.field("t"), pa.array(happened))
    kept = rows.select([name for name in rows.schema.names if name not in OF_THE_RECORD])
    return kept.take(pa.array(np.argsort(kept["t"].to_numpy(), kind="stable")))
