"""Detection of many patterns in batches of rows; results do not depend on the division into batches.

A detection is an event at which a pattern matches; its witness is the first match that ends there. `run_tables` lays
automata out as flat arrays for the kernel `kernels.automaton.witness`.
"""

import hashlib
from collections.abc import Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from inkling.automata.compiled import CompiledPattern
from inkling.automata.limits import MAX_STATES
from inkling.automata.nfa import Mark, Nfa
from inkling.automata.regex import RegexPattern
from inkling.automata.run.cells import CellGroup, cell_groups
from inkling.automata.run.memory import OpenRoom, Room, RunMemory
from inkling.automata.run.rows import AutomatonRows, concatenated, frozen, frozen_all
from inkling.automata.run.state import AutomatonState
from inkling.automata.symbols import SymbolClasses
from inkling.kernels.automaton.lineage import write_lineage
from inkling.kernels.automaton.order import order_by_row
from inkling.kernels.automaton.witness import DONE, NO_MARK, Batch, Nodes, RunTables, Witnessed, track


@dataclass(frozen=True, slots=True)
class MarkTable:
    """The marks of automata by number; a mark is the list of slots that an event fills."""

    marks: tuple[Mark, ...]
    start: npt.NDArray[np.int64]
    slot: npt.NDArray[np.int32]

    @classmethod
    def of(cls, nfas: Sequence[Nfa]) -> "MarkTable":
        marks = tuple(sorted({edge.mark for nfa in nfas for edges in nfa.edges for edge in edges} - {()}))
        start = np.cumsum([0, *(len(mark) for mark in marks)], dtype=np.int64)
        return cls(marks, start, np.array([slot for mark in marks for slot in mark], dtype=np.int32))


def run_tables(patterns: Sequence[CompiledPattern], groups: Sequence[CellGroup], marks: MarkTable) -> RunTables:
    group, symbols = _by_pattern(groups)
    layouts = [_Layout.of(pattern, symbols[index], marks) for index, pattern in enumerate(patterns)]
    edge_counts = np.concatenate([layout.n_edges for layout in layouts])
    return RunTables(
        group=group,
        cell_base=_bases([layout.class_of_cell for layout in layouts]),
        class_of_cell=_joined([layout.class_of_cell for layout in layouts], np.int32),
        starts=_joined([layout.starts for layout in layouts], np.uint8),
        n_classes=np.array([layout.n_classes for layout in layouts], dtype=np.int64),
        row_base=_bases([layout.still for layout in layouts]),
        still=_joined([layout.still for layout in layouts], np.uint8),
        edge_start=np.concatenate([[0], np.cumsum(edge_counts)]).astype(np.int64),
        edge_mark=_joined([layout.marks for layout in layouts], np.int32),
        edge_target=_joined([layout.targets for layout in layouts], np.int32),
        state_base=_bases([layout.final for layout in layouts]),
        final=_joined([layout.final for layout in layouts], np.uint8),
        lasting=_joined([layout.lasting for layout in layouts], np.uint8),
        restart=np.array([pattern.restart for pattern in patterns], dtype=np.uint8),
        mark_size=np.array([len(mark) for mark in marks.marks], dtype=np.int64),
        most_states=max(len(layout.final) for layout in layouts),
        most_moves=max(layout.most_moves for layout in layouts),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """The arrays of one pattern; arrays by [state, class] are flattened in this order."""

    class_of_cell: npt.NDArray[Any]
    starts: npt.NDArray[np.bool_]
    n_classes: int
    still: npt.NDArray[np.bool_]
    n_edges: npt.NDArray[Any]
    marks: npt.NDArray[Any]
    targets: npt.NDArray[Any]
    final: npt.NDArray[np.bool_]
    lasting: npt.NDArray[np.bool_]
    most_moves: int  # the most moves at one event

    @classmethod
    def of(cls, pattern: CompiledPattern, symbols: npt.NDArray[np.int32], marks: MarkTable) -> "_Layout":
        nfa = pattern.nfa
        classes = SymbolClasses.of(nfa, pattern.alphabet.n_symbols)
        number = {mark: index for index, mark in enumerate(marks.marks)}
        final = np.isin(np.arange(nfa.n_states), [*nfa.finals - {0}])
        still, n_edges, edge_marks, targets = [], [], [], []
        for state, edges in enumerate(nfa.edges):
            ordered = sorted(edges, key=lambda edge: (not edge.mark, edge.mark, edge.target))
            taken = np.array([classes.within(edge.symbols) for edge in ordered], dtype=np.bool_)
            taken = taken.reshape(len(ordered), classes.n_classes)
            _, chosen = np.nonzero(taken.T)
            marked = np.array([number.get(edge.mark, NO_MARK) for edge in ordered], dtype=np.int32)
            target = np.array([edge.target for edge in ordered], dtype=np.int32)
            loops = taken[(marked == NO_MARK) & (target == state)].any(axis=0)
            still.append(loops & (taken.sum(axis=0) == 1) & ~final[state])
            n_edges.append(taken.sum(axis=0))
            edge_marks.append(marked[chosen])
            targets.append(target[chosen])
        class_of_cell = classes.of_symbol[symbols]
        return cls(
            class_of_cell=class_of_cell,
            starts=n_edges[0][class_of_cell] > 0,
            n_classes=classes.n_classes,
            still=np.concatenate(still),
            n_edges=np.concatenate(n_edges),
            marks=np.concatenate(edge_marks),
            targets=np.concatenate(targets),
            final=final,
            lasting=np.array([bool(edges) for edges in nfa.edges]),
            most_moves=int(np.sum(n_edges, axis=0).max()),
        )


def _by_pattern(groups: Sequence[CellGroup]) -> tuple[npt.NDArray[np.int32], dict[int, npt.NDArray[np.int32]]]:
    """The group of each pattern, and by pattern the symbols of the group's cells."""
    symbols = {pattern: cells for group in groups for pattern, cells in zip(group.patterns, group.symbols, strict=True)}
    number = {pattern: index for index, group in enumerate(groups) for pattern in group.patterns}
    return np.array([number[pattern] for pattern in sorted(number)], dtype=np.int32), symbols


def _joined(parts: Sequence[npt.NDArray[Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate(parts).astype(dtype)


def _bases(parts: Sequence[Sized]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *(len(part) for part in parts[:-1])], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Lineage:
    """Lists of events in order of rows; list i is ``offsets[i]`` to ``offsets[i + 1]`` - 1."""

    offsets: npt.NDArray[np.int64]
    events: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """Detections of patterns, ordered by row and pattern.

    Witnesses share common beginnings until `lineage` expands them. With repetitions, their total length can be
    quadratic in the rows, so select detections with `only` first.
    """

    pattern: npt.NDArray[np.int32]
    row: npt.NDArray[np.int64]  # in the batch
    key: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]  # last node of the witness
    nodes: Nodes
    marks: MarkTable

    def __len__(self) -> int:
        return len(self.row)

    def only(self, wanted: npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> "Detections":
        """Selected detections, by mask or index."""
        return replace(
            self, pattern=self.pattern[wanted], row=self.row[wanted], key=self.key[wanted], node=self.node[wanted]
        )

    def of_pattern(self, number: int) -> "Detections":
        """The detections of one pattern."""
        return self if not len(self) else self.only(self.pattern == number)

    def first_event(self) -> npt.NDArray[np.int64]:
        """The first member of each witness, -1 if it has none."""
        return _of_nodes(self.nodes.first, self.node, -1)

    def n_members(self) -> npt.NDArray[np.int64]:
        """The length of the lineage of each detection."""
        return _of_nodes(self.nodes.size, self.node, 0)

    def lineage(self) -> Lineage:
        """The members of each witness; an event that fills two slots is listed twice."""
        offsets = np.concatenate([[0], np.cumsum(self.n_members())])
        events = np.empty(offsets[-1], dtype=np.int64)
        slots = np.empty(offsets[-1], dtype=np.int32)
        write_lineage(
            frozen_all(self.nodes),
            frozen(self.node, np.int64),
            frozen(offsets, np.int64),
            frozen(self.marks.start, np.int64),
            frozen(self.marks.slot, np.int32),
            events,
            slots,
        )
        return Lineage(offsets, events, slots)


def _of_nodes(values: npt.NDArray[np.int64], node: npt.NDArray[np.int64], without: int) -> npt.NDArray[np.int64]:
    found = np.full(len(node), without, np.int64)
    some = node >= 0
    found[some] = values[node[some]]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class PatternSet:
    """Patterns compiled for one set of streams and predicates."""

    patterns: tuple[CompiledPattern, ...]
    groups: tuple[CellGroup, ...]
    marks: MarkTable
    tables: RunTables
    fingerprint: bytes

    @classmethod
    def compile(
        cls,
        patterns: Sequence[RegexPattern],
        n_streams: int,
        *,
        exclusive: Sequence[frozenset[int]] = (),
        max_states: int = MAX_STATES,
    ) -> "PatternSet":
        """Compiles patterns over streams 0 to ``n_streams - 1``.

        ``exclusive`` lists sets of predicates of which at most one holds on any event; it makes automata smaller,
        and a row that violates it raises `RowError`.
        """
        if not patterns or n_streams < 1:
            raise ValueError(f"patterns and streams are needed, got {len(patterns)} and {n_streams}")
        compiled = tuple(
            CompiledPattern.of(pattern, n_streams, exclusive=exclusive, max_states=max_states) for pattern in patterns
        )
        groups = cell_groups([pattern.alphabet for pattern in compiled])
        marks = MarkTable.of([pattern.nfa for pattern in compiled])
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
        """Processes rows sorted by key and, within a key, in canonical order; a row of stream -1 resets its key.

        ``events`` are the numbers of the rows in lineages. The cost grows with the rows and with the state, so a caller
        with many idle keys passes only the state of keys with rows.
        """
        if state.fingerprint != self.fingerprint:
            raise ValueError("the state belongs to other patterns")
        rows = AutomatonRows.of(key, stream, bits)
        names = frozen(events, np.int64)
        if len(names) != rows.n_rows:
            raise ValueError(f"columns of one length are needed, got key {rows.n_rows}, events {len(names)}")
        slots = state.slots_of(rows.segment_keys)
        room = self._track(state, rows, names, slots)
        return self._next_state(state, rows, slots, room), self._detections(rows, room)

    def advance(
        self, memory: RunMemory, rows: AutomatonRows, codes: npt.NDArray[np.int64], first_event: int
    ) -> tuple[OpenRoom, Detections]:
        """Processes rows of the keys ``codes``, one per segment; events are numbered from `first_event`.

        The memory does not change until `RunMemory.keep` is called with the returned room.
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
        self, state: AutomatonState, rows: AutomatonRows, names: npt.NDArray[np.int64], slots: npt.NDArray[np.int64]
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
        """The tables as read-only arrays, a separate type in compiled code; pickling loses the flag."""
        if self.tables.group.flags.writeable:
            for column in self.tables:
                if isinstance(column, np.ndarray):
                    column.flags.writeable = False
        return self.tables

    def _next_state(
        self, state: AutomatonState, rows: AutomatonRows, slots: npt.NDArray[np.int64], room: Room
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

    def _detections(self, rows: AutomatonRows, room: Room) -> Detections:
        row, pattern, node = room.found
        order = order_by_row(row, rows.n_rows)
        return Detections(pattern[order], row[order], rows.key[row[order]], node[order], room.nodes, self.marks)
