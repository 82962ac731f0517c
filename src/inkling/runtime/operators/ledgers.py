"""The ledgers of streams whose past may change, as an operator: rows and withdrawals enter, what holds goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.protocol import no_rows
from inkling.io.rejects import NO_REJECTS
from inkling.logical.plan import StreamPlan
from inkling.model.batch import FOREVER
from inkling.model.time import Clock
from inkling.model.watermarks import Marks
from inkling.runtime.late import no_late_rows
from inkling.runtime.operators.protocol import LEDGERS, Emitted, Onward, by_name
from inkling.runtime.parts import Part, concatenated
from inkling.runtime.revision.books import Books
from inkling.runtime.revision.clocks import Windows
from inkling.runtime.revision.snapshot import books_from_bytes, books_to_bytes


@dataclass(frozen=True, slots=True)
class LedgerOperator:
    """Keeps what stands of the rows of all streams, for as long as they can be withdrawn."""

    streams: Sequence[StreamPlan]
    readers: Mapping[str, Iterable[Windows]]  # by stream: the windows of all that read it
    clock: Clock
    _nothing: dict[str, pa.Table] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def address(self) -> int:
        return LEDGERS

    def start(self) -> Books:
        return Books([stream.schema for stream in self.streams], self.readers)

    def step(self, state: Books, parts: Sequence[Part], marks: Marks) -> tuple[Books, Emitted]:
        entering, withdrawals = by_name(parts)
        rows = {**{name: self._no_rows(name) for name in withdrawals if name not in entering}, **entering}
        late, rejects, onward = [no_late_rows()], [NO_REJECTS], []
        for name, entered in state.enter(rows, withdrawals, marks).items():
            onward += [Onward(name, entered.withdrawn, withdrawn=True), Onward(name, entered.added)]
            late.append(entered.late)
            rejects.append(entered.rejects)
        return state, Emitted(concatenated(late), concatenated(rejects), onward=onward)

    def _no_rows(self, stream: str) -> pa.Table:
        if stream not in self._nothing:
            self._nothing.update(no_rows((one for one in self.streams if one.schema.name == stream), self.clock))
        return self._nothing[stream]

    def watermark(self, state: Books) -> int:
        return FOREVER  # how far results are emitted is for those behind to say

    def latest(self, state: Books) -> int | None:
        clocks = (one for many in state.clocks.values() for one in many.clocks)
        return max((time for one in clocks for time in one.latest.values()), default=None)

    def n_kept(self, state: Books) -> int:
        return sum(ledger.n_held for ledger in state.ledgers.values())

    def reconfigured(self, state: Books) -> Books:
        state.reconfigure(self.readers)
        return state

    def migrated(self, state: Books, before: LedgerOperator) -> Books:
        return self.reconfigured(state)

    def open_matches(self, state: Books, event: str) -> list[OpenMatch]:
        raise AssertionError("ledgers answer no event")

    def to_bytes(self, state: Books) -> bytes:
        return books_to_bytes(state)

    def from_bytes(self, data: bytes) -> Books:
        return books_from_bytes(self.start(), data)
