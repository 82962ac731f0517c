"""Deterministic automata as tables: one lookup per event."""

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_MAGIC = b"INKDFA\x00\x01"
_HEADER = struct.Struct("<8sqqq")


@dataclass(frozen=True, slots=True, eq=False)
class Dfa:
    """A complete table; state 0 is the start, columns are classes of symbols that act alike."""

    delta: npt.NDArray[np.int32]  # [state, column] → state
    final: npt.NDArray[np.bool_]
    columns: npt.NDArray[np.int32]  # symbol → column

    @property
    def n_states(self) -> int:
        return int(self.delta.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.delta.shape[1])

    def run(self, symbols: Iterable[int]) -> list[int]:
        """The states after each symbol."""
        state, visited = 0, []
        for symbol in symbols:
            state = int(self.delta[state, self.columns[symbol]])
            visited.append(state)
        return visited

    def accepts(self, symbols: Iterable[int]) -> bool:
        return bool(self.final[[0, *self.run(symbols)][-1]])

    def to_bytes(self) -> bytes:
        """The same automaton always gives the same bytes."""
        header = _HEADER.pack(_MAGIC, self.n_states, self.n_columns, len(self.columns))
        parts = (self.delta.astype("<i4"), self.final.astype("u1"), self.columns.astype("<i4"))
        return header + b"".join(part.tobytes() for part in parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Dfa":
        magic, n_states, n_columns, n_symbols = _HEADER.unpack_from(data)
        if magic != _MAGIC:
            raise ValueError("these bytes are not an automaton of this version")
        at = _HEADER.size
        delta = np.frombuffer(data, "<i4", n_states * n_columns, at).reshape(n_states, n_columns)
        at += delta.nbytes
        final = np.frombuffer(data, "u1", n_states, at).astype(np.bool_)
        columns = np.frombuffer(data, "<i4", n_symbols, at + n_states)
        return cls(delta.astype(np.int32), final, columns.astype(np.int32))

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.to_bytes()).hexdigest()
