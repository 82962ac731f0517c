"""Automata laid out as flat arrays for the kernels."""

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from inkling.automata.cells import CellGroup
from inkling.automata.compiled import CompiledPattern
from inkling.automata.nfa import Mark, Nfa
from inkling.automata.symbols import SymbolClasses
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


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """The arrays of one pattern; states and classes in rows, classes fastest."""

    class_of_cell: npt.NDArray[Any]
    starts: npt.NDArray[np.bool_]
    n_classes: int
    still: npt.NDArray[np.bool_]
    n_edges: npt.NDArray[Any]
    marks: npt.NDArray[Any]
    targets: npt.NDArray[Any]
    final: npt.NDArray[np.bool_]
    lasting: npt.NDArray[np.bool_]
    most_moves: int  # that can be taken by one event

    @classmethod
    def of(cls, pattern: CompiledPattern, symbols: npt.NDArray[np.int32], marks: Marks) -> "_Layout":
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


def _by_pattern(
    groups: Sequence[CellGroup],
) -> tuple[npt.NDArray[np.int32], dict[int, npt.NDArray[np.int32]]]:
    """For each pattern its group and the symbols of the group's cells."""
    symbols = {pattern: cells for group in groups for pattern, cells in zip(group.patterns, group.symbols, strict=True)}
    number = {pattern: index for index, group in enumerate(groups) for pattern in group.patterns}
    return np.array([number[pattern] for pattern in sorted(number)], dtype=np.int32), symbols


def _joined(parts: Sequence[npt.NDArray[Any]], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.concatenate(parts).astype(dtype)


def _bases(parts: Sequence[Sized]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *(len(part) for part in parts[:-1])], dtype=np.int64)
