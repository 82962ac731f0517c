"""Automata laid out as flat arrays for the kernels."""

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from inkling.automata.cells import CellGroup
from inkling.automata.compiled import CompiledPattern
from inkling.automata.dfa import Dfa
from inkling.automata.nfa import Mark, Nfa
from inkling.automata.symbols import moves_of
from inkling.kernels.automaton import DetectTables
from inkling.kernels.witness import NO_MARK, RunTables


@dataclass(frozen=True, slots=True)
class Marks:
    """The sets of slots that one event can fill, numbered in order."""

    marks: tuple[Mark, ...]
    start: npt.NDArray[np.int64]
    slot: npt.NDArray[np.int32]

    @classmethod
    def of(cls, nfas: Sequence[Nfa]) -> "Marks":
        marks = tuple(sorted({edge.mark for nfa in nfas for edges in nfa.edges for edge in edges} - {()}))
        start = np.cumsum([0, *(len(mark) for mark in marks)], dtype=np.int64)
        return cls(marks, start, np.array([slot for mark in marks for slot in mark], dtype=np.int32))


def detect_tables(dfas: Sequence[Dfa], groups: Sequence[CellGroup]) -> DetectTables:
    group, symbols = _by_pattern(groups)
    bases = np.cumsum([0, *(dfa.delta.size for dfa in dfas)], dtype=np.int64)
    columns = [dfa.columns[symbols[index]] for index, dfa in enumerate(dfas)]
    entries = [
        2 * (base + dfa.delta.astype(np.int64) * dfa.n_columns) + dfa.final[dfa.delta]
        for base, dfa in zip(bases, dfas, strict=False)
    ]
    return DetectTables(
        group=group,
        column_base=_bases(columns),
        column=np.concatenate(columns).astype(np.int32),
        delta_base=bases[:-1].copy(),
        n_columns=np.array([dfa.n_columns for dfa in dfas], dtype=np.int64),
        delta=np.concatenate([entry.reshape(-1) for entry in entries]),
    )


def run_tables(patterns: Sequence[CompiledPattern], groups: Sequence[CellGroup], marks: Marks) -> RunTables:
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


@dataclass(frozen=True, slots=True)
class _Layout:
    """The arrays of one pattern; states and classes in rows, classes fastest."""

    class_of_cell: list[int]
    starts: list[bool]
    n_classes: int
    still: list[bool]
    n_edges: list[int]
    marks: list[int]
    targets: list[int]
    final: list[bool]
    lasting: list[bool]
    most_moves: int  # that can be taken by one event

    @classmethod
    def of(cls, pattern: CompiledPattern, symbols: npt.NDArray[np.int32], marks: Marks) -> "_Layout":
        nfa = pattern.nfa
        moves = moves_of(nfa, pattern.alphabet.n_symbols)
        number = {mark: index for index, mark in enumerate(marks.marks)}
        first = [1 << int(np.argmax(moves.class_of_symbol == index)) for index in range(moves.n_classes)]
        final = [state in nfa.finals and state != 0 for state in range(nfa.n_states)]
        rows = [
            sorted(
                ((number[edge.mark] if edge.mark else NO_MARK), edge.target)
                for edge in edges
                if edge.symbols & symbol
            )
            for edges in nfa.edges
            for symbol in first
        ]
        rows = [sorted(row, key=lambda move: (move[0] == NO_MARK, *move)) for row in rows]
        by_state = [index // moves.n_classes for index in range(len(rows))]
        of_cell = moves.class_of_symbol[symbols]
        return cls(
            class_of_cell=of_cell.tolist(),
            starts=[bool(rows[index]) for index in of_cell.tolist()],
            n_classes=moves.n_classes,
            still=[
                row == [(NO_MARK, state)] and not final[state]
                for row, state in zip(rows, by_state, strict=True)
            ],
            n_edges=[len(row) for row in rows],
            marks=[mark for row in rows for mark, _ in row],
            targets=[target for row in rows for _, target in row],
            final=final,
            lasting=[bool(edges) for edges in nfa.edges],
            most_moves=max(
                sum(len(row) for row in rows[index :: moves.n_classes]) for index in range(moves.n_classes)
            ),
        )


def _by_pattern(
    groups: Sequence[CellGroup],
) -> tuple[npt.NDArray[np.int32], dict[int, npt.NDArray[np.int32]]]:
    """For each pattern its group and the symbols of the group's cells."""
    symbols = {
        pattern: cells
        for group in groups
        for pattern, cells in zip(group.patterns, group.symbols, strict=True)
    }
    number = {pattern: index for index, group in enumerate(groups) for pattern in group.patterns}
    return np.array([number[pattern] for pattern in sorted(number)], dtype=np.int32), symbols


def _joined(parts: Sequence[Sequence[int]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.array([value for part in parts for value in part], dtype=dtype)


def _bases(parts: Sequence[Sized]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *(len(part) for part in parts[:-1])], dtype=np.int64)
