"""Any machine whose past may change, as an operator: a replay around it, whatever it evaluates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

import pyarrow as pa

from inkling.evaluators.open_matches import OpenMatch
from inkling.model.watermarks import Marks
from inkling.results import ADDED, WITHDRAWN
from inkling.runtime.late import no_late_rows
from inkling.runtime.operators.protocol import Emitted, Onward, by_name
from inkling.runtime.parts import Part, concatenated
from inkling.runtime.revision.clocks import RevisionClocks, Windows
from inkling.runtime.revision.contents import differences
from inkling.runtime.revision.late_findings import LateFindings
from inkling.runtime.revision.machine import LATE, OWNER, STAGE_ROWS, Machine
from inkling.runtime.revision.news import Revision
from inkling.runtime.revision.replay import Replay, Revisable
from inkling.runtime.revision.snapshot import revisable_from_bytes, revisable_to_bytes

S = TypeVar("S")


class RevisedOperator(Generic[S]):
    """Emits what does not hold any more, then what holds by now."""

    def __init__(self, address: int, machine: Machine[S], windows: Windows) -> None:
        self.address, self.machine, self.windows = address, machine, windows
        self._replay = Replay(machine, machine.rounding)

    def start(self) -> Revisable[S]:
        return self._replay.start(RevisionClocks.of(self.windows))

    def step(self, state: Revisable[S], parts: Sequence[Part], marks: Marks) -> tuple[Revisable[S], Emitted]:
        state, revision = self._replay.advance(state, *by_name(parts, STAGE_ROWS), marks)
        revisions, late = [revision], [no_late_rows()]
        while LATE in revision.added:
            found = LateFindings.of(state, revision.added[LATE], self.machine.streams)
            late.append(found.hopeless)
            state = found.removed_from(state)
            if found.since is None:
                break
            state, revision = self._replay.again(state, found.since)
            revisions.append(revision)
        net = _net_of(revisions)
        return state, Emitted(
            concatenated(late),
            concatenated([one.rejects for one in revisions]),
            tables={name: self._shown(name, gone, fresh) for name, (gone, fresh) in net.items()},
            onward=tuple(_onward(net)) if self.machine.is_read_by_others else (),
        )

    def watermark(self, state: Revisable[S]) -> int:
        return self.machine.watermark(state.now)

    def latest(self, state: Revisable[S]) -> int | None:
        return max(state.clocks.latest.values(), default=None)

    def n_kept(self, state: Revisable[S]) -> int:
        """In states of before as well."""
        held = sum(len(rows) for kind in (state.pending, state.log, state.told) for rows in kind.values())
        return held + sum(map(self.machine.n_kept, (state.now, *(before.state for before in state.checkpoints))))

    def reconfigured(self, state: Revisable[S]) -> Revisable[S]:
        return replace(state, clocks=state.clocks.with_windows(self.windows))

    def migrated(self, state: Revisable[S], before: RevisedOperator[S]) -> Revisable[S]:
        return self.reconfigured(state)

    def open_matches(self, state: Revisable[S], event: str) -> list[OpenMatch]:
        waiting = {name: rows.combine_chunks() for name, rows in state.pending.items() if len(rows)}
        return self.machine.open_matches(state.now, waiting, state.clocks.latest, event)

    def to_bytes(self, state: Revisable[S]) -> bytes:
        return revisable_to_bytes(state, self.machine.to_bytes)

    def from_bytes(self, data: bytes) -> Revisable[S]:
        return revisable_from_bytes(data, self.machine.from_bytes)

    def _shown(self, name: str, gone: pa.Table, fresh: pa.Table) -> pa.Table:
        both = [self.machine.shown(name, rows, op) for rows, op in ((gone, WITHDRAWN), (fresh, ADDED)) if len(rows)]
        return concatenated(both)


def _net_of(revisions: Sequence[Revision]) -> dict[str, tuple[pa.Table, pa.Table]]:
    """By event what does not hold any more and what holds by now; what comes and goes again is left out."""
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
