"""Batched worlds: one stage evaluated in many worlds at once, without a copy of the rows per world.

Conditions on single rows do not depend on the world, unless they read a time that differs between worlds. They are
evaluated once; a batch of worlds is then a list of (row number, world, time), with one key per world and key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators.stage.engine import StageEngine
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.batches import event_batch, key_codes
from inkling.evaluators.stage.rows.prepare import stage_rows
from inkling.evaluators.worlds.program import WorldProgram
from inkling.evaluators.worlds.streams.assignment import OWN_TIME, WorldAssignment
from inkling.evaluators.worlds.streams.world_stream import WorldStream
from inkling.io.normalize import END, ID, START
from inkling.kernels.worlds.order import ABSENT, fill_times, in_canonical_order
from inkling.logical import expr as e
from inkling.logical.rewrites.in_worlds import ORIGINAL_ID, WORLD
from inkling.model.batch import UNORDERED, EventBatch, Ints, MatchBatch, PickedColumns
from inkling.model.runs import changes
from inkling.model.types import Type
from inkling.model.uncertainty import ImpreciseTime, LostEvents
from inkling.physical.naming import physical_name
from inkling.physical.plan import Input, PhysicalPlan

_WORLD_NAME = physical_name(WORLD, Type.INTEGER)


def can_batch(plan: PhysicalPlan, program: WorldProgram) -> bool:
    """Whether a plan is one stage over points, without derived streams, whose conditions do not depend on the world."""
    if any(event.consumption is not None for event in plan.program.events):  # policies order simultaneous rows by id
        return False
    if len(plan.stages) != 1 or any(stream.derived for stream in plan.program.streams):
        return False
    (stage,) = plan.stages
    declared = {stream.schema.name: stream.schema for stream in program.streams}
    for given in stage.inputs:
        if given.is_derived or given.atoms or given.interval or given.source not in declared:
            return False
        uncertainty = declared[given.source].uncertainty
        if isinstance(uncertainty, ImpreciseTime | LostEvents):
            moving = (
                {uncertainty.lo, uncertainty.hi}
                if isinstance(uncertainty, ImpreciseTime)
                else {declared[given.source].start}
            )
            if _reads_time(given, moving):
                return False
    return not stage.text_places


def _reads_time(given: Input, moving: set[str]) -> bool:
    """Whether an input reads a time column that differs between worlds."""
    exprs = [*(bit.expr for bit in (*given.early, *given.late)), *(one.expr for one in given.computed)]
    if given.keep is not None:
        exprs.append(given.keep)
    asked = any(
        isinstance(part, e.TimeOf) or (isinstance(part, e.ColumnOf) and part.column.rsplit("|", 1)[0] in moving)
        for expr in exprs
        for part in e.walk(expr)
    )
    return asked or any(column.rsplit("|", 1)[0] in moving for column in given.columns)


class _WorldColumns(PickedColumns):
    """Columns of rows of worlds: picked from the rows of the data, plus the number of the world."""

    __slots__ = ("_world",)

    def __init__(self, columns: Mapping[str, pa.Array], rows: Ints, world: Ints) -> None:
        super().__init__(columns, rows)
        self._world = world

    def __getitem__(self, name: str) -> pa.Array:
        return pa.array(self._world) if name == _WORLD_NAME else super().__getitem__(name)

    def picked(self, rows: Ints) -> _WorldColumns:
        return _WorldColumns(self._columns, self._rows[rows], self._world[rows])


@dataclass(frozen=True, slots=True)
class BatchedWorlds:
    """The prepared rows of a stage, from which batches of worlds are made.

    A *line* is the number of a row among the rows of all streams.
    """

    engine: StageEngine
    rows: EventBatch
    columns: Mapping[str, pa.Array]
    line: Ints  # per row
    rank: Ints  # per row: its order among simultaneous rows
    keys: Ints  # key k has the rows keys[k]:keys[k + 1]
    first_lines: Mapping[str, int]  # by stream
    own_times: Ints  # per line, on the clock of the worlds

    @classmethod
    def of(
        cls, plan: PhysicalPlan, program: WorldProgram, streams: Sequence[WorldStream], tables: Mapping[str, pa.Table]
    ) -> BatchedWorlds:
        (stage,) = plan.stages
        parts, first_lines, own_times, n_lines = [], {}, [], 0
        named = {stream.schema.name: stream for stream in streams}
        for number, given in enumerate(stage.inputs):
            stream = named[given.source]
            if given.source not in first_lines:
                first_lines[given.source] = n_lines
                own_times.append(stream.rows[END].to_numpy() * program.scale)
                n_lines += len(stream.rows)
            lines = first_lines[given.source] + np.arange(len(stream.rows))
            table = stream.rows.append_column(ORIGINAL_ID, stream.rows[ID])
            table = table.set_column(table.schema.get_field_index(ID), ID, pa.array(stream.tokens.view(np.int64)))
            for name in (START, END):
                scaled = pa.array(table[name].to_numpy() * program.scale)
                table = table.set_column(table.schema.get_field_index(name), name, scaled)
            table = table.append_column(WORLD, pa.array(np.zeros(len(table), np.int64)))
            table = table.append_column("@line", pa.array(lines))
            parts.append(stage_rows(stage, number, table, tables, program.context, keep_column="@line"))
        rows = pa.concat_tables(parts).combine_chunks()
        codes, _ = key_codes(rows, len(stage.key_types))
        lines = rows["@line"].to_numpy()
        order = np.lexsort((rows[r.END].to_numpy(), codes))
        rows, codes, lines = rows.take(pa.array(order)).combine_chunks(), codes[order], lines[order]
        # each row gets a key of its own, so that rows are neither reordered nor dropped as repeats
        batch = event_batch(stage, rows.drop_columns(["@line"]), np.arange(len(rows)))
        return cls(
            StageEngine(stage, tables, program.context),
            batch,
            {name: rows[name].combine_chunks() for name in r.columns_of(stage)},
            lines,
            _ranks(stage.inputs, batch, rows),
            np.append(np.flatnonzero(changes(codes)), len(codes)),
            first_lines,
            np.concatenate(own_times) if own_times else np.empty(0, np.int64),
        )

    def matches(self, assignment: Mapping[str, WorldAssignment], first: int, n_worlds: int) -> dict[str, MatchBatch]:
        """The matches of all events of the stage in `n_worlds` worlds from `first` on."""
        times = np.full((len(self.own_times), n_worlds), ABSENT)
        for name, begin in self.first_lines.items():
            one = assignment[name]
            lines = begin + one.rows
            moments = self.own_times[lines]
            if one.times is not None:
                moments = np.where(one.times == OWN_TIME, moments, one.times)
            fill_times(times, lines, one.worlds, moments, first)
        n_keys = len(self.keys) - 1
        row, key, time = in_canonical_order(self.keys, self.line, self.rank, times, n_keys)
        world = first + key // max(1, n_keys)
        base = self.rows
        batch = EventBatch(
            key,
            base.source[row],
            time,
            base.start_place[row],
            time,
            base.end_place[row],
            time,
            np.arange(len(row)),
            base.bits[row],
            _WorldColumns(self.columns, row, world),
            np.arange(len(row) + 1),
            pa.array(base.ids.to_numpy()[row]),
        )
        return self.engine.run_batch(batch)


def _ranks(inputs: Sequence[Input], batch: EventBatch, rows: pa.Table) -> Ints:
    """The order of simultaneous rows: by place, source and id."""
    names = sorted({one.source for one in inputs})
    source = np.array([names.index(one.source) for one in inputs], np.int64)[batch.source]
    place = np.where(np.abs(batch.end_place) >= UNORDERED, 0, batch.end_place)
    order = np.lexsort((rows[r.ID].to_numpy(), source, place))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank
