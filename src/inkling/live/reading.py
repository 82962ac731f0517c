"""Raw rows of several streams, checked and typed; those without an id are numbered as they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inkling.io.normalize import Normalizer
from inkling.io.rejects import NO_REJECTS
from inkling.live.chain import concatenated
from inkling.logical.plan import StreamPlan
from inkling.model.time import Clock


@dataclass(frozen=True, slots=True)
class Read:
    """By stream: rows, withdrawals, and how many rows have come so far; rejects of all streams."""

    rows: Mapping[str, pa.Table]
    withdrawals: Mapping[str, pa.Table]
    n_read: Mapping[str, int]
    rejects: pa.Table


class Reading:
    """Knows the streams of a program; keeps nothing of their rows."""

    def __init__(self, streams: Iterable[StreamPlan], clocks: Mapping[str, Clock]) -> None:
        self._normalizers = {
            stream.schema.name: Normalizer(
                stream.schema, [column.name for column in stream.derived], clocks[stream.schema.name]
            )
            for stream in streams
        }

    def __call__(self, raw: Mapping[str, pa.Table], n_read: Mapping[str, int]) -> Read:
        """`n_read` rows of each stream have come before."""
        counts, rows, withdrawals, rejects = dict(n_read), {}, {}, [NO_REJECTS]
        for name, some in raw.items():
            first = counts.get(name, 0) + 1
            counts[name] = first + len(some) - 1
            found = self._normalizers[name](some, np.arange(first, first + len(some)))
            rows[name], withdrawals[name] = found.rows, found.withdrawals
            rejects.append(found.rejects)
        return Read(rows, withdrawals, counts, concatenated(rejects))
