"""A program over uncertain streams whose past may change: rows come and go, and so do results with probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pyarrow as pa

from inkling.evaluators.sampling import Sampling
from inkling.live.chain import concatenated
from inkling.live.clocks import Marks
from inkling.live.late import no_late_rows
from inkling.live.revision.clocks import RevisionClocks, Windows
from inkling.live.revision.machine import Rows
from inkling.live.revision.replay import Replay, Revisable
from inkling.live.revision.rounding import Rounding
from inkling.live.revision.snapshot import revisable_from_bytes, revisable_to_bytes
from inkling.logical.evaluate import Surroundings
from inkling.model.clock import Measure
from inkling.physical.plan import PhysicalPlan
from inkling.probable.live import SPARE
from inkling.runtime.registry import Maker
from inkling.runtime.uncertain.late_findings import LateFindings
from inkling.runtime.uncertain.machine import LATE, WorldsMachine
from inkling.runtime.uncertain.net import net_of, shown
from inkling.runtime.uncertain.program import LiveWorlds, Told, WorldsState
from inkling.runtime.uncertain.snapshot import from_bytes, n_kept, to_bytes

RevisableWorlds = Revisable[WorldsState]

ESTIMATED = Rounding(("probability", "error", "chance", "expected"), SPARE)
"""Sums of probabilities depend on how rows are cut, a little."""


class RevisedWorlds:
    """Compiled once; takes checked rows that count from now on, and rows that do not count any more."""

    def __init__(
        self,
        plan: PhysicalPlan,
        tables: Mapping[str, pa.Table],
        around: Surroundings,
        measure: Measure,
        sampling: Sampling,
        makers: Mapping[str, Maker] | None = None,
    ) -> None:
        self.live = LiveWorlds(plan, tables, around, measure, sampling, makers)
        self.windows = Windows.of(self.live.streams, plan.program, measure)
        self._machine = WorldsMachine(self.live)
        self._replay = Replay(self._machine, ESTIMATED)

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
        state, revision = self._replay.advance(state, self._read(added), self._read(withdrawn), marks)
        revisions, late = [revision], [no_late_rows()]
        while LATE in revision.added:
            found = LateFindings.of(state, revision.added[LATE], self.live.streams)
            late.append(found.hopeless)
            state = found.removed_from(state)
            if found.since is None:
                break
            state, revision = self._replay.again(state, found.since)
            revisions.append(revision)
        tables = {name: shown(*both) for name, both in net_of(revisions).items() if name != LATE}
        return state, Told(tables, concatenated(late), concatenated([one.rejects for one in revisions]))

    def rewindowed(self, state: RevisableWorlds) -> RevisableWorlds:
        """A state that goes on with the windows that the program has now."""
        return replace(state, clocks=state.clocks.with_windows(self.windows))

    def decided(self, state: RevisableWorlds) -> int:
        """The time up to which all that is known was told."""
        return state.now.decided

    def n_kept(self, state: RevisableWorlds) -> int:
        """Rows, results and open matches that are remembered, in states of before as well."""
        held = sum(len(rows) for kind in (state.pending, state.log, state.told) for rows in kind.values())
        return held + sum(
            n_kept(one, self.live.exact) for one in (state.now, *(before.state for before in state.checkpoints))
        )

    def to_bytes(self, state: RevisableWorlds) -> bytes:
        return revisable_to_bytes(state, partial(to_bytes, exact=self.live.exact))

    def from_bytes(self, data: bytes) -> RevisableWorlds:
        return revisable_from_bytes(data, partial(from_bytes, exact=self.live.exact))

    def _read(self, rows: Rows) -> dict[str, pa.Table]:
        return {name: some for name, some in rows.items() if name in self.live.streams}
