"""Rows and results that are kept, each with the time up to which the machine went when it had them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage.chosen import rows_where
from inkling.runtime.revision.machine import GIVEN, OWNER, Rows

MANY_CHUNKS = 64


def said_columns(rows: pa.Table) -> list[str]:
    """The columns with what results say."""
    return [name for name in rows.column_names if name != GIVEN]


def own_columns(rows: pa.Table) -> list[str]:
    """The columns that rows had before they were kept."""
    return [name for name in rows.column_names if name not in (OWNER, GIVEN)]


def given(rows: pa.Table, until: int) -> pa.Table:
    """Rows with the time up to which the machine went when it took them in, or told them."""
    return rows.append_column(GIVEN, pa.array(np.full(len(rows), until)))


def append(held: dict[str, pa.Table], name: str, rows: pa.Table) -> None:
    """Keep rows behind those that are kept already."""
    both = pa.concat_tables([held[name], rows]) if name in held else rows
    held[name] = both.combine_chunks() if both.column(0).num_chunks > MANY_CHUNKS else both


def given_after(held: Rows, after: int) -> Rows:
    """What is left when all up to a time is forgotten."""
    kept = {name: rows_where(rows, rows[GIVEN].to_numpy() > after) for name, rows in held.items()}
    return {name: rows.combine_chunks() for name, rows in kept.items() if len(rows)}
