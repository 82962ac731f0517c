"""The ledgers of all streams of a program, and the clocks by which they tell what comes too late."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.io.corrections import ids_are_distinct, refused_withdrawals
from inkling.io.normalize import END, ID
from inkling.io.rejects import NO_REJECTS, Reason
from inkling.io.withdrawals import no_withdrawals
from inkling.logical.evaluate import Surroundings
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.model.watermarks import NEVER, Clocks, Marks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.streams import streams_behind, time_of
from inkling.runtime.late import LATE_SCHEMA, late_rows, no_late_rows
from inkling.runtime.revision.clocks import ManyClocks, RevisionClocks, Windows
from inkling.runtime.revision.entries import DUE, DistinctEntries, Entries, SharedEntries


class Books:
    """One ledger per stream; a step changes them."""

    def __init__(self, schemas: Iterable[StreamSchema], readers: Mapping[str, Iterable[Windows]]) -> None:
        """`readers` are the windows of all that read a stream."""
        self.ledgers = {schema.name: Ledger(schema) for schema in schemas}
        self.clocks = {
            name: ManyClocks(tuple(RevisionClocks.of(windows) for windows in readers.get(name, ())))
            for name in self.ledgers
        }

    def enter(
        self, rows: Mapping[str, pa.Table], withdrawals: Mapping[str, pa.Table], marks: Marks
    ) -> dict[str, Entered]:
        """What becomes of rows and withdrawals, by stream; also where only time has moved."""
        found = {}
        for name, ledger in self.ledgers.items():
            before = self.clocks[name]
            self.clocks[name] = after = before.after(marks)
            if name in rows:
                found[name] = ledger.enter(rows[name], withdrawals.get(name), before, after)
            elif (expired := ledger.expired(after)) is not None:
                found[name] = expired
        return found

    def reconfigure(self, readers: Mapping[str, Iterable[Windows]]) -> None:
        """Go on with other windows of those that read the streams."""
        for name, many in self.clocks.items():
            pairs = zip(many.clocks, readers.get(name, ()), strict=True)
            self.clocks[name] = ManyClocks(tuple(clocks.with_windows(windows) for clocks, windows in pairs))


def readers_of(plan: PhysicalPlan, around: Surroundings) -> dict[str, list[Windows]]:
    """By stream, the windows of the stages behind which it stands."""
    found: dict[str, list[Windows]] = {stream.schema.name: [] for stream in plan.program.streams}
    for stage in plan.stages:
        behind = streams_behind(stage, plan)
        windows = Windows.of(behind, plan.program, around.measure)
        for name in behind:
            found[name].append(windows)
    for name, readers in found.items():
        if not readers:  # what nobody reads has only itself to wait for
            readers.append(Windows.of([name], plan.program, around.measure))
    return found


@dataclass(frozen=True, slots=True)
class Entered:
    """Rows that count from now on, rows that do not count any more, and what was refused; `late` is in clock units."""

    added: pa.Table
    withdrawn: pa.Table
    late: pa.Table
    rejects: pa.Table


class Ledger:
    """The rows of one stream that can still be withdrawn; a step changes it."""

    def __init__(self, schema: StreamSchema, entries: Entries | None = None, waiting: pa.Table | None = None) -> None:
        self.schema = schema
        self.entries = entries if entries is not None else _entries(schema)
        self.waiting = waiting  # withdrawals whose events have not come

    def enter(self, rows: pa.Table, withdrawals: pa.Table | None, before: ManyClocks, after: ManyClocks) -> Entered:
        """Take in rows and withdrawals; how late they are is judged by the clocks `before` them."""
        rows, late = self._in_time(rows, before)
        rejects, too_late = [NO_REJECTS], [late]
        if withdrawals is None or self.schema.op is None:
            withdrawals = no_withdrawals(rows.schema.field(ID).type)
        if len(withdrawals):
            withdrawals, again = self.entries.unless_withdrawn(withdrawals)
            withdrawals, missed = self._reachable(withdrawals, before)
            rejects.append(refused_withdrawals(self.schema, again, Reason.WITHDRAWN_TWICE))
            too_late.append(missed)
        withdrawals = withdrawals.append_column(DUE, withdrawals[END].fill_null(after.latest(self.schema.name)))
        added, gone, repeated = self.entries.changed(rows, withdrawals)
        rejects += [repeated, self._expired(withdrawals, after)]
        if after.settled > NEVER:
            self.entries.forget(after.settled)
        return Entered(added, gone, pa.concat_tables(too_late), pa.concat_tables(rejects))

    def expired(self, clocks: ManyClocks) -> Entered | None:
        """What is refused because time has moved, if there is anything to say about it."""
        if self.waiting is None or not len(self.waiting):
            return None
        nothing = self.waiting.slice(0, 0)
        rejects = self._expired(nothing, clocks)
        return Entered(nothing, nothing, no_late_rows(), rejects) if len(rejects) else None

    @property
    def n_held(self) -> int:
        """How many rows and withdrawals are remembered."""
        return self.entries.n_held + (0 if self.waiting is None else len(self.waiting))

    def _in_time(self, rows: pa.Table, clocks: ManyClocks) -> tuple[pa.Table, pa.Table]:
        behind = rows[time_of(self.schema)].to_numpy() <= clocks.closed
        if not behind.any():
            return rows, no_late_rows()
        return rows.filter(pa.array(~behind)), self._late(rows.filter(pa.array(behind)), clocks)

    def _late(self, rows: pa.Table, clocks: ManyClocks) -> pa.Table:
        name = self.schema.name
        rows = rows.set_column(rows.column_names.index(END), END, rows[time_of(self.schema)])
        return late_rows(name, rows, Clocks({}, {name: self._now(clocks, clocks.closed)}))

    def _now(self, clocks: ManyClocks, limit: int) -> int:
        """What delays are counted from: the latest time of the stream, or the limit if others have moved that on."""
        latest = clocks.latest(self.schema.name)
        return latest if limit >= FOREVER and latest > NEVER else max(latest, limit)

    def _reachable(self, withdrawals: pa.Table, clocks: ManyClocks) -> tuple[pa.Table, pa.Table]:
        """Withdrawals of what can still change, and a report of the others."""
        ends = self.entries.ends_of(withdrawals)
        known = ends > NEVER
        behind = (ends <= clocks.settled) & known
        if not behind.any():
            return withdrawals, no_late_rows()
        missed = withdrawals.filter(pa.array(behind))
        latest = self._now(clocks, clocks.settled)
        report = pa.table(
            [
                pa.repeat(pa.scalar(self.schema.name), len(missed)),
                missed[ID].cast(pa.string()),
                pa.array(ends[behind]),
                pa.array(latest - ends[behind]),
                missed["row"],
            ],
            schema=LATE_SCHEMA,
        )
        return withdrawals.filter(pa.array(~behind)), report

    def _expired(self, fresh: pa.Table, clocks: ManyClocks) -> pa.Table:
        """Rejects for withdrawals whose events did not come and cannot come any more."""
        if len(fresh):
            self.waiting = fresh if self.waiting is None else pa.concat_tables([self.waiting, fresh])
        if self.waiting is None or not len(self.waiting):
            return NO_REJECTS
        self.waiting = self.waiting.filter(pa.array(~self.entries.has_events(self.waiting)))
        due = self.waiting[DUE].to_numpy()
        if (due == NEVER).any():  # they came before any event did
            due = np.where(due == NEVER, clocks.latest(self.schema.name), due)
            self.waiting = self.waiting.drop_columns([DUE]).append_column(DUE, pa.array(due))
        over = (due <= clocks.settled) & ((due > NEVER) | (clocks.settled >= FOREVER))
        if not over.any():
            return NO_REJECTS
        missed = self.waiting.filter(pa.array(over)).drop_columns([DUE])
        self.waiting = self.waiting.filter(pa.array(~over))
        self.entries.give_up(missed)
        return refused_withdrawals(self.schema, missed, Reason.NOTHING_TO_WITHDRAW)


def _entries(schema: StreamSchema) -> Entries:
    if schema.op is None and (schema.id is None or schema.doubt is not None):
        return Entries(schema)
    return DistinctEntries(schema) if ids_are_distinct(schema) else SharedEntries(schema)
