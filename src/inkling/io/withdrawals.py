"""Rows that say an event never happened: which event, and its time if the row has it."""

from __future__ import annotations

import json
import re
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from inkling.model.schema import StreamSchema

EVENT, WITHDRAWAL = "+", "-"
"""What the column that OP names can say."""

_ID, _END, ROW = "@id", "@end", "row"
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


def withdrawals(schema: StreamSchema, ids: pa.Array | pa.ChunkedArray, ends: pa.Array | pa.ChunkedArray) -> pa.Table:
    """A withdrawal each: the id of its event, the end of that if the row has it, and the row for rejects in JSON."""
    return pa.table({_ID: ids, _END: ends, ROW: _rows(schema, ids)})


@cache
def no_withdrawals(id_type: pa.DataType) -> pa.Table:
    return pa.schema([(_ID, id_type), (_END, pa.int64()), (ROW, pa.string())]).empty_table()


def _rows(schema: StreamSchema, ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """What counts of a withdrawal: its id and its op."""
    first, rest = f"{{{json.dumps(schema.id)}: ", f", {json.dumps(schema.op)}: {json.dumps(WITHDRAWAL)}}}"
    return pc.binary_join_element_wise(pa.scalar(first), _as_json(ids), pa.scalar(rest), "")


def _as_json(ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if not pa.types.is_string(ids.type):
        return ids.cast(pa.string())
    if pc.any(pc.match_substring_regex(ids, _ESCAPED.pattern)).as_py():
        return pa.array([json.dumps(one, ensure_ascii=False) for one in ids.to_pylist()], pa.string())
    return pc.binary_join_element_wise(pa.scalar('"'), ids, pa.scalar('"'), "")
