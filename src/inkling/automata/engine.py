"""Many patterns over batches of rows: detections with their witnesses, whatever the cut into batches."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.automata.cells import CellGroup, cell_groups
from inkling.automata.compiled import CompiledPattern
from inkling.automata.detections import Detections
from inkling.automata.limits import MAX_STATES
from inkling.automata.meaning import Pattern
from inkling.automata.memory import OpenRoom, Room, RunMemory
from inkling.automata.rows import Rows, concatenated, frozen, frozen_all
from inkling.automata.state import AutomatonState
from inkling.automata.tables import Marks, run_tables
from inkling.kernels.order import order_by_row
from inkling.kernels.witness import DONE, Batch, RunTables, Witnessed, track


@dataclass(frozen=True, slots=True, eq=False)
class PatternSet:
    """Patterns compiled for one set of streams and predicates."""

    patterns: tuple[CompiledPattern, ...]
    groups: tuple[CellGroup, ...]
    marks: Marks
    tables: RunTables
    fingerprint: bytes

    @classmethod
    def compile(
        cls,
        patterns: Sequence[Pattern],
        n_streams: int,
        *,
        exclusive: Sequence[frozenset[int]] = (),
        max_states: int = MAX_STATES,
    ) -> "PatternSet":
        """Compile patterns over streams 0 to ``n_streams - 1``.

        ``exclusive`` lists sets of predicates of which at most one holds on any event; it makes automata
        smaller, and a row that breaks the promise is refused.
        """
        if not patterns or n_streams < 1:
            raise ValueError(f"patterns and streams are needed, got {len(patterns)} and {n_streams}")
        compiled = tuple(
            CompiledPattern.of(pattern, n_streams, exclusive=exclusive, max_states=max_states) for pattern in patterns
        )
        groups = cell_groups([pattern.alphabet for pattern in compiled])
        marks = Marks.of([pattern.nfa for pattern in compiled])
        tables = run_tables(compiled, groups, marks)
        digest = hashlib.sha256(repr(marks.marks).encode())
        for column in tables:
            digest.update(np.asarray(column).tobytes())
        return cls(compiled, groups, marks, tables, digest.digest())

    def initial_state(self) -> AutomatonState:
        return AutomatonState.empty(self.fingerprint, len(self.patterns))

    def step(
        self,
        state: AutomatonState,
        key: npt.ArrayLike,
        stream: npt.ArrayLike,
        bits: npt.ArrayLike,
        events: npt.ArrayLike,
    ) -> tuple[AutomatonState, Detections]:
        """Read rows sorted by key, each key in its own order; a row of stream -1 resets its key.

        ``events`` are the numbers by which lineage names the rows. The work grows with the rows and with
        the state, so a caller with many idle keys passes the part of the state that the rows touch.
        """
        if state.fingerprint != self.fingerprint:
            raise ValueError("the state belongs to other patterns")
        rows = Rows.of(key, stream, bits)
        names = frozen(events, np.int64)
        if len(names) != rows.n_rows:
            raise ValueError(f"columns of one length are needed, got key {rows.n_rows}, events {len(names)}")
        slots = state.slots_of(rows.segment_keys)
        room = self._track(state, rows, names, slots)
        return self._next_state(state, rows, slots, room), self._detections(rows, room)

    def advance(
        self, memory: RunMemory, rows: Rows, codes: npt.NDArray[np.int64], first_event: int
    ) -> tuple[OpenRoom, Detections]:
        """Read rows of keys with the given codes, one per segment; events are numbered from `first_event`.

        The memory stays as it is until it is told to `keep` what was written.
        """
        if memory.fingerprint != self.fingerprint:
            raise ValueError("the state belongs to other patterns")
        room = memory.room(codes, rows.n_rows, self.tables.most_states)
        names = frozen(np.arange(first_event, first_event + rows.n_rows))
        cells, segments, slots = rows.cells(self.groups), rows.segments, frozen(codes)
        begin, end = frozen(memory.begin), frozen(memory.end)
        tables = self._frozen_tables()
        while True:
            batch = Batch(cells, names, segments, frozen_all(room.runs), begin, end, slots)
            status, room.progress = track(tables, batch, room.progress, room.runs, room.nodes, room.found)
            if status == DONE:
                break
            room.widen(status, room.progress)
        n_found = room.progress.n_found
        found = Witnessed(room.found.row[:n_found], room.found.pattern[:n_found], room.found.node[:n_found])
        if n_found:
            order = order_by_row(found.row, rows.n_rows)
            found = Witnessed(found.row[order], found.pattern[order], found.node[order])
        key = rows.key[found.row]
        return room, Detections(found.pattern, found.row, key, found.node, room.nodes, self.marks)

    def _track(
        self,
        state: AutomatonState,
        rows: Rows,
        names: npt.NDArray[np.int64],
        slots: npt.NDArray[np.int64],
    ) -> Room:
        tables = self._frozen_tables()
        before = frozen_all(state.runs)
        begin, end = before.offset[:-1], before.offset[1:]
        batch = Batch(rows.cells(self.groups), names, rows.segments, before, begin, end, frozen(slots))
        room = Room.for_rows(state, rows, self.tables.most_states)
        while True:
            status, progress = track(tables, batch, room.progress, room.runs, room.nodes, room.found)
            if status == DONE:
                return room.filled(progress)
            room = room.wider(status, progress)

    def _frozen_tables(self) -> RunTables:
        """Compiled code tells read-only arrays from others; those that were pickled come back as others."""
        if self.tables.group.flags.writeable:
            for column in self.tables:
                if isinstance(column, np.ndarray):
                    column.flags.writeable = False
        return self.tables

    def _next_state(
        self, state: AutomatonState, rows: Rows, slots: npt.NDArray[np.int64], room: Room
    ) -> AutomatonState:
        untouched = np.ones(state.n_keys, dtype=np.bool_)
        untouched[slots[slots >= 0]] = False
        shape = (len(rows.segments) - 1, len(self.patterns))
        n_old = len(state.runs.state)
        runs = concatenated(state.runs, room.runs)
        return AutomatonState.assembled(
            self.fingerprint,
            len(self.patterns),
            np.concatenate([state.key[untouched], rows.segment_keys]),
            np.concatenate([state.begins[untouched], n_old + room.runs.offset[:-1].reshape(shape)]),
            np.concatenate([state.counts[untouched], np.diff(room.runs.offset).reshape(shape)]),
            runs,
            room.nodes,
        )

    def _detections(self, rows: Rows, room: Room) -> Detections:
        row, pattern, node = room.found
        order = order_by_row(row, rows.n_rows)
        return Detections(pattern[order], row[order], rows.key[row[order]], node[order], room.nodes, self.marks)
