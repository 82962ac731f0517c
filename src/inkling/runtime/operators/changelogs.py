"""The operator that keeps the changelogs of streams with revision: it turns rows and withdrawals into deltas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import no_rows
from inkling.evaluators.stage.rows.format import concatenated
from inkling.io.rejects import NO_REJECTS
from inkling.logical.plan import StreamPlan
from inkling.model.batch import FOREVER
from inkling.model.time import Clock
from inkling.model.watermarks import Watermarks, newest_of
from inkling.runtime.late import NO_LATE_ROWS
from inkling.runtime.operators.protocol import Emitted, Onward, by_name
from inkling.runtime.revision.changelogs import Changelogs, changelogs_from_bytes, changelogs_to_bytes
from inkling.runtime.revision.clocks import RevisionWindows
from inkling.runtime.routing import CHANGELOGS, RoutedRows


@dataclass(frozen=True, slots=True)
class ChangelogOperator:
    """Keeps the rows of all streams for as long as they can be withdrawn."""

    streams: Sequence[StreamPlan]
    readers: Mapping[str, Iterable[RevisionWindows]]  # by stream: the windows of the operators that read it
    clock: Clock
    _nothing: dict[str, pa.Table] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def address(self) -> int:
        return CHANGELOGS

    def start(self) -> Changelogs:
        return Changelogs([stream.schema for stream in self.streams], self.readers)

    def step(
        self, state: Changelogs, parts: Sequence[RoutedRows], watermarks: Watermarks
    ) -> tuple[Changelogs, Emitted]:
        added, withdrawals = by_name(parts)
        rows = {**{name: self._no_rows(name) for name in withdrawals if name not in added}, **added}
        late, rejects, onward = [NO_LATE_ROWS], [NO_REJECTS], []
        for name, delta in state.apply(rows, withdrawals, watermarks).items():
            onward += [Onward(name, delta.withdrawn, withdrawn=True), Onward(name, delta.added)]
            late.append(delta.late)
            rejects.append(delta.rejects)
        return state, Emitted(concatenated(late), concatenated(rejects), onward=onward)

    def _no_rows(self, stream: str) -> pa.Table:
        if stream not in self._nothing:
            self._nothing.update(no_rows((one for one in self.streams if one.schema.name == stream), self.clock))
        return self._nothing[stream]

    def watermark(self, state: Changelogs) -> int:
        return FOREVER  # changelogs emit no results

    def newest(self, state: Changelogs) -> Mapping[str, int]:
        return newest_of(one.latest for many in state.clocks.values() for one in many.clocks)

    def n_kept(self, state: Changelogs) -> int:
        return sum(changelog.n_held for changelog in state.by_stream.values())

    def reconfigured(self, state: Changelogs) -> Changelogs:
        state.reconfigure(self.readers)
        return state

    def migrated(self, state: Changelogs, before: ChangelogOperator) -> Changelogs:
        return self.reconfigured(state)

    def open_matches(self, state: Changelogs, event: str) -> list[OpenMatch]:
        raise AssertionError("changelogs answer no event")

    def to_bytes(self, state: Changelogs) -> bytes:
        return changelogs_to_bytes(state)

    def from_bytes(self, data: bytes) -> Changelogs:
        return changelogs_from_bytes(self.start(), data)
