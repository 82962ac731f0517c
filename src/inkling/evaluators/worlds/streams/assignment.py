"""Assignments of rows to worlds: which row happens in which world, and at what time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.hashes import Hashes, combined, hashes_of
from inkling.io.normalize import END, ID, START
from inkling.logical.rewrites.in_worlds import CALLED, WORLD
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema

OWN_TIME = np.int64(-(2**63))
"""Stands for the time that the row itself has."""


ALTERNATIVE = np.uint64(0xFF)
"""The bits of a token that do not count: they distinguish alternatives of one event."""


@dataclass(frozen=True, slots=True)
class WorldAssignment:
    """Row `rows[i]` happens in world `worlds[i]` at `times[i]`, or at its own time where there are no times."""

    rows: Ints
    worlds: Ints
    times: Ints | None = None


def everywhere(n_rows: int, first: int, n_worlds: int, times: Ints | None = None) -> WorldAssignment:
    """All rows in all of some consecutive worlds; `times` has a line per row and a column per world."""
    return WorldAssignment(
        np.repeat(np.arange(n_rows), n_worlds),
        np.tile(np.arange(first, first + n_worlds), n_rows),
        None if times is None else times.reshape(-1),
    )


def tokens_of(schema: StreamSchema, rows: pa.Table, distinguished_by: str) -> Hashes:
    """What events are called in worlds: a hash of stream, KEY and what distinguishes events of a key."""
    name = hashes_of(pa.array([schema.name], pa.string()))
    columns = (rows[column].combine_chunks() for column in (*schema.key, distinguished_by))
    return combined(np.repeat(name, len(rows)), *(hashes_of(column) for column in columns))


def world_rows(
    rows: pa.Table, tokens: Hashes, assignment: WorldAssignment, time_columns: tuple[str, ...], scale: int
) -> pa.Table:
    """Rows of the certain program: the assignment rows with their world and their time there.

    `scale` is how many units of the worlds' clock make one of the stream's; `time_columns` show the time as well.
    """
    chosen = rows.take(pa.array(assignment.rows))
    starts, ends = (rows[name].to_numpy()[assignment.rows] * scale for name in (START, END))
    if assignment.times is not None:
        moved = assignment.times != OWN_TIME
        starts, ends = np.where(moved, assignment.times, starts), np.where(moved, assignment.times, ends)
        for name in time_columns:
            chosen = _with(chosen, name, ends // scale, chosen.schema.field(name).type)
    chosen = _with(_with(chosen, START, starts), END, ends)
    chosen = chosen.append_column(CALLED, chosen[ID])
    chosen = _with(chosen, ID, tokens.view(np.int64)[assignment.rows])
    return chosen.append_column(WORLD, pa.array(assignment.worlds))


def _with(table: pa.Table, name: str, values: Ints, kind: pa.DataType | None = None) -> pa.Table:
    column = pa.array(values) if kind is None else pa.array(values).cast(kind)
    return table.set_column(table.schema.get_field_index(name), name, column)
