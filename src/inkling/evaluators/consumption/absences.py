"""What must not lie between the two sides of a pair, as lists by key and start that kernels can search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inkling.evaluators.consumption.pairs import RowLayout
from inkling.evaluators.network import candidates as cand
from inkling.evaluators.network.bytecode import ALWAYS, LOOKING_UP, Code, compile_conditions
from inkling.evaluators.network.lateral import Evaluation
from inkling.evaluators.network.store import Doubles
from inkling.evaluators.stage.batches import rows_passing
from inkling.kernels import vm
from inkling.logical import plan as p
from inkling.model.batch import Ints


@dataclass(frozen=True, slots=True)
class Absences:
    """What the kernel takes: offsets per absence and key into the borders and rows, and the code of the conditions."""

    offsets: Ints
    start: Ints
    start_place: Ints
    end: Ints
    end_place: Ints
    rows: Ints
    code: Ints
    code_offsets: Ints
    constants: Doubles


NO_ABSENCES = Absences(
    np.empty((0, 1), np.int64),
    *(np.empty(0, np.int64),) * 5,
    ALWAYS.instructions,
    np.zeros(1, np.int64),
    ALWAYS.constants,
)


def absences_of(patterns: tuple[p.Pattern, ...], lateral: Evaluation, layout: RowLayout) -> Absences:
    """All absences of a pair, their lists one after the other."""
    if not patterns:
        return NO_ABSENCES
    indexes, codes = zip(*(_listed(pattern, lateral, layout) for pattern in patterns), strict=True)
    begins = np.cumsum([0, *(len(index.rows) for index in indexes)])
    constants = np.cumsum([0, *(len(code.constants) for code in codes)])
    written = [_shifted(code.instructions, int(first)) for code, first in zip(codes, constants[:-1], strict=True)]
    return Absences(
        np.stack([index.offsets + first for index, first in zip(indexes, begins[:-1], strict=True)]),
        np.concatenate([index.start for index in indexes]),
        np.concatenate([index.start_place for index in indexes]),
        np.concatenate([index.end for index in indexes]),
        np.concatenate([index.end_place for index in indexes]),
        np.concatenate([index.rows for index in indexes]),
        np.concatenate(written),
        np.cumsum([0, *(len(one) for one in written)]),
        np.concatenate([code.constants for code in codes]),
    )


def _listed(pattern: p.Pattern, lateral: Evaluation, layout: RowLayout) -> tuple[cand.Index, Code]:
    store = lateral.store
    if isinstance(pattern, p.Leaf):
        test = lateral.step.leaf(pattern.slot)
        rows = rows_passing(test, store.batch)
        index = cand.index_rows(store, rows, store.batch.key[rows], store.n_keys)
        return index, compile_conditions(test.across, pattern.slot, store, layout, lateral.measure)
    found = lateral.occurrences(pattern, lateral.roots())
    order = np.lexsort([found.start_place, found.start, found.origin])
    found = found.take(order)
    offsets = np.searchsorted(found.origin, np.arange(store.n_keys + 1))
    nothing = np.full(len(found), -1)
    return cand.Index(nothing, offsets, found.start, found.start_place, found.end, found.end_place), ALWAYS


def _shifted(instructions: Ints, first: int) -> Ints:
    """The instructions where their constants come after `first` others."""
    moved = instructions.copy()
    moved[np.isin(moved[:, 0], (vm.CONST, vm.IN, *LOOKING_UP)), 1] += first
    moved[moved[:, 0] == vm.IN, 2] += first
    return moved
