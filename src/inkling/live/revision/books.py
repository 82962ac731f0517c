"""The ledgers of all streams of a program, and the clocks by which they tell what comes too late."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from inkling.live.clocks import Marks
from inkling.live.revision.clocks import ManyClocks, RevisionClocks, Windows
from inkling.live.revision.ledger import Entered, Ledger
from inkling.live.streams import streams_behind
from inkling.logical.evaluate import Surroundings
from inkling.model.schema import StreamSchema
from inkling.physical.plan import PhysicalPlan


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
