"""Stage rows: the row format that all evaluators of a stage share, in the local runner and on Spark.

Columns: key columns, input number, times, place, id, predicate masks (one bit per condition on a single row), and the
physical columns that conditions across events and outputs read.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.io.normalize import END as END
from inkling.io.normalize import ID as ID
from inkling.io.normalize import OWN_ID as OWN_ID
from inkling.io.normalize import PLACE as PLACE
from inkling.io.normalize import START as START
from inkling.logical.vectorized import ARROW_TYPES, BITS_PER_WORD
from inkling.physical.naming import type_of
from inkling.physical.plan import Stage

STAGE_ROWS = "@rows"
"""The name of stage rows in the input of a stage; other rows come under the name of their stream."""

SOURCE = "@source"
"""The number of the input; only in stages with several inputs. START and PLACE, too, are present only if needed."""

IDS, END_PLACE, KNOWN = "@ids", "@end_place", "@known"
"""Only in stages that read derived events: their lineage, the place of their end, and when they were known."""

DEPTH = "@depth"
"""Only in recursions: the depth of a derived row, -1 for other rows."""


def key_name(position: int) -> str:
    return f"@key{position}"


def mask_name(word: int) -> str:
    """Column that holds conditions 64 * word … 64 * word + 63 as a signed integer."""
    return f"@bits{word}"


def n_masks(stage: Stage) -> int:
    return max(1, -(-stage.n_bits // BITS_PER_WORD))


def reads_derived(stage: Stage) -> bool:
    return any(one.is_derived for one in stage.inputs)


def columns_of(stage: Stage) -> tuple[str, ...]:
    """The physical columns of all inputs, sorted."""
    return tuple(sorted({column for one in stage.inputs for column in one.columns}))


def place_type(stage: Stage) -> pa.DataType:
    return pa.string() if stage.text_places else pa.int64()


def stage_schema(stage: Stage) -> pa.Schema:
    """Arrow schema of stage rows."""
    held = _schemas.get(id(stage))
    if held is None or held[0] is not stage:
        if len(_schemas) > MANY_STAGES:
            _schemas.clear()
        held = _schemas[id(stage)] = stage, _stage_schema(stage)
    return held[1]


MANY_STAGES = 1000
_schemas: dict[int, tuple[Stage, pa.Schema]] = {}
"""A cache by the identity of stages, because hashing a stage is expensive."""


def _stage_schema(stage: Stage) -> pa.Schema:
    id_type = ARROW_TYPES[stage.id_type]
    fields = [pa.field(key_name(i), ARROW_TYPES[kind]) for i, kind in enumerate(stage.key_types)]
    if len(stage.inputs) > 1:
        fields.append(pa.field(SOURCE, pa.int16()))
    if any(one.interval for one in stage.inputs):
        fields.append(pa.field(START, pa.int64()))
    fields.append(pa.field(END, pa.int64()))
    if any(one.ordered for one in stage.inputs):
        fields.append(pa.field(PLACE, place_type(stage)))
    fields.append(pa.field(ID, id_type))
    if reads_derived(stage):
        fields += [pa.field(IDS, pa.list_(id_type)), pa.field(END_PLACE, place_type(stage))]
        fields.append(pa.field(KNOWN, pa.int64()))
    fields += [pa.field(mask_name(word), pa.int64()) for word in range(n_masks(stage))]
    fields += [pa.field(name, ARROW_TYPES[type_of(name)]) for name in columns_of(stage)]
    return pa.schema(fields)


MOST_PIECES = 16
"""With more runs of wanted rows, rows are copied instead of sliced."""


def rows_where(table: pa.Table, wanted: NDArray[np.bool_]) -> pa.Table:
    """The wanted rows; a few long runs of them are sliced without a copy."""
    borders = np.flatnonzero(wanted[1:] != wanted[:-1]) + 1
    if len(borders) > 2 * MOST_PIECES:
        return table.filter(pa.array(wanted))
    edges = [0, *borders.tolist(), len(table)]
    pieces = [table.slice(first, last - first) for first, last in pairwise(edges) if first < last and wanted[first]]
    if not pieces:
        return table.slice(0, 0)
    return pieces[0] if len(pieces) == 1 else pa.concat_tables(pieces)


def split_rows(table: pa.Table, wanted: NDArray[np.bool_]) -> tuple[pa.Table, pa.Table]:
    """The wanted rows, and all others."""
    return rows_where(table, wanted), rows_where(table, ~wanted)


def concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenates tables of one schema; empty tables are skipped."""
    some = [table for table in tables if len(table)] or [tables[0]]
    return some[0] if len(some) == 1 else pa.concat_tables(some)
