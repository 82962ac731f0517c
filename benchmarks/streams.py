"""Readings of many devices, of any size: uniform, so that what a query costs depends on its text alone.

Kinds 0 to 9 are equally frequent and independent. Times are distinct, so that hand-written queries need no rule for
ties, and a device reports once a second on average, whatever the number of devices.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

STREAM = """\
STREAM Reading(id BIGINT, device BIGINT, t TIMESTAMP, kind INT, level DOUBLE, code INT)
  ID id KEY device TIME t ORDER BY id;
"""
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "device": pa.int64(),
        "t": pa.timestamp("us", tz="UTC"),
        "kind": pa.int32(),
        "level": pa.float64(),
        "code": pa.int32(),
    }
)
N_KINDS = 10
N_CODES = 1000
SECOND_US = 1_000_000
CHUNK = 1_000_000


@dataclass(frozen=True, slots=True)
class Readings:
    """A reproducible data set; `level` is uniform in [0, 1), `code` in 0 … 999."""

    events: int
    devices: int
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.events:,} readings of {self.devices:,} devices, seed {self.seed}"

    def chunk(self, number: int) -> pa.Table:
        """The rows from `number * CHUNK` on, which do not depend on how many there are in all."""
        first = number * CHUNK
        n = min(CHUNK, self.events - first)
        random = np.random.default_rng([self.seed, self.devices, number])
        ids = np.arange(first, first + n)
        columns = {
            "id": ids,
            "device": random.integers(0, self.devices, n),
            "t": ids * SECOND_US // self.devices,
            "kind": random.integers(0, N_KINDS, n, np.int32),
            "level": random.random(n),
            "code": random.integers(0, N_CODES, n, np.int32),
        }
        return pa.table(columns).cast(SCHEMA)

    def table(self) -> pa.Table:
        return pa.concat_tables(self.chunk(number) for number in range(self.n_chunks))

    @property
    def n_chunks(self) -> int:
        return -(-self.events // CHUNK)

    def parquet(self, folder: Path) -> Path:
        """A Parquet file with these rows, written unless it is there."""
        path = folder / f"readings-{self.events}-{self.devices}-{self.seed}.parquet"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            with pa.parquet.ParquetWriter(unfinished, SCHEMA, compression="zstd") as writer:
                for number in range(self.n_chunks):
                    writer.write_table(self.chunk(number))
            unfinished.replace(path)
        return path
