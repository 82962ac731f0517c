"""Replay: after a change in the past, return to the last checkpoint before it, replay the rows, emit the difference.

ETALIS revises results incrementally, rule by rule (Anicic 2011, sections 9.2 and 9.3). Replay needs no such rules: it
works around any machine. If few keys are concerned, only their states are split off, replayed and merged back.

    checkpoint ---- change ------ now
         |____ replayed rows _____|     results after the checkpoint are compared with the emitted ones
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.rows.format import rows_where
from inkling.evaluators.stage.rows.keys import is_among
from inkling.model.runs import changes, places_in_runs
from inkling.model.watermarks import NEVER, Watermarks
from inkling.runtime.buffered import BufferedState
from inkling.runtime.revision.clocks import RevisionClocks
from inkling.runtime.revision.contents import content_hashes
from inkling.runtime.revision.delta import (
    Delta,
    DeltaBuilder,
    all_emitted,
    append,
    own_columns,
    stepped_after,
    with_step_time,
)
from inkling.runtime.revision.machine import EXACT, OWNER, STEP_TIME, Owners, ReplayMachine, Rounding, Rows


def marked_rows(machine: ReplayMachine, name: str, held: pa.Table, withdrawn: pa.Table) -> NDArray[np.bool_]:
    """Which kept rows the withdrawals mean: all rows with the identity, or as many as were withdrawn."""
    gone = np.zeros(len(held), bool)
    if OWNER in held.column_names:  # compare only rows of the same keys
        near = is_among(held[OWNER].to_numpy(), np.unique(machine.owners(name, withdrawn)))
        gone[near] = _marked(machine, name, rows_where(held, near), withdrawn)
        return gone
    return _marked(machine, name, held, withdrawn)


def _marked(machine: ReplayMachine, name: str, held: pa.Table, withdrawn: pa.Table) -> NDArray[np.bool_]:
    codes, _ = machine.identities(name, held)
    wanted, all_meant = machine.identities(name, withdrawn)
    gone = np.isin(codes, wanted[all_meant])
    single, counts = np.unique(wanted[~all_meant], return_counts=True)
    near = np.flatnonzero(np.isin(codes, single))
    if len(near):
        # an event joined with table facts has one row per fact: of each group of equal rows, one belongs to the event
        stepped = content_hashes(rows_where(held, np.isin(codes, single)), own_columns(held))
        order = np.lexsort((stepped, codes[near]))
        place = places_in_runs(changes(codes[near][order]) | changes(stepped[order]))
        gone[near[order[place < counts[np.searchsorted(single, codes[near][order])]]]] = True
    return gone


S = TypeVar("S")

MOST_CHECKPOINTS = 4
SPARE_ROWS = 256
"""A new checkpoint is made after this many rows plus a quarter of the log."""


@dataclass(frozen=True, slots=True)
class Checkpoint(Generic[S]):
    """The state after all rows up to a time."""

    until: int
    state: S


@dataclass(frozen=True, slots=True)
class Revisable(Generic[S]):
    """The state of a machine, its checkpoints, and the rows and results since the oldest checkpoint."""

    clocks: RevisionClocks
    until: int
    now: S
    checkpoints: tuple[Checkpoint[S], ...]
    pending: Rows = field(default_factory=dict)  # rows after the watermark
    log: Rows = field(default_factory=dict)  # ingested rows, with `OWNER` and `STEP_TIME`
    emitted: Rows = field(default_factory=dict)  # results, with `OWNER` and `STEP_TIME`
    n_fresh: int = 0  # rows ingested after the newest checkpoint


ReplayState = Revisable[BufferedState]


class Replay:
    """Steps one machine, and replays it after a change."""

    def __init__(self, machine: ReplayMachine, rounding: Rounding = EXACT) -> None:
        self._machine, self._rounding = machine, rounding

    def start(self, clocks: RevisionClocks) -> ReplayState:
        first = self._machine.start()
        return Revisable(clocks, NEVER, first, (Checkpoint(NEVER, self._machine.live.copied(first)),))

    def advance(
        self, state: ReplayState, added: Rows, withdrawn: Rows, watermarks: Watermarks
    ) -> tuple[ReplayState, Delta]:
        """Ingests added and withdrawn rows, all of which are after the settled time."""
        delta = DeltaBuilder(self._rounding)
        state, change = self._ingested(state, added, withdrawn)
        state = replace(state, clocks=state.clocks.after(watermarks))
        if change is None:
            state = self._stepped(state, delta)
        elif (owners := self._concerned(state, change)) is None:
            state, _ = self._released(state)
            state = self._revised(state, change.since, None, delta)
        else:
            state = self._stepped(self._revised(state, change.since, owners, delta), delta)
        return self._collected(state), delta.build()

    def again(self, state: ReplayState, since: int) -> tuple[ReplayState, Delta]:
        """Replay all rows since a time in one step."""
        delta, first = DeltaBuilder(self._rounding), self._before(state, since)
        state = replace(state, checkpoints=state.checkpoints[: first + 1])
        return self._revised(state, since, None, delta), delta.build()

    def _ingested(self, state: ReplayState, added: Rows, withdrawn: Rows) -> tuple[ReplayState, _Change | None]:
        pending, log = dict(state.pending), dict(state.log)
        since, owners = [], []
        for name, rows in withdrawn.items():
            for held in (pending, log):
                if name in held and len(rows):
                    gone = marked_rows(self._machine, name, held[name], rows)
                    if not gone.any():
                        continue
                    if held is log:
                        lost = rows_where(held[name], gone)
                        since.append(int(lost[STEP_TIME].to_numpy().min()))
                        owners.append(lost[OWNER].to_numpy())
                    held[name] = rows_where(held[name], ~gone)
        for name, rows in added.items():
            if not len(rows):
                continue
            # a stage with idle streams may emit results of settled times: they count right after the oldest checkpoint
            times = np.maximum(self._machine.times(name, rows), state.checkpoints[0].until + 1)
            past = times <= state.until
            if past.any():
                late = rows_where(rows, past)
                borders = self._borders_after(state, times[past])
                since.append(int(times[past].min()))
                owners.append(self._machine.owners(name, late))
                append(
                    log,
                    name,
                    late.append_column(OWNER, pa.array(owners[-1])).append_column(STEP_TIME, pa.array(borders)),
                )
                rows = rows_where(rows, ~past)
            if len(rows):
                append(pending, name, rows)
        state = replace(state, pending=pending, log=log)
        return state, _Change(min(since), np.unique(np.concatenate(owners))) if since else None

    def _borders_after(self, state: ReplayState, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """For rows in the past, the time of the first checkpoint after each, or of the current state."""
        borders = np.array([*(one.until for one in state.checkpoints), state.until], np.int64)
        return borders[np.searchsorted(borders[:-1], times)]

    def _concerned(self, state: ReplayState, change: _Change) -> Owners | None:
        """The keys to replay; None: all keys, because they are most of the rows, or states cannot be split."""
        if not self._machine.is_divisible:
            return None
        begin = state.checkpoints[self._before(state, change.since)].until
        n_all = n_own = 0
        for rows in state.log.values():
            later = rows[STEP_TIME].to_numpy() > begin
            n_all += int(np.count_nonzero(later))
            n_own += int(np.count_nonzero(later & is_among(rows[OWNER].to_numpy(), change.owners)))
        return None if 2 * n_own > n_all else change.owners

    def _revised(self, state: ReplayState, since: int, owners: Owners | None, delta: DeltaBuilder) -> ReplayState:
        """Replay the current rows from the last checkpoint before a change."""
        machine, first = self._machine, self._before(state, since)
        begin = state.checkpoints[first].until
        log = {name: self._of_owners(name, rows, owners, begin) for name, rows in state.log.items()}
        at, reached = begin, self._part(state.checkpoints[first].state, owners)
        found: dict[str, list[pa.Table]] = {}
        checkpoints = list(state.checkpoints[: first + 1])
        for checkpoint in state.checkpoints[first + 1 :]:
            reached = self._replayed(reached, log, at, checkpoint.until, found)
            at = checkpoint.until
            repaired = self._repaired(checkpoint.state, machine.live.copied(reached), owners)
            checkpoints.append(Checkpoint(at, repaired))
        reached = self._replayed(reached, log, at, state.until, found)
        emitted = delta.corrected(state.emitted, found, owners, begin)
        return replace(
            state, now=self._repaired(state.now, reached, owners), checkpoints=tuple(checkpoints), emitted=emitted
        )

    def _before(self, state: ReplayState, time: int) -> int:
        """The number of the newest checkpoint before a time."""
        found = [number for number, one in enumerate(state.checkpoints) if one.until < time]
        assert found, "changes are after the settled time"
        return found[-1]

    def _replayed(
        self, state: BufferedState, log: Rows, after: int, until: int, found: dict[str, list[pa.Table]]
    ) -> BufferedState:
        if until <= after:
            return state
        rows = {}
        for name, held in log.items():
            come = held[STEP_TIME].to_numpy()
            rows[name] = rows_where(held, (come > after) & (come <= until)).drop_columns([OWNER, STEP_TIME])
        state, stepped = self._machine.advance(state, rows, until)
        for name, table in all_emitted(stepped.results, stepped.rejects):
            if len(table):
                found.setdefault(name, []).append(with_step_time(table, until))
        return state

    def _part(self, state: BufferedState, owners: Owners | None) -> BufferedState:
        return self._machine.live.copied(state) if owners is None else self._machine.live.split(state, owners)[0]

    def _repaired(self, state: BufferedState, part: BufferedState, owners: Owners | None) -> BufferedState:
        """A state in which the state of some keys is replaced."""
        return part if owners is None else self._machine.live.merge(self._machine.live.split(state, owners)[1], part)

    def _of_owners(self, name: str, rows: pa.Table, owners: Owners | None, after: int) -> pa.Table:
        chosen = rows[STEP_TIME].to_numpy() > after
        if owners is not None and len(rows):
            chosen &= is_among(rows[OWNER].to_numpy(), owners)
        return rows if chosen.all() else rows_where(rows, chosen)

    def _stepped(self, state: ReplayState, delta: DeltaBuilder) -> ReplayState:
        """Ingests the rows up to the watermark, and emits their results."""
        released, ready = self._released(state)
        if released.until == state.until:
            return state
        now, stepped = self._machine.advance(state.now, ready, released.until)
        emitted = delta.added(state.emitted, dict(all_emitted(stepped.results, stepped.rejects)), released.until)
        return replace(released, now=now, emitted=emitted)

    def _released(self, state: ReplayState) -> tuple[ReplayState, Rows]:
        """The state without the pending rows up to the watermark, and these rows."""
        until = state.clocks.decided
        if until <= state.until:
            return state, {}
        pending, log, ready = {}, dict(state.log), {}
        for name, rows in state.pending.items():
            come = self._machine.times(name, rows) <= until
            if not come.all():
                pending[name] = rows_where(rows, ~come)
            if come.any():
                ready[name] = rows_where(rows, come)
                owners = pa.array(self._machine.owners(name, ready[name]))
                append(log, name, with_step_time(ready[name].append_column(OWNER, owners), until))
        n_fresh = state.n_fresh + sum(map(len, ready.values()))
        return replace(state, until=until, pending=pending, log=log, n_fresh=n_fresh), ready

    def _collected(self, state: ReplayState) -> ReplayState:
        """Adds a checkpoint if many rows came since the last one; drops what is before the final time."""
        checkpoints, n_fresh = state.checkpoints, state.n_fresh
        n_held = sum(map(len, state.log.values()))
        is_over = state.clocks.settled >= state.until > checkpoints[-1].until
        if n_fresh > SPARE_ROWS + n_held // MOST_CHECKPOINTS or is_over:
            checkpoints, n_fresh = (*checkpoints, Checkpoint(state.until, self._machine.live.copied(state.now))), 0
        oldest = max(
            number for number, one in enumerate(checkpoints) if not number or one.until <= state.clocks.settled
        )
        checkpoints = _thinned(checkpoints[oldest:])
        begin = checkpoints[0].until
        if begin == state.checkpoints[0].until:
            return replace(state, checkpoints=checkpoints, n_fresh=n_fresh)
        log, emitted = stepped_after(state.log, begin), stepped_after(state.emitted, begin)
        return replace(state, checkpoints=checkpoints, n_fresh=n_fresh, log=log, emitted=emitted)


@dataclass(frozen=True, slots=True)
class _Change:
    since: int  # the first time that changes
    owners: Owners


def _thinned(checkpoints: tuple[Checkpoint[S], ...]) -> tuple[Checkpoint[S], ...]:
    """The oldest checkpoint, and at most three others."""
    while len(checkpoints) > MOST_CHECKPOINTS:
        checkpoints = checkpoints[::2] if len(checkpoints) % 2 else (checkpoints[0], *checkpoints[1::2])
    return checkpoints
