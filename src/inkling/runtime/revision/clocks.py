"""Clocks of revision: up to which time rows are accepted, results are emitted, and nothing can change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from inkling.logical.plan import ProgramPlan
from inkling.model.batch import FOREVER
from inkling.model.time import Span
from inkling.model.watermarks import NEVER, Clocks, Watermarks
from inkling.physical.streams import lateness_of


@dataclass(frozen=True, slots=True)
class RevisionWindows:
    """By stream: how late its rows may be, how long they can be withdrawn, and whether anybody waits for them."""

    lateness: Mapping[str, int]
    kept: Mapping[str, int]
    speculative: frozenset[str] = frozenset()

    @classmethod
    def of(cls, streams: Iterable[str], program: ProgramPlan, unit: Callable[[Span], int]) -> RevisionWindows:
        lateness = lateness_of(streams, program, unit)
        declared = {one.schema.name: one.schema for one in program.streams if one.schema.name in lateness}
        kept = dict(lateness)
        for name, schema in declared.items():
            if schema.op is not None:
                kept[name] = FOREVER if schema.op_for is None else max(kept[name], unit(schema.op_for))
        return cls(lateness, kept, frozenset(name for name, one in declared.items() if one.speculative))


@dataclass(frozen=True, slots=True)
class RevisionClocks:
    """Three watermarks of some streams, each at or before the next.

    Nothing at or before `settled` can change any more; rows at or before `closed` are too late; what is known up to
    `decided` is emitted.
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
        """The same clocks, with other windows from now on; what is settled stays so."""
        return replace(
            self,
            windows=windows,
            closing=replace(self.closing, lateness=windows.lateness),
            settling=replace(self.settling, lateness=windows.kept),
        )

    def _emitted_until(self, closing: Clocks) -> int:
        """The time up to which every stream is heard that somebody waits for; all of it if nobody waits."""
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
    """The clocks of all that read a stream: for one of them it is too late as soon as it is for any."""

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
