"""A program over uncertain streams whose past may change: rows come and go, and so do results with probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage import rows as r
from inkling.live.clocks import NEVER, Marks
from inkling.live.late import no_late_rows
from inkling.live.revision.clocks import RevisionClocks, Windows
from inkling.live.revision.machine import OWNER, Rows
from inkling.live.revision.replay import Replay, Revisable
from inkling.live.revision.snapshot import revisable_from_bytes, revisable_to_bytes
from inkling.live.streams import time_of
from inkling.logical.evaluate import Surroundings
from inkling.model.clock import Measure
from inkling.physical.plan import PhysicalPlan
from inkling.worlds.live.machine import LATE, WorldsMachine
from inkling.worlds.live.program import LiveWorlds, Told, WorldsState
from inkling.worlds.live.snapshot import n_kept
from inkling.worlds.settings import Sampling

RevisableWorlds = Revisable[WorldsState]


class RevisedWorlds:
    """Compiled once; takes checked rows that count from now on, and rows that do not count any more."""

    def __init__(
        self,
        plan: PhysicalPlan,
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        measure: Measure,
        sampling: Sampling,
    ) -> None:
        self.live = LiveWorlds(plan, tables, around, measure, sampling)
        self.windows = Windows.of(self.live.streams, plan.program, measure)
        self._machine = WorldsMachine(self.live)
        self._replay = Replay(self._machine)

    @property
    def readers(self) -> dict[str, list[Windows]]:
        """By stream, the windows by which it is told what comes too late."""
        return {name: [self.windows] for name in self.live.streams}

    def start(self) -> RevisableWorlds:
        return self._replay.start(RevisionClocks.of(self.windows))

    def marks(self, rows: Rows) -> Marks:
        """How far rows say that time has come."""
        return Marks(self.live.marks(rows).latest)

    def advance(
        self, state: RevisableWorlds, added: Rows, withdrawn: Rows, marks: Marks
    ) -> tuple[RevisableWorlds, Told]:
        """Take in what was added and withdrawn; tell what does not hold any more, then what holds by now."""
        added, withdrawn = self._read(added), self._read(withdrawn)
        state, revision = self._replay.advance(state, added, withdrawn, marks)
        gone, found = dict(revision.withdrawn), dict(revision.added)
        gone.pop(LATE, None)
        late = no_late_rows()
        if LATE in found:
            late = self._with_delays(state, found.pop(LATE).drop_columns([OWNER]))
            state = self._without(state, late)
        tables: dict[str, list[pa.Table]] = {}
        for rows, op in ((gone, "-"), (found, "+")):
            for name, table in rows.items():
                tables.setdefault(name, []).append(_with_op(table.drop_columns([OWNER]), op))
        return state, Told({name: pa.concat_tables(some) for name, some in tables.items()}, late, revision.rejects)

    def rewindowed(self, state: RevisableWorlds) -> RevisableWorlds:
        """A state that goes on with the windows that the program has now."""
        return replace(state, clocks=state.clocks.with_windows(self.windows))

    def decided(self, state: RevisableWorlds) -> int:
        """The time up to which all that is known was told."""
        return state.now.decided

    def n_kept(self, state: RevisableWorlds) -> int:
        """Rows, results and open matches that are remembered, in states of before as well."""
        held = sum(len(rows) for kind in (state.pending, state.log, state.told) for rows in kind.values())
        return held + sum(n_kept(one) for one in (state.now, *(before.state for before in state.checkpoints)))

    def to_bytes(self, state: RevisableWorlds) -> bytes:
        return revisable_to_bytes(state, self._machine)

    def from_bytes(self, data: bytes) -> RevisableWorlds:
        return revisable_from_bytes(data, self._machine)

    def _read(self, rows: Rows) -> dict[str, pa.Table]:
        return {name: some for name, some in rows.items() if name in self.live.streams}

    def _with_delays(self, state: RevisableWorlds, late: pa.Table) -> pa.Table:
        """Late rows, by how far the latest row of their stream was ahead of them."""
        latest = [max(state.clocks.latest.get(name, NEVER), state.clocks.closed) for name in late["stream"].to_pylist()]
        delays = np.array(latest, np.int64) - late["time"].to_numpy()
        return late.set_column(late.column_names.index("delay"), "delay", pa.array(delays))

    def _without(self, state: RevisableWorlds, late: pa.Table) -> RevisableWorlds:
        """A row that was reported as too late does not count later on, either."""
        log = dict(state.log)
        for name in late["stream"].unique().to_pylist():
            mine = late.filter(pc.field("stream") == name)
            held = log[name]
            is_meant = pc.is_in(held[r.ID].cast(pa.string()), mine["id"].combine_chunks()).to_numpy()
            is_meant &= np.isin(held[time_of(self.live.streams[name])].to_numpy(), mine["time"].to_numpy())
            log[name] = held.filter(pa.array(~is_meant))
        told = {name: rows for name, rows in state.told.items() if name != LATE}
        return replace(state, log=log, told=told)


def _with_op(table: pa.Table, op: str) -> pa.Table:
    if op == "+":
        return table
    return table.set_column(table.column_names.index("op"), "op", pa.repeat(pa.scalar(op), len(table)))
