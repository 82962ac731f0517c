"""Facts of a table: rows to those who read them one by one, columns to everybody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

import pyarrow as pa

from inkling.model.event import Value

FactRow = Mapping[str, Value]


class Facts(Sequence[FactRow]):
    """The rows of an Arrow table, made only when somebody asks for one."""

    __slots__ = ("_rows", "columns", "forms")

    def __init__(self, columns: pa.Table) -> None:
        self.columns = columns
        self._rows: tuple[FactRow, ...] | None = None
        self.forms: dict[object, object] = {}  # what others have made of the columns

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, index: int) -> FactRow: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[FactRow]: ...

    def __getitem__(self, index: int | slice) -> FactRow | Sequence[FactRow]:
        if self._rows is None:
            self._rows = tuple(self.columns.to_pylist())
        return self._rows[index]

    def __reduce__(self) -> tuple[type[Facts], tuple[pa.Table]]:
        return Facts, (self.columns,)
