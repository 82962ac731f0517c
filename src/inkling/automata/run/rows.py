"""Rows in the form that kernels read: columns of fixed types, sorted by key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from inkling.automata.run.cells import CellGroup
from inkling.kernels.automaton.runs import segments_of

Columns = TypeVar("Columns", bound=NamedTuple)


def frozen(values: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    """A contiguous read-only array; copied only if type or layout differ.

    Read-only arrays are a separate type in compiled code, so all columns are made read-only.
    """
    array = np.ascontiguousarray(values, dtype=dtype).view()
    array.flags.writeable = False
    return array


def frozen_all(columns: Columns) -> Columns:
    """A named tuple with all arrays read-only."""
    return columns._make(frozen(one) if isinstance(one, np.ndarray) else one for one in columns)


def frozen_as(columns: Columns, dtypes: Sequence[npt.DTypeLike]) -> Columns:
    """A named tuple with all arrays read-only and converted to given types."""
    return columns._make(map(frozen, columns, dtypes))


def concatenated(left: Columns, right: Columns) -> Columns:
    """Each column of one named tuple followed by that of the other."""
    return left._make(np.concatenate(pair) for pair in zip(left, right, strict=True))


class RowError(ValueError):
    """A row whose stream or predicate bits contradict what the patterns were compiled for."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(row, reason)
        self.row = row
        self.reason = reason

    def __str__(self) -> str:
        return f"row {self.row}: {self.reason}"


@dataclass(frozen=True, slots=True, eq=False)
class AutomatonRows:
    """Checked columns; ``segments`` holds the first row of each key and the number of rows."""

    key: npt.NDArray[np.int64]
    stream: npt.NDArray[np.int16]
    octets: npt.NDArray[np.uint8]  # [row, byte]: the predicate bits, lowest byte first
    segments: npt.NDArray[np.int64]

    @classmethod
    def of(cls, key: npt.ArrayLike, stream: npt.ArrayLike, bits: npt.ArrayLike) -> "AutomatonRows":
        keys = frozen(key, np.int64)
        streams = frozen(stream, np.int16)
        octets = frozen(bits, "<u8").view(np.uint8).reshape(-1, 8)
        if not len(keys) == len(streams) == len(octets):
            lengths = f"key {len(keys)}, stream {len(streams)}, bits {len(octets)}"
            raise ValueError(f"columns of one length are needed, got {lengths}")
        segments = segments_of(keys)
        if not len(segments):
            raise ValueError("rows must be sorted by key")
        return cls(keys, streams, octets, frozen(segments, np.int64))

    @property
    def n_rows(self) -> int:
        return len(self.key)

    @property
    def segment_keys(self) -> npt.NDArray[np.int64]:
        return self.key[self.segments[:-1]]

    def cells(self, groups: Sequence[CellGroup]) -> npt.NDArray[np.int32]:
        cells = np.empty((len(groups), self.n_rows), dtype=np.int32)
        for group, out in zip(groups, cells, strict=True):
            done = group.fill(self.stream, self.octets, out)
            if done < self.n_rows:
                raise RowError(done, self._complaint(done, group))
        return frozen(cells, np.int32)

    def _complaint(self, row: int, group: CellGroup) -> str:
        if not -1 <= self.stream[row] < group.n_streams:
            return f"stream {self.stream[row]} is not one of 0 to {group.n_streams - 1}"
        bits = int.from_bytes(self.octets[row].tobytes(), "little")
        return f"predicates hold that cannot hold together, bits={bits:#x}"
