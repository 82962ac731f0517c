"""What is left to do on stage rows where their key is complete: derived columns and the conditions on them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage import rows as r
from inkling.evaluators.stage.batches import source_numbers
from inkling.evaluators.stage.derive import with_derived_columns
from inkling.evaluators.stage.row import Row
from inkling.evaluators.truth import truth_of
from inkling.logical import expr as e
from inkling.logical.evaluate import Surroundings
from inkling.logical.plan import StreamPlan
from inkling.logical.vectorized import evaluate
from inkling.physical.naming import physical_name
from inkling.physical.plan import Input, Stage


def stored_columns(given: Input, stream: StreamPlan) -> dict[str, str]:
    """Physical to logical names of the stored columns that an input's derived columns and late conditions rest on."""
    wanted = {column.rsplit("|", 1)[0] for column in given.columns}
    for expr in given.left_to_worker:
        wanted |= {x.column.rsplit("|", 1)[0] for x in e.walk(expr) if isinstance(x, e.ColumnOf)}
    derived = {column.name: column.expr for column in stream.derived}
    for expr in derived.values():
        wanted |= {x.column for x in e.walk(expr) if isinstance(x, e.ColumnOf | e.PreviousColumn | e.SinceChange)}
    if stream.reset_when is not None:
        wanted |= {x.column for x in e.walk(stream.reset_when) if isinstance(x, e.ColumnOf)}
    wanted |= set(stream.schema.key)
    return {
        physical_name(column.name, column.type): column.name
        for column in stream.schema.columns
        if column.name in wanted and column.name not in derived
    }


def with_late_columns(
    stage: Stage, rows: pa.Table, streams: Mapping[int, StreamPlan], around: Surroundings
) -> pa.Table:
    """Rows of the stage's schema; `streams` names the inputs whose derived columns are still missing."""
    schema = r.stage_schema(stage)
    if not streams and not any(one.left_to_worker for one in stage.inputs):
        return rows.select(schema.names).cast(schema)
    source = source_numbers(rows)
    parts = []
    for number, given in enumerate(stage.inputs):
        mine = rows if len(stage.inputs) == 1 else rows.filter(pa.array(source == number))
        if not len(mine):  # columns of an input that no step of this task reads did not travel
            continue
        if number in streams:
            names = stored_columns(given, streams[number])
            for physical, logical in names.items():
                mine = mine.append_column(logical, mine[physical])
            mine = _in_place(with_derived_columns(streams[number], mine, around), streams[number])
        if number in streams or given.left_to_worker:
            mine = _finished(mine, given, schema, around)
        parts.append(mine.select(schema.names).cast(schema))
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _in_place(rows: pa.Table, stream: StreamPlan) -> pa.Table:
    """The rows with derived columns under their physical names too, where nulls have stood for them."""
    kinds = {column.name: column.type for column in stream.schema.columns}
    for derived in stream.derived:
        physical = physical_name(derived.name, kinds[derived.name])
        if physical in rows.column_names:
            place = rows.column_names.index(physical)
            rows = rows.set_column(place, physical, rows[derived.name].cast(rows.schema.field(physical).type))
    return rows


def _finished(rows: pa.Table, given: Input, schema: pa.Schema, around: Surroundings) -> pa.Table:
    resolve = Row(rows)
    words: dict[str, np.ndarray] = {}
    for bit in given.late:
        name = r.word_name(bit.number >> 6)
        if name not in words:
            words[name] = rows[name].to_numpy().view(np.uint64).copy()
        truth = truth_of(bit.expr, resolve, len(rows), around)
        words[name] |= truth.astype(np.uint64) << np.uint64(bit.number & 63)
    computed = {one.name: evaluate(one.expr, resolve, len(rows), around) for one in given.computed}
    columns = []
    for field in schema:
        if field.name in computed:
            columns.append(computed[field.name].cast(field.type))
        elif field.name in words:
            columns.append(pa.array(words[field.name].view(np.int64)))
        elif field.name in given.columns and "|" in field.name and field.name.rsplit("|", 1)[0] in rows.column_names:
            columns.append(rows[field.name.rsplit("|", 1)[0]].cast(field.type).combine_chunks())
        else:
            columns.append(rows[field.name].combine_chunks())
    return pa.table(columns, schema=schema)
