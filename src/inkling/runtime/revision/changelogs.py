"""The changelogs of input streams: the current version of each row, while rows can arrive late or be withdrawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.evaluators import state as codec
from inkling.io.corrections import ids_are_distinct, rejected_withdrawals
from inkling.io.normalize import END, ID
from inkling.io.rejects import NO_REJECTS, Reason
from inkling.io.withdrawals import no_withdrawals
from inkling.logical.evaluate import ExpressionContext
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.model.watermarks import NEVER, Clocks, Watermarks
from inkling.physical.plan import PhysicalPlan
from inkling.physical.streams import streams_behind, time_of
from inkling.runtime.late import LATE_SCHEMA, NO_LATE_ROWS, late_rows
from inkling.runtime.revision.clocks import ManyClocks, RevisionClocks, RevisionWindows
from inkling.runtime.revision.versions import DUE, DistinctIdVersions, RowVersions, SharedIdVersions


class Changelogs:
    """One changelog per stream; a step changes them in place."""

    def __init__(self, schemas: Iterable[StreamSchema], readers: Mapping[str, Iterable[RevisionWindows]]) -> None:
        """`readers` are the windows of all operators that read a stream."""
        self.by_stream = {schema.name: StreamChangelog(schema) for schema in schemas}
        self.clocks = {
            name: ManyClocks(tuple(RevisionClocks.of(windows) for windows in readers.get(name, ())))
            for name in self.by_stream
        }

    def apply(
        self, rows: Mapping[str, pa.Table], withdrawals: Mapping[str, pa.Table], watermarks: Watermarks
    ) -> dict[str, StreamDelta]:
        """The delta of each stream; also of streams where only the watermark has advanced."""
        found = {}
        for name, changelog in self.by_stream.items():
            before = self.clocks[name]
            self.clocks[name] = after = before.after(watermarks)
            if name in rows:
                found[name] = changelog.apply(rows[name], withdrawals.get(name), before, after)
            elif (expired := changelog.expired(after)) is not None:
                found[name] = expired
        return found

    def reconfigure(self, readers: Mapping[str, Iterable[RevisionWindows]]) -> None:
        """Continue with other windows for the readers of the streams."""
        for name, many in self.clocks.items():
            pairs = zip(many.clocks, readers.get(name, ()), strict=True)
            self.clocks[name] = ManyClocks(tuple(clocks.with_windows(windows) for clocks, windows in pairs))


def readers_of(plan: PhysicalPlan, context: ExpressionContext) -> dict[str, list[RevisionWindows]]:
    """By stream, the windows of the stages that depend on it."""
    found: dict[str, list[RevisionWindows]] = {stream.schema.name: [] for stream in plan.program.streams}
    for stage in plan.stages:
        behind = streams_behind(stage, plan)
        windows = RevisionWindows.of(behind, plan.program, context.unit)
        for name in behind:
            found[name].append(windows)
    for name, readers in found.items():
        if not readers:  # only the windows of the stream itself
            readers.append(RevisionWindows.of([name], plan.program, context.unit))
    return found


@dataclass(frozen=True, slots=True)
class StreamDelta:
    """Rows that become current, rows that are no longer current, late rows in time units, and rejects."""

    added: pa.Table
    withdrawn: pa.Table
    late: pa.Table
    rejects: pa.Table


class StreamChangelog:
    """The changelog of one stream: its rows that can still be withdrawn; a step changes it in place."""

    def __init__(
        self, schema: StreamSchema, versions: RowVersions | None = None, waiting: pa.Table | None = None
    ) -> None:
        self.schema = schema
        self.versions = versions if versions is not None else _versions(schema)
        self.waiting = waiting  # withdrawals whose events have not arrived

    def apply(self, rows: pa.Table, withdrawals: pa.Table | None, before: ManyClocks, after: ManyClocks) -> StreamDelta:
        """Ingest rows and withdrawals; lateness is relative to the clocks `before` them."""
        rows, late = self._in_time(rows, before)
        rejects, too_late = [NO_REJECTS], [late]
        if withdrawals is None or self.schema.op is None:
            withdrawals = no_withdrawals(rows.schema.field(ID).type)
        if len(withdrawals):
            withdrawals, again = self.versions.unless_withdrawn(withdrawals)
            withdrawals, missed = self._reachable(withdrawals, before)
            rejects.append(rejected_withdrawals(self.schema, again, Reason.WITHDRAWN_TWICE))
            too_late.append(missed)
        withdrawals = withdrawals.append_column(DUE, withdrawals[END].fill_null(after.latest(self.schema.name)))
        added, gone, repeated = self.versions.changed(rows, withdrawals)
        rejects += [repeated, self._expired(withdrawals, after)]
        if after.settled > NEVER:
            self.versions.forget(after.settled)
        return StreamDelta(added, gone, pa.concat_tables(too_late), pa.concat_tables(rejects))

    def expired(self, clocks: ManyClocks) -> StreamDelta | None:
        """Withdrawals that are rejected because the watermark has passed; None if there are none."""
        if self.waiting is None or not len(self.waiting):
            return None
        nothing = self.waiting.slice(0, 0)
        rejects = self._expired(nothing, clocks)
        return StreamDelta(nothing, nothing, NO_LATE_ROWS, rejects) if len(rejects) else None

    @property
    def n_held(self) -> int:
        """The number of rows and withdrawals that are kept."""
        return self.versions.n_held + (0 if self.waiting is None else len(self.waiting))

    def _in_time(self, rows: pa.Table, clocks: ManyClocks) -> tuple[pa.Table, pa.Table]:
        behind = rows[time_of(self.schema)].to_numpy() <= clocks.closed
        if not behind.any():
            return rows, NO_LATE_ROWS
        return rows.filter(pa.array(~behind)), self._late(rows.filter(pa.array(behind)), clocks)

    def _late(self, rows: pa.Table, clocks: ManyClocks) -> pa.Table:
        name = self.schema.name
        rows = rows.set_column(rows.column_names.index(END), END, rows[time_of(self.schema)])
        return late_rows(name, rows, Clocks({}, {name: self._now(clocks, clocks.closed)}))

    def _now(self, clocks: ManyClocks, limit: int) -> int:
        """The time from which delays are counted: the latest of the stream, or the limit if it is later."""
        latest = clocks.latest(self.schema.name)
        return latest if limit >= FOREVER and latest > NEVER else max(latest, limit)

    def _reachable(self, withdrawals: pa.Table, clocks: ManyClocks) -> tuple[pa.Table, pa.Table]:
        """Withdrawals after the settled time, and the others as late rows."""
        ends = self.versions.ends_of(withdrawals)
        known = ends > NEVER
        behind = (ends <= clocks.settled) & known
        if not behind.any():
            return withdrawals, NO_LATE_ROWS
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
        """Rejects for withdrawals whose events can no longer arrive."""
        if len(fresh):
            self.waiting = fresh if self.waiting is None else pa.concat_tables([self.waiting, fresh])
        if self.waiting is None or not len(self.waiting):
            return NO_REJECTS
        self.waiting = self.waiting.filter(pa.array(~self.versions.has_events(self.waiting)))
        due = self.waiting[DUE].to_numpy()
        if (due == NEVER).any():  # withdrawals before the first event
            due = np.where(due == NEVER, clocks.latest(self.schema.name), due)
            self.waiting = self.waiting.drop_columns([DUE]).append_column(DUE, pa.array(due))
        over = (due <= clocks.settled) & ((due > NEVER) | (clocks.settled >= FOREVER))
        if not over.any():
            return NO_REJECTS
        missed = self.waiting.filter(pa.array(over)).drop_columns([DUE])
        self.waiting = self.waiting.filter(pa.array(~over))
        self.versions.give_up(missed)
        return rejected_withdrawals(self.schema, missed, Reason.NOTHING_TO_WITHDRAW)


def _versions(schema: StreamSchema) -> RowVersions:
    if schema.op is None and (schema.id is None or schema.uncertainty is not None):
        return RowVersions(schema)
    return DistinctIdVersions(schema) if ids_are_distinct(schema) else SharedIdVersions(schema)


@dataclass(frozen=True, slots=True)
class StoredChangelog:
    """The stored form of a changelog: versions of rows, and withdrawals whose events have not arrived."""

    versions: Mapping[str, pa.Table]
    waiting: pa.Table | None


@dataclass(frozen=True, slots=True)
class StoredChangelogs:
    """Changelogs and clocks by stream."""

    by_stream: Mapping[str, StoredChangelog]
    clocks: Mapping[str, ManyClocks]


def changelogs_to_bytes(changelogs: Changelogs) -> bytes:
    by_stream = {
        name: StoredChangelog(one.versions.to_tables(), one.waiting) for name, one in changelogs.by_stream.items()
    }
    return codec.to_bytes(StoredChangelogs(by_stream, changelogs.clocks))


def changelogs_from_bytes(changelogs: Changelogs, data: bytes) -> Changelogs:
    """Fills empty changelogs from bytes."""
    stored = codec.from_bytes(data, StoredChangelogs)
    for name, changelog in changelogs.by_stream.items():
        changelog.waiting = stored.by_stream[name].waiting
        if stored.by_stream[name].versions:
            changelog.versions.load(dict(stored.by_stream[name].versions))
        changelogs.clocks[name] = stored.clocks[name]
    return changelogs
