"""Which rows happen in which possible world: alternatives with probabilities, and assignments of rows to worlds.

A stream makes independent choices: the tick of an event with an imprecise time, the value of a probable event, the
order of lost events. Each choice has alternatives with probabilities (`Alternatives`). A world takes one alternative of
each choice; which rows then happen in it, and when, is a `WorldAssignment`.

A *token* is a hash of 64 bits that names an event in all worlds: of its stream, its KEY and its id, time or number. The
lowest 8 bits distinguish alternatives of one event (`ALTERNATIVE`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.io.normalize import END, ID, START
from inkling.logical.rewrites.in_worlds import ORIGINAL_ID, WORLD
from inkling.model.batch import Ints
from inkling.model.hashes import Hashes, combined, hashes_of
from inkling.model.schema import StreamSchema

OWN_TIME = np.int64(-(2**63))
"""In place of a time: the row keeps its own time."""


ALTERNATIVE = np.uint64(0xFF)
"""The lowest bits of a token. They distinguish alternatives of one event; without them, tokens name events."""


@dataclass(frozen=True, slots=True)
class WorldAssignment:
    """Row `rows[i]` happens in world `worlds[i]` at `times[i]` on the worlds' clock.

    Without `times`, at its own time.
    """

    rows: Ints
    worlds: Ints
    times: Ints | None = None

    def take(self, chosen: Ints) -> WorldAssignment:
        times = None if self.times is None else self.times[chosen]
        return WorldAssignment(self.rows[chosen], self.worlds[chosen], times)


def everywhere(n_rows: int, first: int, n_worlds: int, times: Ints | None = None) -> WorldAssignment:
    """All rows in each of `n_worlds` consecutive worlds from `first` on; `times` is [row, world]."""
    return WorldAssignment(
        np.repeat(np.arange(n_rows), n_worlds),
        np.tile(np.arange(first, first + n_worlds), n_rows),
        None if times is None else times.reshape(-1),
    )


def tokens_of(schema: StreamSchema, rows: pa.Table, distinguished_by: str) -> Hashes:
    """The token of each row: a hash of its stream, its KEY and the column that distinguishes events of a key."""
    name = hashes_of(pa.array([schema.name], pa.string()))
    columns = (rows[column].combine_chunks() for column in (*schema.key, distinguished_by))
    return combined(np.repeat(name, len(rows)), *(hashes_of(column) for column in columns))


def world_rows(
    rows: pa.Table, tokens: Hashes, assignment: WorldAssignment, time_columns: tuple[str, ...], scale: int
) -> pa.Table:
    """Input rows of the certain program: each assigned row with its world, and its time in that world.

    One unit of the streams' clock is `scale` units of the worlds' clock. Columns of `time_columns` get the time, too.
    The id column holds tokens; original ids move to the column `ORIGINAL_ID`.
    """
    chosen = rows.take(pa.array(assignment.rows))
    starts, ends = (rows[name].to_numpy()[assignment.rows] * scale for name in (START, END))
    if assignment.times is not None:
        moved = assignment.times != OWN_TIME
        starts, ends = np.where(moved, assignment.times, starts), np.where(moved, assignment.times, ends)
        for name in time_columns:
            chosen = _with(chosen, name, ends // scale, chosen.schema.field(name).type)
    chosen = _with(_with(chosen, START, starts), END, ends)
    chosen = chosen.append_column(ORIGINAL_ID, chosen[ID])
    chosen = _with(chosen, ID, tokens.view(np.int64)[assignment.rows])
    return chosen.append_column(WORLD, pa.array(assignment.worlds))


def _with(table: pa.Table, name: str, values: Ints, kind: pa.DataType | None = None) -> pa.Table:
    column = pa.array(values) if kind is None else pa.array(values).cast(kind)
    return table.set_column(table.schema.get_field_index(name), name, column)


Weights = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]
"""Probabilities of worlds as floats or fractions, or numbers of worlds."""


class WeightType(Enum):
    """The number type of probabilities: fractions are exact and slow."""

    FLOAT = "float"
    FRACTION = "fraction"


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The alternatives of several choices, one after the other."""

    sizes: Ints  # per choice: the number of its alternatives
    weights: Weights  # per alternative: its probability
    n_placed: Ints  # per alternative: the number of rows that happen in it
    rows: Ints  # per row of an alternative: its number in the stream
    times: Ints  # per row of an alternative: its time on the worlds' clock, or `OWN_TIME`


@dataclass(frozen=True, slots=True)
class Alternative:
    """One alternative of a choice: its probability, and (row, time) for each row that happens in it."""

    weight: Fraction
    assignment: tuple[tuple[int, int], ...]


def listed(choices: Iterable[list[Alternative]], numbers: WeightType) -> Alternatives:
    """Lists of alternatives, one per choice, as arrays."""
    choices = list(choices)
    each = [one for choice in choices for one in choice]
    assignment = [pair for one in each for pair in one.assignment]
    return Alternatives(
        np.array([len(choice) for choice in choices], np.int64),
        weights_of([one.weight for one in each], numbers),
        np.array([len(one.assignment) for one in each], np.int64),
        np.array([row for row, _ in assignment], np.int64),
        np.array([time for _, time in assignment], np.int64),
    )


def weights_of(fractions: list[Fraction], numbers: WeightType) -> Weights:
    if numbers is WeightType.FLOAT:
        return np.array([float(one) for one in fractions], np.float64)
    exact = np.empty(len(fractions), object)
    exact[:] = fractions
    return exact
