"""Application of withdrawals to a complete table; the order of its rows does not matter."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.io.duplicates import with_distinct_ids
from inkling.io.normalize import ID, Normalized
from inkling.io.rejects import NO_REJECTS, REJECTS_SCHEMA, Reason
from inkling.io.withdrawals import ROW, no_withdrawals
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import ImpreciseTime

DETAILS = {
    Reason.NOTHING_TO_WITHDRAW: "there is no event with this id",
    Reason.WITHDRAWN_TWICE: "the event with this id was withdrawn already",
}
"""Details of rejected withdrawals."""


def corrected_stream(schema: StreamSchema, read: Normalized) -> Normalized:
    """The stream without its withdrawals and the events that they withdraw."""
    if schema.op is None:
        return read
    rows, rejects = corrected(schema, read.rows, read.withdrawals)
    return replace(
        read,
        rows=rows,
        rejects=pa.concat_tables([read.rejects, rejects]),
        withdrawals=no_withdrawals(rows.schema.field(ID).type),
    )


def corrected(schema: StreamSchema, rows: pa.Table, withdrawals: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Rows that are not withdrawn, one per id, and rejects for duplicates and for withdrawals without effect."""
    repeated = NO_REJECTS
    if ids_are_distinct(schema):
        rows, repeated = with_distinct_ids(schema, rows)
    if not len(withdrawals):
        return rows, repeated
    ids = withdrawals[ID].combine_chunks()
    again = np.ones(len(ids), bool)
    first = pa.table({ID: ids, "@row": np.arange(len(ids))}).group_by(ID).aggregate([("@row", "min")])
    again[first["@row_min"].to_numpy()] = False
    unknown = ~again & pc.invert(pc.is_in(ids, rows[ID].combine_chunks())).to_numpy(zero_copy_only=False)
    kept = rows.filter(pc.invert(pc.is_in(rows[ID], ids)))
    rejected = [
        rejected_withdrawals(schema, withdrawals.filter(pa.array(unknown)), Reason.NOTHING_TO_WITHDRAW),
        rejected_withdrawals(schema, withdrawals.filter(pa.array(again)), Reason.WITHDRAWN_TWICE),
    ]
    return kept, pa.concat_tables([repeated, *rejected])


def ids_are_distinct(schema: StreamSchema) -> bool:
    """Whether an id names one row of a stream with OP; alternatives and numbered events may share one."""
    return schema.uncertainty is None or isinstance(schema.uncertainty, ImpreciseTime)


def rejected_withdrawals(schema: StreamSchema, withdrawals: pa.Table, reason: Reason) -> pa.Table:
    """Rejects for withdrawals without effect."""
    n = len(withdrawals)
    shown = (schema.name, reason.value, DETAILS[reason])
    columns = [*(pa.repeat(pa.scalar(one), n) for one in shown), withdrawals[ROW], withdrawals[ID].cast(pa.string())]
    return pa.table(columns, schema=REJECTS_SCHEMA)
