"""Findings, faults of rows or of groups of rows, and the rejects that report them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from inkling.io.normalize import ID
from inkling.io.rejects import NO_REJECTS, REJECTS_SCHEMA, Reason, row_json, shown
from inkling.model.batch import Mask
from inkling.model.keys import encoded
from inkling.model.schema import StreamSchema


@dataclass(frozen=True, slots=True)
class Finding:
    """The rows or groups with one kind of fault; `detail` describes the fault of one of them."""

    reason: Reason
    mask: Mask
    detail: Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The first finding about each row or group, by its index among the findings; -1 if there is none."""

    findings: Sequence[Finding]
    first: NDArray[np.int64]

    @classmethod
    def of(cls, n_things: int, findings: Sequence[Finding]) -> Verdicts:
        first = np.full(n_things, -1)
        for rank in reversed(range(len(findings))):
            first[findings[rank].mask] = rank
        return cls(findings, first)

    @property
    def guilty(self) -> Mask:
        return self.first >= 0

    def fault(self, thing: int) -> tuple[Reason, str]:
        finding = self.findings[self.first[thing]]
        return finding.reason, finding.detail(thing)


def split(
    schema: StreamSchema, rows: pa.Table, bad: Mask, fault: Callable[[int], tuple[Reason, str]]
) -> tuple[pa.Table, pa.Table]:
    """The rows that are not bad, and rejects for the others; `fault` returns the fault of the row at a position."""
    if not bad.any():
        return rows, NO_REJECTS
    columns = [name for name in rows.column_names if not name.startswith("@")]
    places = np.flatnonzero(bad)
    chosen = rows.take(pa.array(places))
    plain, ids = chosen.select(columns).to_pylist(), chosen[ID].to_pylist()
    rejects = []
    for place, row, identity in zip(places, plain, ids, strict=True):
        reason, detail = fault(int(place))
        rejects.append(
            {
                "stream": schema.name,
                "reason": reason.value,
                "detail": detail,
                "row": row_json(row),
                "id": None if identity is None else str(identity),
            }
        )
    return rows.filter(pa.array(~bad)), pa.Table.from_pylist(rejects, schema=REJECTS_SCHEMA)


def number_words(number: float) -> str:
    """A number in a message: integers without a decimal point, others with at most 12 significant digits.

    >>> number_words(3.0), number_words(0.1 + 0.2), number_words(1.2000000000000002)
    ('3', '0.3', '1.2')
    """
    return f"{number:.12g}"


def counted(n: int, what: str) -> str:
    """A count with its noun.

    >>> counted(1, "weight"), counted(3, "weight")
    ('1 weight', '3 weights')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def value_words(values: Sequence[object]) -> str:
    """The values of a row in a message."""
    return ", ".join(shown(value) for value in values)


Numbers = NDArray[np.int64]


def numbered(columns: Sequence[pa.ChunkedArray | pa.Array | Numbers], n_rows: int) -> Numbers:
    """Numbers from 0 for the distinct combinations of values, in no particular order; null is a value.

    NumPy arrays are assumed to hold numbers in a small range, such as the result of an earlier call.
    """
    found = np.zeros(n_rows, np.int64)
    for place, column in enumerate(columns):
        codes = column - column.min(initial=0) if isinstance(column, np.ndarray) else encoded(column)[0]
        found = codes if place == 0 else _renumbered(found * (codes.max(initial=0) + 1) + codes)
    return found


_SPARSEST = 8
"""The range of numbers, per number, up to which marking them is faster than hashing them."""


def _renumbered(numbers: Numbers) -> Numbers:
    """The same numbers without gaps."""
    n_possible = int(numbers.max(initial=0)) + 1
    if n_possible > _SPARSEST * len(numbers):
        return encoded(numbers)[0]
    is_used = np.zeros(n_possible, bool)
    is_used[numbers] = True
    return (np.cumsum(is_used) - 1)[numbers]
