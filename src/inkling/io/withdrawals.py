"""Withdrawals: rows that say that an event did not happen, with its id, and its end if the row has one."""

import json
import re
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from inkling.model.schema import StreamSchema

EVENT, WITHDRAWAL = "+", "-"
"""The values of the OP column."""

_ID, _END, ROW = "@id", "@end", "row"
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


def withdrawals(schema: StreamSchema, ids: pa.Array | pa.ChunkedArray, ends: pa.Array | pa.ChunkedArray) -> pa.Table:
    """A table of withdrawals: the id of the event, its end if known, and the row as JSON for rejects."""
    return pa.table({_ID: ids, _END: ends, ROW: _rows(schema, ids)})


@cache
def no_withdrawals(id_type: pa.DataType) -> pa.Table:
    return pa.schema([(_ID, id_type), (_END, pa.int64()), (ROW, pa.string())]).empty_table()


def _rows(schema: StreamSchema, ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The rows as JSON, with id and OP only."""
    first, rest = f"{{{json.dumps(schema.id)}: ", f", {json.dumps(schema.op)}: {json.dumps(WITHDRAWAL)}}}"
    return pc.binary_join_element_wise(pa.scalar(first), _as_json(ids), pa.scalar(rest), "")


def _as_json(ids: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if not pa.types.is_string(ids.type):
        return ids.cast(pa.string())
    if pc.any(pc.match_substring_regex(ids, _ESCAPED.pattern)).as_py():
        return pa.array([json.dumps(one, ensure_ascii=False) for one in ids.to_pylist()], pa.string())
    return pc.binary_join_element_wise(pa.scalar('"'), ids, pa.scalar('"'), "")
