"""Results in worlds as rows that travel through Spark: sums over some worlds, estimates, and notes about a run."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage import rows as r
from inkling.logical.plan import EventPlan
from inkling.logical.vectorized import ARROW_TYPES
from inkling.physical.naming import physical_name
from inkling.spark.imprecise.results import ERROR, METHOD, PROBABILITY
from inkling.spark.worker import DETECTED, EVENT
from inkling.worlds.account import Account
from inkling.worlds.combine import Summed, merged
from inkling.worlds.demands import Refusal
from inkling.worlds.estimate import Estimate, shown_values
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
    numbers = (r.START, r.END, DETECTED, IDENTITY, WORLD)
    return pa.schema(
        [
            pa.field(EVENT, pa.int32()),
            pa.field(LOOK, pa.int32()),
            *(pa.field(name, pa.int64()) for name in numbers),
            pa.field(WEIGHT, pa.float64()),
            pa.field(TOKENS, pa.list_(pa.int64())),
            *_value_fields(program),
        ]
    )


def estimates_schema(program: WorldProgram) -> pa.Schema:
    """Estimates; `@identity` and `@tokens` tell undecided results apart."""
    return pa.schema(
        [
            pa.field(EVENT, pa.int32()),
            *(pa.field(name, pa.int64()) for name in (r.START, r.END, DETECTED, IDENTITY)),
            *(pa.field(name, pa.float64()) for name in (PROBABILITY, ERROR)),
            pa.field(METHOD, pa.string()),
            pa.field(TOKENS, pa.list_(pa.int64())),
            *_value_fields(program),
        ]
    )


def _value_fields(program: WorldProgram) -> list[pa.Field]:
    """Values of all events, told apart by name and type, their lineage, and what notes hold."""
    values = {
        physical_name(output.name, output.type): ARROW_TYPES[output.type]
        for event in program.events
        for output in (*event.head, *event.returns)
    }
    kinds = {lineage_name(kind): pa.list_(kind) for kind in program.id_types.values()}
    every = [*sorted(kinds.items()), *sorted(values.items()), (NOTE, pa.binary())]
    return [pa.field(name, kind) for name, kind in every]


def sums_rows(
    number: int, event: EventPlan, look: int, sums: Summed, ids: pa.ListArray, schema: pa.Schema, *, tokens: bool
) -> Iterator[pa.RecordBatch]:
    """Sums of one event; `ids` is their lineage as the user knows it."""
    n = len(sums)
    columns = {
        EVENT: pa.array(np.full(n, number, np.int32)),
        LOOK: pa.array(np.full(n, look, np.int32)),
        r.START: pa.array(sums.start),
        r.END: pa.array(sums.end),
        DETECTED: pa.array(sums.detected_at),
        IDENTITY: pa.array(sums.identity.view(np.int64)),
        WORLD: pa.array(sums.world),
        WEIGHT: pa.array(sums.weight.astype(np.float64)),
        lineage_name(ids.type.value_type): ids,
        **_values(event, sums, 1),
    }
    if tokens:
        columns[TOKENS] = sums.lineage
    yield from _batches(columns, n, schema)


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
    event, results, n = program.events[number], part.results, len(part.results)
    columns = {
        EVENT: pa.array(np.full(n, number, np.int32)),
        r.START: pa.array(results.start // program.scale),
        r.END: pa.array(results.end // program.scale),
        DETECTED: pa.array(results.detected_at // program.scale),
        IDENTITY: pa.array(results.identity.view(np.int64)),
        PROBABILITY: pa.array(part.probability),
        ERROR: pa.array(part.error),
        METHOD: pa.array(part.method, pa.string()),
        lineage_name(ids.type.value_type): ids,
        **_values(event, results, program.scale),
    }
    if TOKENS in results.values.column_names:
        columns[TOKENS] = results.values[TOKENS]
    yield from _batches(columns, n, schema)


def note_rows(note: Note, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    columns = {EVENT: pa.array([ABOUT], pa.int32()), NOTE: pa.array([pickle.dumps(note)], pa.binary())}
    yield from _batches(columns, 1, schema)


def note_of(written: bytes) -> Note:
    """What a worker of this run noted."""
    note = pickle.loads(written)
    assert isinstance(note, Account | Refusal)
    return note


def _values(event: EventPlan, results: Summed, scale: int) -> dict[str, pa.ChunkedArray]:
    names = [physical_name(output.name, output.type) for output in (*event.head, *event.returns)]
    return dict(zip(names, shown_values(event, results, scale), strict=True))


def _batches(columns: dict[str, pa.Array], n: int, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    given = [columns[f.name] if f.name in columns else pa.nulls(n, f.type) for f in schema]
    yield from pa.table(given, schema=schema).to_batches(max_chunksize=100_000)
