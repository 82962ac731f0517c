"""Visitors who come, are observed and leave, so that keys appear and vanish all the time; as files, one each second.

``python -m benchmarks.soak.visitors FOLDER START_US RATE VISITORS STAY_S`` writes them until it is stopped.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

SECOND_US = 1_000_000
ARRIVAL, DEPARTURE = 100, 101
N_KINDS = 15

PROGRAM = f"""\
STREAM Visit(id BIGINT, visitor BIGINT, t TIMESTAMP, kind INT, level DOUBLE, code INT)
  ID id
  KEY visitor
  TIME t
  ORDER BY id
  LATENESS 2 SECONDS;

EVENT rise(visitor) AS
  PATTERN SEQ NEXT(
    Visit a[kind = 0 AND level > 0.5],
    Visit b[kind = 1 AND code >= 500],
    Visit c[kind = 2]
  )
  WITHIN 60 SECONDS
  PARTITION BY visitor
  PER MATCH;

EVENT stay(visitor) AS
  PATTERN SEQ NEXT(Visit[kind = {ARRIVAL}], Visit[kind = {DEPARTURE}])
  PARTITION BY visitor
  PER END;
"""
SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "visitor": pa.int64(),
        "t": pa.timestamp("us", tz="UTC"),
        "kind": pa.int32(),
        "level": pa.float64(),
        "code": pa.int32(),
    }
)


@dataclass(frozen=True, slots=True)
class Visitors:
    """Second 0 brings all visitors; from then on, as many come as leave, and `rate` rows in all."""

    start_us: int
    rate: int = 5_000
    visitors: int = 20_000
    stay_s: int = 200
    seed: int = 0

    @property
    def changes(self) -> int:
        """How many come in a second, and how many leave."""
        return self.visitors // self.stay_s

    def n_rows(self, seconds: int) -> int:
        """Rows of the first seconds."""
        return 0 if seconds == 0 else self.visitors + (seconds - 1) * self.rate

    def n_whole_seconds(self, rows: int) -> int:
        """How many seconds these many rows are."""
        return 0 if rows < self.visitors else 1 + (rows - self.visitors) // self.rate

    def second(self, number: int) -> pa.Table:
        if number == 0:
            return self._rows(number, np.arange(self.visitors), np.full(self.visitors, ARRIVAL))
        gone, come = (number - 1) * self.changes, self.visitors + (number - 1) * self.changes
        random = np.random.default_rng([self.seed, number])
        n = self.rate - 2 * self.changes
        there = random.integers(gone + self.changes, come, n)
        steps = np.arange(self.changes)
        who = np.concatenate([come + steps, there, gone + steps])
        what = np.concatenate(
            [np.full(self.changes, ARRIVAL), random.integers(0, N_KINDS, n), np.full(self.changes, DEPARTURE)]
        )
        return self._rows(number, who, what)

    def _rows(self, number: int, who: np.ndarray, what: np.ndarray) -> pa.Table:
        n, random = len(who), np.random.default_rng([self.seed, number, 1])
        columns = {
            "id": self.n_rows(number) + np.arange(n),
            "visitor": who,
            "t": self.start_us + number * SECOND_US + np.arange(n) * SECOND_US // n,
            "kind": what,
            "level": random.random(n),
            "code": random.integers(0, 1000, n),
        }
        return pa.table(columns).cast(SCHEMA)

    def table(self, seconds: int) -> pa.Table:
        """All rows of the first seconds."""
        return pa.concat_tables(self.second(number) for number in range(seconds))


def file_of(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.parquet"


def write_for_ever(stream: Visitors, folder: Path) -> None:
    """A file for each second when it is over; it appears whole."""
    number = 0
    while True:
        rows = stream.second(number)
        time.sleep(max(0.0, (stream.start_us + (number + 1) * SECOND_US) / 1e6 - time.time()))
        unfinished = folder / f".{number}"
        pa.parquet.write_table(rows, unfinished)
        unfinished.rename(file_of(folder, number))
        number += 1


if __name__ == "__main__":
    write_for_ever(Visitors(*map(int, sys.argv[2:])), Path(sys.argv[1]))
