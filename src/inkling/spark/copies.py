"""Columns that repeat another column of their row: they stay behind, and the worker puts them back."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from inkling.evaluators.stage import rows as r
from inkling.logical.plan import ProgramPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.physical.naming import type_of
from inkling.physical.plan import Stage


def copies_in(program: ProgramPlan, stage: Stage) -> dict[str, str]:
    """Names of such columns, and of those they repeat: a key that is also read, an id that is also the order.

    An input that does not supply a column has no row of which anybody reads it.
    """
    copies = {}
    for name in r.columns_of(stage):
        column = name.rsplit("|", 1)[0]
        for place, kind in enumerate(stage.key_types):
            if type_of(name) is kind and all(
                name not in one.columns or one.key[place] == column for one in stage.inputs
            ):
                copies[name] = r.key_name(place)
    if _places_are_ids(program, stage):
        copies[r.PLACE] = r.ID
    return copies


def with_copies(rows: pa.Table, copies: Mapping[str, str]) -> pa.Table:
    """Rows as they were before their copies were left behind; none of their memory is copied."""
    for name, original in copies.items():
        rows = rows.append_column(name, rows[original])
    return rows


def _places_are_ids(program: ProgramPlan, stage: Stage) -> bool:
    streams = [program.stream(one.source) for one in stage.inputs]
    return r.place_type(stage) == ARROW_TYPES[stage.id_type] and all(
        stream is not None and stream.schema.id is not None and stream.schema.order_by == stream.schema.id
        for stream in streams
    )
