"""Ids of rows that have none: by the step that takes them in, their task, and their place in it."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import source_numbers

ROW_BITS, TASK_BITS = 27, 10


def shifted(rows: pa.Table, steps: int, inputs: Iterable[int] | None = None) -> pa.Table:
    """Rows whose ids are unique over all steps; with `inputs`, only ids of rows that belong to these change."""
    ids = rows[r.ID].combine_chunks()
    if pa.types.is_integer(ids.type):
        moved = pc.add(ids, steps << (ROW_BITS + TASK_BITS))
    else:
        moved = pc.binary_join_element_wise(str(steps), ids, ".")
    if inputs is not None:
        chosen = pc.is_in(pa.array(source_numbers(rows)), value_set=pa.array(list(inputs), pa.int16()))
        moved = pc.if_else(chosen, moved, ids)
    return rows.set_column(rows.column_names.index(r.ID), r.ID, moved.cast(ids.type))
