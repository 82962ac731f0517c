"""The operator that revises results: it replays a machine after a change and emits withdrawn and added results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.evaluators import state as codec
from inkling.evaluators.open_matches import OpenMatch
from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.format import STAGE_ROWS, concatenated
from inkling.model.batch import Ints
from inkling.model.schema import StreamSchema
from inkling.model.uncertainty import LostEvents
from inkling.model.watermarks import NEVER, Watermarks
from inkling.results import ADDED, WITHDRAWN
from inkling.runtime.late import LATE_SCHEMA, NO_LATE_ROWS
from inkling.runtime.operators.protocol import Emitted, Onward, by_name
from inkling.runtime.revision.clocks import RevisionClocks, RevisionWindows
from inkling.runtime.revision.contents import differences
from inkling.runtime.revision.delta import Delta
from inkling.runtime.revision.machine import LATE, OWNER, ReplayMachine
from inkling.runtime.revision.replay import Checkpoint, Replay, ReplayState, Revisable, S
from inkling.runtime.routing import RoutedRows


class RevisedOperator:
    """Emits withdrawn results, then added ones."""

    def __init__(self, address: int, machine: ReplayMachine, windows: RevisionWindows) -> None:
        self.address, self.machine, self.windows = address, machine, windows
        self._replay = Replay(machine, machine.rounding)

    def start(self) -> ReplayState:
        return self._replay.start(RevisionClocks.of(self.windows))

    def step(
        self, state: ReplayState, parts: Sequence[RoutedRows], watermarks: Watermarks
    ) -> tuple[ReplayState, Emitted]:
        state, delta = self._replay.advance(state, *by_name(parts, STAGE_ROWS), watermarks)
        revisions, late = [delta], [NO_LATE_ROWS]
        while LATE in delta.added:
            found = LateFindings.of(state, delta.added[LATE], self.machine.streams)
            late.append(found.hopeless)
            state = found.removed_from(state)
            if found.since is None:
                break
            state, delta = self._replay.again(state, found.since)
            revisions.append(delta)
        net = _net_of(revisions)
        return state, Emitted(
            concatenated(late),
            concatenated([one.rejects for one in revisions]),
            tables={name: self._shown(name, gone, fresh) for name, (gone, fresh) in net.items()},
            onward=tuple(_onward(net)) if self.machine.is_read_by_others else (),
        )

    def watermark(self, state: ReplayState) -> int:
        return self.machine.watermark(state.now)

    def newest(self, state: ReplayState) -> Mapping[str, int]:
        return state.clocks.latest

    def n_kept(self, state: ReplayState) -> int:
        """Rows and numbers in the state and in all checkpoints."""
        held = sum(len(rows) for kind in (state.pending, state.log, state.emitted) for rows in kind.values())
        return held + sum(map(self.machine.live.n_kept, (state.now, *(before.state for before in state.checkpoints))))

    def reconfigured(self, state: ReplayState) -> ReplayState:
        return replace(state, clocks=state.clocks.with_windows(self.windows))

    def migrated(self, state: ReplayState, before: RevisedOperator) -> ReplayState:
        return self.reconfigured(state)

    def open_matches(self, state: ReplayState, event: str) -> list[OpenMatch]:
        waiting = {name: rows.combine_chunks() for name, rows in state.pending.items() if len(rows)}
        return self.machine.open_matches(state.now, waiting, state.clocks.latest, event)

    def to_bytes(self, state: ReplayState) -> bytes:
        return codec.to_bytes(_with_each(state, self.machine.live.to_bytes))

    def from_bytes(self, data: bytes) -> ReplayState:
        return _with_each(codec.from_bytes(data, Revisable[bytes]), self.machine.live.from_bytes)

    def _shown(self, name: str, gone: pa.Table, fresh: pa.Table) -> pa.Table:
        both = [self.machine.shown(name, rows, op) for rows, op in ((gone, WITHDRAWN), (fresh, ADDED)) if len(rows)]
        return concatenated(both)


def _with_each(state: Revisable[S], changed: Callable[[S], codec.State]) -> Revisable[codec.State]:
    """The state with another form of the machine's states: bytes, or values."""
    checkpoints = tuple(Checkpoint(one.until, changed(one.state)) for one in state.checkpoints)
    return replace(state, now=changed(state.now), checkpoints=checkpoints)  # type: ignore[return-value, arg-type]


def _net_of(revisions: Sequence[Delta]) -> dict[str, tuple[pa.Table, pa.Table]]:
    """Withdrawn and added results by event; results that are added and withdrawn in one step are left out."""
    names = {name: None for one in revisions for kind in (one.withdrawn, one.added) for name in kind if name != LATE}
    found = {}
    for name in names:
        gone, fresh = (
            [kind[name] for kind in kinds if name in kind]
            for kinds in ((one.withdrawn for one in revisions), (one.added for one in revisions))
        )
        nothing = (gone or fresh)[0].slice(0, 0)
        old, new = concatenated([nothing, *gone]), concatenated([nothing, *fresh])
        if len(revisions) > 1:
            is_gone, is_fresh = differences(old, new, new.column_names)
            old, new = old.filter(pa.array(is_gone)), new.filter(pa.array(is_fresh))
        if len(old) or len(new):
            found[name] = old, new
    return found


def _onward(net: dict[str, tuple[pa.Table, pa.Table]]) -> Iterable[Onward]:
    for number, withdrawn in ((0, True), (1, False)):
        for name, both in net.items():
            yield Onward(name, both[number].drop_columns([OWNER]), withdrawn)


@dataclass(frozen=True, slots=True)
class LateFindings:
    """Rows that are late inside the machine: the time from which a replay helps, and the rows that it cannot help."""

    since: int | None
    hopeless: pa.Table

    @classmethod
    def of(cls, state: ReplayState, late: pa.Table, streams: Mapping[str, StreamSchema]) -> LateFindings:
        late = late.select(LATE_SCHEMA.names)
        since = np.array([_since(state, row, streams[row["stream"]]) for row in late.to_pylist()], np.int64)
        hopeful = (since > state.clocks.settled) | (state.clocks.settled <= NEVER)
        first = max(int(since[hopeful].min()), NEVER + 1) if hopeful.any() else None
        return cls(first, _with_delays(state, late.filter(pa.array(~hopeful))))

    def removed_from(self, state: ReplayState) -> ReplayState:
        """The state without the rows that were reported as late."""
        log = dict(state.log)
        for row in self.hopeless.to_pylist():
            if row["stream"] in log:
                held = log[row["stream"]]
                log[row["stream"]] = held.filter(pc.invert(_is_meant(held, row)))
        return replace(state, log=log, emitted={name: rows for name, rows in state.emitted.items() if name != LATE})


def _since(state: ReplayState, row: Mapping[str, object], schema: StreamSchema) -> int:
    """The earliest time of events that were lost before a row; `NEVER` if it is unknown."""
    uncertainty, held = schema.uncertainty, state.log.get(schema.name)
    assert isinstance(uncertainty, LostEvents), "only rows of numbered streams are late inside a machine"
    if uncertainty.bounds is None or held is None:
        return NEVER
    emitted = held.filter(_is_meant(held, row))[uncertainty.bounds[0]]
    return NEVER if emitted.null_count or not len(emitted) else int(pc.min(emitted.cast(pa.int64())).as_py())


def _is_meant(held: pa.Table, row: Mapping[str, object]) -> pa.ChunkedArray:
    return pc.and_(pc.equal(held[r.ID].cast(pa.string()), row["id"]), pc.equal(held[r.END], row["time"]))


def _with_delays(state: ReplayState, late: pa.Table) -> pa.Table:
    """Late rows, by how far the latest row of their stream was ahead of them."""
    clocks = state.clocks
    latest = [max(clocks.latest.get(name, NEVER), clocks.closed) for name in late["stream"].to_pylist()]
    delays: Ints = np.array(latest, np.int64) - late["time"].to_numpy()
    return late.set_column(late.column_names.index("delay"), "delay", pa.array(delays))
