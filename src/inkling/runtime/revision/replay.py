"""A machine whose past may change: it goes back to before the change, and tells what is different by now."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.evaluators.stage.chosen import rows_where
from inkling.evaluators.stage.owners import is_among
from inkling.model.watermarks import NEVER, Marks
from inkling.runtime.revision.clocks import RevisionClocks
from inkling.runtime.revision.held import append, given, given_after
from inkling.runtime.revision.machine import GIVEN, OWNER, Machine, Owners, Rows
from inkling.runtime.revision.news import News, Revision, all_said
from inkling.runtime.revision.rounding import EXACT, Rounding
from inkling.runtime.revision.withdrawing import marked_rows

S = TypeVar("S")

MOST_CHECKPOINTS = 4
SPARE_ROWS = 256


@dataclass(frozen=True, slots=True)
class Checkpoint(Generic[S]):
    """A state that has taken in all rows up to a time."""

    until: int
    state: S


@dataclass(frozen=True, slots=True)
class Revisable(Generic[S]):
    """Where a machine stands, where it stood before, and what happened since its oldest checkpoint."""

    clocks: RevisionClocks
    until: int
    now: S
    checkpoints: tuple[Checkpoint[S], ...]
    pending: Rows = field(default_factory=dict)  # rows whose time has not come
    log: Rows = field(default_factory=dict)
    told: Rows = field(default_factory=dict)
    n_fresh: int = 0  # rows that were taken in after the newest checkpoint


class Replay(Generic[S]):
    """Drives one machine; its states are values of their own."""

    def __init__(self, machine: Machine[S], rounding: Rounding = EXACT) -> None:
        self._machine, self._rounding = machine, rounding

    def start(self, clocks: RevisionClocks) -> Revisable[S]:
        first = self._machine.start()
        return Revisable(clocks, NEVER, first, (Checkpoint(NEVER, self._machine.copied(first)),))

    def advance(self, state: Revisable[S], added: Rows, withdrawn: Rows, marks: Marks) -> tuple[Revisable[S], Revision]:
        """Take in rows and withdrawals of rows; none of them lies before what is settled."""
        news = News(self._rounding)
        state, change = self._taken_in(state, added, withdrawn)
        state = replace(state, clocks=state.clocks.after(marks))
        if change is None:
            state = self._gone_on(state, news)
        elif (owners := self._concerned(state, change)) is None:
            state, _ = self._released(state)
            state = self._revised(state, change.since, None, news)
        else:
            state = self._gone_on(self._revised(state, change.since, owners, news), news)
        return self._collected(state), news.revision()

    def again(self, state: Revisable[S], since: int) -> tuple[Revisable[S], Revision]:
        """Go once more over all that happened since a time, this time without a stop."""
        news, first = News(self._rounding), self._before(state, since)
        state = replace(state, checkpoints=state.checkpoints[: first + 1])
        return self._revised(state, since, None, news), news.revision()

    def _taken_in(self, state: Revisable[S], added: Rows, withdrawn: Rows) -> tuple[Revisable[S], _Change | None]:
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
                        since.append(int(lost[GIVEN].to_numpy().min()))
                        owners.append(lost[OWNER].to_numpy())
                    held[name] = rows_where(held[name], ~gone)
        for name, rows in added.items():
            if not len(rows):
                continue
            # a stage whose streams were idle tells what others have settled without it: it counts as soon as it can
            times = np.maximum(self._machine.times(name, rows), state.checkpoints[0].until + 1)
            past = times <= state.until
            if past.any():
                late = rows_where(rows, past)
                borders = self._borders_after(state, times[past])
                since.append(int(times[past].min()))
                owners.append(self._machine.owners(name, late))
                append(
                    log, name, late.append_column(OWNER, pa.array(owners[-1])).append_column(GIVEN, pa.array(borders))
                )
                rows = rows_where(rows, ~past)
            if len(rows):
                append(pending, name, rows)
        state = replace(state, pending=pending, log=log)
        return state, _Change(min(since), np.unique(np.concatenate(owners))) if since else None

    def _borders_after(self, state: Revisable[S], times: NDArray[np.int64]) -> NDArray[np.int64]:
        """For rows of the past, the checkpoint that has them taken in, or now."""
        borders = np.array([*(one.until for one in state.checkpoints), state.until], np.int64)
        return borders[np.searchsorted(borders[:-1], times)]

    def _concerned(self, state: Revisable[S], change: _Change) -> Owners | None:
        """The keys that a change concerns; None if they are so many that nothing is won by telling them apart."""
        if not self._machine.is_divisible:
            return None
        begin = state.checkpoints[self._before(state, change.since)].until
        n_all = n_own = 0
        for rows in state.log.values():
            later = rows[GIVEN].to_numpy() > begin
            n_all += int(np.count_nonzero(later))
            n_own += int(np.count_nonzero(later & is_among(rows[OWNER].to_numpy(), change.owners)))
        return None if 2 * n_own > n_all else change.owners

    def _revised(self, state: Revisable[S], since: int, owners: Owners | None, news: News) -> Revisable[S]:
        """Go back to before a change, and from there on again with the rows that hold by now."""
        machine, first = self._machine, self._before(state, since)
        begin = state.checkpoints[first].until
        log = {name: self._of_owners(name, rows, owners, begin) for name, rows in state.log.items()}
        at, reached = begin, self._part(state.checkpoints[first].state, owners)
        found: dict[str, list[pa.Table]] = {}
        checkpoints = list(state.checkpoints[: first + 1])
        for checkpoint in state.checkpoints[first + 1 :]:
            reached = self._go(reached, log, at, checkpoint.until, found)
            at = checkpoint.until
            repaired = self._repaired(checkpoint.state, machine.copied(reached), owners)
            checkpoints.append(Checkpoint(at, repaired))
        reached = self._go(reached, log, at, state.until, found)
        told = news.corrected(state.told, found, owners, begin)
        return replace(state, now=self._repaired(state.now, reached, owners), checkpoints=tuple(checkpoints), told=told)

    def _before(self, state: Revisable[S], time: int) -> int:
        """The number of the newest checkpoint before a time."""
        found = [number for number, one in enumerate(state.checkpoints) if one.until < time]
        assert found, "nothing that is settled can change"
        return found[-1]

    def _go(self, state: S, log: Rows, after: int, until: int, found: dict[str, list[pa.Table]]) -> S:
        if until <= after:
            return state
        rows = {}
        for name, held in log.items():
            come = held[GIVEN].to_numpy()
            rows[name] = rows_where(held, (come > after) & (come <= until)).drop_columns([OWNER, GIVEN])
        state, said = self._machine.advance(state, rows, until)
        for name, table in all_said(said.results, said.rejects):
            if len(table):
                found.setdefault(name, []).append(given(table, until))
        return state

    def _part(self, state: S, owners: Owners | None) -> S:
        return self._machine.copied(state) if owners is None else self._machine.only(state, owners)

    def _repaired(self, state: S, part: S, owners: Owners | None) -> S:
        """A state with what is remembered of some keys put in the place of what it knew of them."""
        return part if owners is None else self._machine.joined(self._machine.without(state, owners), part)

    def _of_owners(self, name: str, rows: pa.Table, owners: Owners | None, after: int) -> pa.Table:
        chosen = rows[GIVEN].to_numpy() > after
        if owners is not None and len(rows):
            chosen &= is_among(rows[OWNER].to_numpy(), owners)
        return rows if chosen.all() else rows_where(rows, chosen)

    def _gone_on(self, state: Revisable[S], news: News) -> Revisable[S]:
        """Rows whose time has come are taken in, and what they prove is told."""
        released, ready = self._released(state)
        if released.until == state.until:
            return state
        now, said = self._machine.advance(state.now, ready, released.until)
        told = news.added(state.told, dict(all_said(said.results, said.rejects)), released.until)
        return replace(released, now=now, told=told)

    def _released(self, state: Revisable[S]) -> tuple[Revisable[S], Rows]:
        """Rows whose time has come are waited for no longer; those rows."""
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
                append(log, name, given(ready[name].append_column(OWNER, owners), until))
        n_fresh = state.n_fresh + sum(map(len, ready.values()))
        return replace(state, until=until, pending=pending, log=log, n_fresh=n_fresh), ready

    def _collected(self, state: Revisable[S]) -> Revisable[S]:
        """A new checkpoint where many rows came since the last; what no revision can reach any more is forgotten."""
        checkpoints, n_fresh = state.checkpoints, state.n_fresh
        n_held = sum(map(len, state.log.values()))
        is_over = state.clocks.settled >= state.until > checkpoints[-1].until
        if n_fresh > SPARE_ROWS + n_held // MOST_CHECKPOINTS or is_over:
            checkpoints, n_fresh = (*checkpoints, Checkpoint(state.until, self._machine.copied(state.now))), 0
        oldest = max(
            number for number, one in enumerate(checkpoints) if not number or one.until <= state.clocks.settled
        )
        checkpoints = _thinned(checkpoints[oldest:])
        begin = checkpoints[0].until
        if begin == state.checkpoints[0].until:
            return replace(state, checkpoints=checkpoints, n_fresh=n_fresh)
        log, told = given_after(state.log, begin), given_after(state.told, begin)
        return replace(state, checkpoints=checkpoints, n_fresh=n_fresh, log=log, told=told)


@dataclass(frozen=True, slots=True)
class _Change:
    since: int  # the first time at which the past is different
    owners: Owners


def _thinned(checkpoints: tuple[Checkpoint[S], ...]) -> tuple[Checkpoint[S], ...]:
    """The oldest, and not too many others."""
    while len(checkpoints) > MOST_CHECKPOINTS:
        checkpoints = checkpoints[::2] if len(checkpoints) % 2 else (checkpoints[0], *checkpoints[1::2])
    return checkpoints
