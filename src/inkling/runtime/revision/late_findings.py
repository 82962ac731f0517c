"""Rows that tell of events lost before them, at a time that was decided without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators.stage import rows as r
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import NEVER
from inkling.runtime.late import LATE_SCHEMA
from inkling.runtime.revision.machine import LATE
from inkling.runtime.revision.replay import Revisable, S


@dataclass(frozen=True, slots=True)
class LateFindings:
    """The first time about which such rows tell that can still change, and rows that tell of what cannot."""

    since: int | None
    hopeless: pa.Table

    @classmethod
    def of(cls, state: Revisable[S], late: pa.Table, streams: Mapping[str, StreamSchema]) -> LateFindings:
        late = late.select(LATE_SCHEMA.names)
        since = np.array([_since(state, row, streams[row["stream"]]) for row in late.to_pylist()], np.int64)
        hopeful = (since > state.clocks.settled) | (state.clocks.settled <= NEVER)
        first = max(int(since[hopeful].min()), NEVER + 1) if hopeful.any() else None
        return cls(first, _with_delays(state, late.filter(pa.array(~hopeful))))

    def removed_from(self, state: Revisable[S]) -> Revisable[S]:
        """A row that is reported as too late does not count later on, either."""
        log = dict(state.log)
        for row in self.hopeless.to_pylist():
            if row["stream"] in log:
                held = log[row["stream"]]
                log[row["stream"]] = held.filter(pc.invert(_is_meant(held, row)))
        return replace(state, log=log, told={name: rows for name, rows in state.told.items() if name != LATE})


def _since(state: Revisable[S], row: Mapping[str, object], schema: StreamSchema) -> int:
    """From when on events may have been lost before a row; for ever where nothing tells."""
    doubt, held = schema.doubt, state.log.get(schema.name)
    assert isinstance(doubt, LostEvents), "no other row is late inside"
    if doubt.bounds is None or held is None:
        return NEVER
    told = held.filter(_is_meant(held, row))[doubt.bounds[0]]
    return NEVER if told.null_count or not len(told) else int(pc.min(told.cast(pa.int64())).as_py())


def _is_meant(held: pa.Table, row: Mapping[str, object]) -> pa.ChunkedArray:
    return pc.and_(pc.equal(held[r.ID].cast(pa.string()), row["id"]), pc.equal(held[r.END], row["time"]))


def _with_delays(state: Revisable[S], late: pa.Table) -> pa.Table:
    """Late rows, by how far the latest row of their stream was ahead of them."""
    clocks = state.clocks
    latest = [max(clocks.latest.get(name, NEVER), clocks.closed) for name in late["stream"].to_pylist()]
    delays: Ints = np.array(latest, np.int64) - late["time"].to_numpy()
    return late.set_column(late.column_names.index("delay"), "delay", pa.array(delays))
