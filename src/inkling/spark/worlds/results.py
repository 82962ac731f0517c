"""Results in worlds as rows that travel through Spark: sums over some worlds, estimates, and notes about a run."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage import rows as r
from inkling.logical.plan import EventPlan
from inkling.physical.naming import physical_name
from inkling.spark.results import (
    DETECTED,
    ESTIMATED,
    EVENT,
    LINEAGE,
    event_column,
    filled,
    in_batches,
    leading_fields,
    result_columns,
    value_columns,
    value_fields,
)
from inkling.worlds.account import Account
from inkling.worlds.combine import Summed, merged
from inkling.worlds.demands import Refusal
from inkling.worlds.estimate import Estimate
from inkling.worlds.program import WorldProgram

LOOK, IDENTITY, WORLD, WEIGHT, TOKENS = "@look", "@identity", "@world", "@weight", "@tokens"
NOTE = "@note"

COUNTED, SAMPLED, FURTHER = 0, 1, 2
"""Looks at worlds: all of them, a sample, and a further sample for what was undecided."""

ABOUT = -1
"""Stands for the number of the event in rows that are notes about the run."""

Note = Account | Refusal


def lineage_name(kind: pa.DataType) -> str:
    """Column with the ids of base events, which are texts for some events and numbers for others."""
    return f"@lineage {kind}"


def sums_schema(program: WorldProgram) -> pa.Schema:
    """Sums over some worlds; `@tokens` has the lineage as worlds know it, as far as somebody will ask."""
    return pa.schema(
        [
            *leading_fields(),
            pa.field(LOOK, pa.int32()),
            *(pa.field(name, pa.int64()) for name in (IDENTITY, WORLD)),
            pa.field(WEIGHT, pa.float64()),
            pa.field(TOKENS, pa.list_(pa.int64())),
            *_value_fields(program),
        ]
    )


def estimates_schema(program: WorldProgram) -> pa.Schema:
    """Estimates; `@identity` and `@tokens` tell undecided results apart."""
    return pa.schema(
        [
            *leading_fields(),
            *ESTIMATED,
            pa.field(IDENTITY, pa.int64()),
            pa.field(TOKENS, pa.list_(pa.int64())),
            *_value_fields(program),
        ]
    )


def _value_fields(program: WorldProgram) -> list[pa.Field]:
    """Values of all events, told apart by name and type, their lineage, and what notes hold."""
    kinds = {lineage_name(kind): pa.list_(kind) for kind in program.id_types.values()}
    lineage = [pa.field(name, kind) for name, kind in sorted(kinds.items())]
    return [*lineage, *value_fields(program.events), pa.field(NOTE, pa.binary())]


def sums_rows(
    number: int, event: EventPlan, look: int, sums: Summed, ids: pa.ListArray, schema: pa.Schema, *, tokens: bool
) -> Iterator[pa.RecordBatch]:
    """Sums of one event; `ids` is their lineage as the user knows it."""
    n = len(sums)
    columns = {
        EVENT: event_column(number, n),
        LOOK: pa.array(np.full(n, look, np.int32)),
        r.START: pa.array(sums.start),
        r.END: pa.array(sums.end),
        DETECTED: pa.array(sums.detected_at),
        IDENTITY: pa.array(sums.identity.view(np.int64)),
        WORLD: pa.array(sums.world),
        WEIGHT: pa.array(sums.weight.astype(np.float64)),
        lineage_name(ids.type.value_type): ids,
        **value_columns(event, sums.values),
    }
    if tokens:
        columns[TOKENS] = sums.lineage
    yield from in_batches(filled(columns, schema))


def sums_of(rows: pa.Table, number: int, look: int, program: WorldProgram) -> Summed:
    """Sums of one event over all worlds looked at; `lineage` holds ids here, and the values hold the tokens."""
    event = program.events[number]
    mine = rows.filter(pc.and_(pc.equal(rows[EVENT], number), pc.equal(rows[LOOK], look))).combine_chunks()
    outputs = {output.name: mine[physical_name(output.name, output.type)] for output in (*event.head, *event.returns)}
    return merged(
        Summed(
            mine[IDENTITY].to_numpy().view(np.uint64),
            mine[WORLD].to_numpy(),
            mine[WEIGHT].to_numpy(),
            mine[r.START].to_numpy(),
            mine[r.END].to_numpy(),
            mine[DETECTED].to_numpy(),
            pa.table({**outputs, TOKENS: mine[TOKENS]}),
            mine[lineage_name(program.id_types[event.name])].combine_chunks(),
        )
    )


def estimate_rows(
    number: int, program: WorldProgram, part: Estimate, ids: pa.ListArray, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Estimates of one event, with times on the clock of the streams."""
    event, results = program.events[number], part.results
    columns = result_columns(number, event, part.matches(event, ids, program.scale))
    columns[lineage_name(ids.type.value_type)] = columns.pop(LINEAGE)
    columns[IDENTITY] = pa.array(results.identity.view(np.int64))
    if TOKENS in results.values.column_names:
        columns[TOKENS] = results.values[TOKENS]
    yield from in_batches(filled(columns, schema))


def note_rows(note: Note, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    columns = {EVENT: pa.array([ABOUT], pa.int32()), NOTE: pa.array([pickle.dumps(note)], pa.binary())}
    yield from in_batches(filled(columns, schema))


def note_of(written: bytes) -> Note:
    """What a worker of this run noted."""
    note = pickle.loads(written)
    assert isinstance(note, Account | Refusal)
    return note
