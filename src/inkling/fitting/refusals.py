"""Rows that nothing was learned from, because they break the declaration of their stream: how many, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Refusals:
    """How many rows were refused, by stream and reason; false if none was."""

    counts: tuple[tuple[str, str, int], ...] = ()

    @classmethod
    def of(cls, counts: Iterable[tuple[str, str, int]]) -> Refusals:
        return cls(tuple(sorted(counts, key=lambda one: (-one[2], *one[:2]))))

    @classmethod
    def among(cls, rejects: pa.Table) -> Refusals:
        """Those of a table of refused rows."""
        found = rejects.group_by(["stream", "reason"]).aggregate([([], "count_all")])
        return cls.of((row["stream"], row["reason"], row["count_all"]) for row in found.to_pylist())

    @property
    def total(self) -> int:
        return sum(count for _, _, count in self.counts)

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __str__(self) -> str:
        """In words.

        >>> str(Refusals.of([("Visits", "null key", 1), ("Visits", "bad time", 4330)]))
        '4,331 rows refused: bad time in Visits (4,330), null key in Visits (1)'
        """
        why = ", ".join(f"{reason} in {stream} ({count:,})" for stream, reason, count in self.counts)
        return f"{self.total:,} row{'' if self.total == 1 else 's'} refused: {why}"
