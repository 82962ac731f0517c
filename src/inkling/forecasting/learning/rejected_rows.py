"""Rejected rows, which violate the declaration of their stream and are not learned from: counts by reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class RejectedRows:
    """The number of rejected rows by stream and reason; false if there are none."""

    counts: tuple[tuple[str, str, int], ...] = ()

    @classmethod
    def of(cls, counts: Iterable[tuple[str, str, int]]) -> RejectedRows:
        return cls(tuple(sorted(counts, key=lambda one: (-one[2], *one[:2]))))

    @classmethod
    def among(cls, rejects: pa.Table) -> RejectedRows:
        """Counts from a table of rejected rows."""
        found = rejects.group_by(["stream", "reason"]).aggregate([([], "count_all")])
        return cls.of((row["stream"], row["reason"], row["count_all"]) for row in found.to_pylist())

    @property
    def total(self) -> int:
        return sum(count for _, _, count in self.counts)

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __str__(self) -> str:
        """In words.

        >>> str(RejectedRows.of([("Visits", "null key", 1), ("Visits", "bad time", 4330)]))
        '4,331 rows rejected: bad time in Visits (4,330), null key in Visits (1)'
        """
        why = ", ".join(f"{reason} in {stream} ({count:,})" for stream, reason, count in self.counts)
        return f"{self.total:,} row{'' if self.total == 1 else 's'} rejected: {why}"
