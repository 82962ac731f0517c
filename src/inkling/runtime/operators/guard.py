"""The operator that rejects rows of the far future where times are integers, before they move any watermark.

Many workers read a stream at once, and none of them knows its newest time. So they send their rows here, and the chains
of their times to every bucket: all buckets join the same chains and find the same newest credible time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from inkling.evaluators import state as codec
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage.rows.format import concatenated
from inkling.io.normalize import ID, START
from inkling.io.rejects import NO_REJECTS, Complaint, Reason, rejected_rows
from inkling.io.withdrawals import EVENT
from inkling.model.batch import FOREVER
from inkling.model.schema import StreamSchema
from inkling.model.watermarks import Watermarks
from inkling.runtime.ahead import FutureGuard
from inkling.runtime.late import NO_LATE_ROWS
from inkling.runtime.operators.protocol import Emitted, Onward, by_name
from inkling.runtime.routing import GUARD, RoutedRows


@dataclass(frozen=True, slots=True)
class NewestTimes:
    """The newest credible time of each stream."""

    by_stream: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GuardOperator:
    """Passes on credible rows, and watermarks that follow from them; the other rows are rejects."""

    schemas: Mapping[str, StreamSchema]
    guards: Mapping[str, FutureGuard]

    @property
    def address(self) -> int:
        return GUARD

    def start(self) -> NewestTimes:
        return NewestTimes()

    def step(
        self, state: NewestTimes, parts: Sequence[RoutedRows], watermarks: Watermarks
    ) -> tuple[NewestTimes, Emitted]:
        newest, latest = dict(state.by_stream), dict(watermarks.latest)
        limits: dict[str, int] = {}
        for name, chains in watermarks.chains.items():
            limits[name] = self.guards[name].reached(chains, newest.get(name))
            credible = [last for _, last, _ in chains if last <= limits[name]]
            if credible:
                latest[name] = max(credible)
        for name, time in latest.items():  # also of streams that have no guard now
            newest[name] = max(time, newest.get(name, time))
        rejects, onward = [NO_REJECTS], []
        for name, rows in by_name(parts)[0].items():
            later = rows[self.guards[name].column].to_numpy() > limits[name]
            if later.any():
                rejects.append(self._rejected(name, rows.filter(pa.array(later)), limits[name]))
                rows = rows.filter(pa.array(~later))
            onward.append(Onward(name, rows))
        moved = replace(watermarks, latest=latest, chains={})
        return NewestTimes(newest), Emitted(NO_LATE_ROWS, concatenated(rejects), onward=onward, watermarks=moved)

    def _rejected(self, stream: str, rows: pa.Table, latest: int) -> pa.Table:
        schema, limit = self.schemas[stream], self.guards[stream].after(latest)
        column = schema.start if limit.column == START else schema.end
        complaint = Complaint(Reason.TOO_FAR_AHEAD, column, np.ones(len(rows), bool), limit.reason)
        plain = rows.select([name for name in rows.column_names if not name.startswith("@")])
        if schema.op is not None:
            plain = plain.append_column(schema.op, pa.array([EVENT] * len(plain)))
        numbers = rows[ID].to_numpy() if schema.id is None else None
        return rejected_rows(stream, plain, schema.id, [complaint], numbers)

    def watermark(self, state: NewestTimes) -> int:
        return FOREVER  # a guard emits no results

    def newest(self, state: NewestTimes) -> Mapping[str, int]:
        return state.by_stream

    def n_kept(self, state: NewestTimes) -> int:
        return 0

    def reconfigured(self, state: NewestTimes) -> NewestTimes:
        return state

    def migrated(self, state: NewestTimes, before: GuardOperator) -> NewestTimes:
        return state

    def open_matches(self, state: NewestTimes, event: str) -> list[OpenMatch]:
        raise AssertionError("a guard answers no event")

    def to_bytes(self, state: NewestTimes) -> bytes:
        return codec.to_bytes(state)

    def from_bytes(self, data: bytes) -> NewestTimes:
        return codec.from_bytes(data, NewestTimes)
