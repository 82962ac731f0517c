"""Clocks of revision: up to which time rows are accepted, results are emitted, and nothing can change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from inkling.logical.plan import ProgramPlan
from inkling.model.batch import FOREVER
from inkling.model.time import Duration
from inkling.model.watermarks import NEVER, Clocks, Watermarks
from inkling.physical.streams import lateness_of


@dataclass(frozen=True, slots=True)
class RevisionWindows:
    """By stream: how late its rows may be, how long they can be withdrawn, and whether results wait for late rows."""

    lateness: Mapping[str, int]  # in units of the clock
    kept: Mapping[str, int]  # how long rows can be withdrawn, at least the lateness
    speculative: frozenset[str] = frozenset()  # streams for whose late rows no result waits

    @classmethod
    def of(cls, streams: Iterable[str], program: ProgramPlan, unit: Callable[[Duration], int]) -> RevisionWindows:
        lateness = lateness_of(streams, program, unit)
        declared = {one.schema.name: one.schema for one in program.streams if one.schema.name in lateness}
        kept = dict(lateness)
        for name, schema in declared.items():
            if schema.op is not None:
                kept[name] = FOREVER if schema.op_for is None else max(kept[name], unit(schema.op_for))
        return cls(lateness, kept, frozenset(name for name, one in declared.items() if one.speculative))


@dataclass(frozen=True, slots=True)
class RevisionClocks:
    """Three watermarks: settled <= closed <= decided.

    Nothing at or before `settled` can change; rows at or before `closed` are too late; results up to `decided` are
    emitted.
    """

    windows: RevisionWindows
    closing: Clocks
    settling: Clocks
    decided: int = NEVER

    @classmethod
    def of(cls, windows: RevisionWindows) -> RevisionClocks:
        return cls(windows, Clocks(windows.lateness), Clocks(windows.kept))

    @property
    def closed(self) -> int:
        return self.closing.watermark

    @property
    def settled(self) -> int:
        return self.settling.watermark

    @property
    def latest(self) -> Mapping[str, int]:
        return self.closing.latest

    def after(self, watermarks: Watermarks) -> RevisionClocks:
        closing, settling = self.closing.after(watermarks), self.settling.after(watermarks)
        decided = FOREVER if watermarks.finished else max(self.decided, closing.watermark, self._emitted_until(closing))
        return replace(self, closing=closing, settling=settling, decided=decided)

    def with_windows(self, windows: RevisionWindows) -> RevisionClocks:
        """The clocks with other windows from now on; watermarks do not go back."""
        return replace(
            self,
            windows=windows,
            closing=replace(self.closing, lateness=windows.lateness),
            settling=replace(self.settling, lateness=windows.kept),
        )

    def _emitted_until(self, closing: Clocks) -> int:
        """The watermark of the streams that results wait for; the latest row if there is no such stream."""
        windows = self.windows
        if not windows.speculative:
            return NEVER
        waited_for = windows.lateness.keys() - windows.speculative - closing.idle
        if not waited_for:
            return max((time for name, time in closing.latest.items() if name in windows.lateness), default=NEVER)
        if waited_for - closing.latest.keys():
            return NEVER
        return min(closing.latest[name] - windows.lateness[name] - 1 for name in waited_for)


@dataclass(frozen=True, slots=True)
class ManyClocks:
    """The clocks of all readers of a stream: a row is too late as soon as it is too late for one reader."""

    clocks: tuple[RevisionClocks, ...] = field(default_factory=tuple)

    @property
    def closed(self) -> int:
        return max((one.closed for one in self.clocks), default=NEVER)

    @property
    def settled(self) -> int:
        return max((one.settled for one in self.clocks), default=NEVER)

    def latest(self, stream: str) -> int:
        return max((one.latest.get(stream, NEVER) for one in self.clocks), default=NEVER)

    def after(self, watermarks: Watermarks) -> ManyClocks:
        return ManyClocks(tuple(one.after(watermarks) for one in self.clocks))
