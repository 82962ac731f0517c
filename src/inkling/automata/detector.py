"""Where patterns hold, without witnesses: one table lookup per row and pattern."""

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inkling.automata.cells import CellGroup
from inkling.automata.columns import concatenated, frozen_all
from inkling.automata.dfa import Dfa
from inkling.automata.engine import PatternSet
from inkling.automata.limits import MAX_STATES
from inkling.automata.rows import Rows
from inkling.automata.tables import detect_tables
from inkling.kernels.automaton import DONE, DetectTables, Found, detect
from inkling.kernels.order import order_by_row


@dataclass(frozen=True, slots=True, eq=False)
class DetectorState:
    """The state of each pattern's automaton for each key that is not back at its start."""

    fingerprint: bytes
    key: npt.NDArray[np.int64]  # ascending
    states: npt.NDArray[np.int32]  # [key, pattern]


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Where patterns were detected, ordered by row and pattern."""

    pattern: npt.NDArray[np.int32]
    row: npt.NDArray[np.int64]  # in the batch
    key: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Detector:
    """The smallest automata of a set of patterns."""

    dfas: tuple[Dfa, ...]
    groups: tuple[CellGroup, ...]
    tables: DetectTables
    fingerprint: bytes

    @classmethod
    def of(cls, patterns: PatternSet, *, max_states: int = MAX_STATES) -> "Detector":
        """Make tables for patterns; `TooManyStates` when one of them would have more than ``max_states``."""
        dfas = tuple(pattern.dfa(max_states=max_states) for pattern in patterns.patterns)
        digest = hashlib.sha256(b"".join(dfa.to_bytes() for dfa in dfas)).digest()
        return cls(dfas, patterns.groups, detect_tables(dfas, patterns.groups), digest)

    def initial_state(self) -> DetectorState:
        states = np.empty((0, len(self.dfas)), dtype=np.int32)
        return DetectorState(self.fingerprint, np.empty(0, dtype=np.int64), states)

    def step(
        self, state: DetectorState, key: npt.ArrayLike, stream: npt.ArrayLike, bits: npt.ArrayLike
    ) -> tuple[DetectorState, Ends]:
        """Read rows sorted by key, each key in its own order; a row of stream -1 resets its key."""
        if state.fingerprint != self.fingerprint:
            raise ValueError("the state belongs to other patterns")
        rows = Rows.of(key, stream, bits)
        keys = np.union1d(state.key, rows.segment_keys)
        states = np.zeros((len(keys), len(self.dfas)), dtype=np.int32)
        states[np.searchsorted(keys, state.key)] = state.states
        touched = np.searchsorted(keys, rows.segment_keys)
        advanced = np.ascontiguousarray(states[touched])
        found = self._detect(rows, advanced)
        states[touched] = advanced
        live = states.any(axis=1)
        order = order_by_row(found.row, rows.n_rows)
        row = found.row[order]
        return (
            DetectorState(self.fingerprint, keys[live], states[live]),
            Ends(found.pattern[order], row, rows.key[row]),
        )

    def _detect(self, rows: Rows, states: npt.NDArray[np.int32]) -> Found:
        tables, cells = frozen_all(self.tables), rows.cells(self.groups)
        size = rows.n_rows // 8 + 64
        found = Found(np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int32))
        segment = n_found = 0
        while True:
            status, segment, n_found = detect(tables, cells, rows.segments, segment, n_found, states, found)
            if status == DONE:
                return Found(found.row[:n_found], found.pattern[:n_found])
            found = concatenated(found, Found._make(np.empty_like(column) for column in found))
