"""Readings that arrive as files, each one micro-batch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from benchmarks.streams import SECOND_US, STREAM, Readings
from inkling.query import Program, parse

STEPS = "Reading[kind = 0 AND level > 0.5], Reading[kind = 1 AND code >= 500], Reading[kind = 2]"
FITS = "kind = 0 AND level > 0.5 OR kind = 1 AND code >= 500 OR kind = 2"


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Files with so many readings each."""

    per_file: tuple[int, ...]
    devices: int
    seed: int = 0

    def __str__(self) -> str:
        sizes = sorted(set(self.per_file))
        return (
            f"{len(self.per_file)} files of {' or '.join(f'{size:,}' for size in sizes)} readings of "
            f"{self.devices:,} devices, seed {self.seed}"
        )

    @property
    def readings(self) -> Readings:
        return Readings(sum(self.per_file), self.devices, self.seed)

    def folder(self, place: Path) -> Path:
        """A folder with the files, oldest first; written unless it is there."""
        sizes = "-".join(f"{self.per_file.count(size)}x{size}" for size in dict.fromkeys(self.per_file))
        folder = place / f"arrivals-{sizes}-{self.devices}-{self.seed}"
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            unfinished.mkdir(parents=True, exist_ok=True)
            rows, first = self.readings.table(), 0
            for number, size in enumerate(self.per_file):
                file = unfinished / f"{number:04d}.parquet"
                pa.parquet.write_table(rows.slice(first, size), file)
                os.utime(file, (number + 1, number + 1))
                first += size
            unfinished.rename(folder)
        return folder

    def guesses(self, place: Path) -> Path:
        """A folder with as many files of a small uncertain stream: every thousandth reading, as a guess."""
        readings = self.folder(place)
        folder = readings.with_name(f"{readings.name}-guesses")
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            unfinished.mkdir(parents=True, exist_ok=True)
            for number, source in enumerate(sorted(readings.glob("*.parquet"))):
                rows = pa.parquet.read_table(source)
                some = rows.take(pa.array(range(0, len(rows), 1000)))
                chance = pa.array([0.5] * len(some))
                file = unfinished / source.name
                pa.parquet.write_table(some.select(["id", "device", "t", "kind"]).append_column("p", chance), file)
                os.utime(file, (number + 1, number + 1))
            unfinished.rename(folder)
        return folder

    @property
    def window_us(self) -> int:
        """The time that the largest file covers."""
        return max(self.per_file) * SECOND_US // self.devices

    def automaton(self) -> Program:
        """Where the three steps end, whenever that is."""
        return parse(f"{STREAM}EVENT found(device) AS PATTERN SEQ NEXT({STEPS}) PARTITION BY device PER END;")

    def five(self, *, beside: bool) -> Program:
        """Five certain events of each device, alone or beside an uncertain stream and its event."""
        steps = [STEPS.replace("500", str(500 + number)) for number in range(5)]
        events = [
            f"EVENT found{number}(device) AS PATTERN SEQ NEXT({one}) PARTITION BY device PER END;\n"
            for number, one in enumerate(steps)
        ]
        return parse("".join([STREAM, *events, GUESS if beside else ""]))

    def windowed(self) -> Program:
        """Every match of the three steps inside a window."""
        limit = f"WITHIN {self.window_us} MICROSECONDS"
        return parse(f"{STREAM}EVENT found(device) AS PATTERN SEQ NEXT({STEPS}) {limit} PARTITION BY device PER MATCH;")


EVENT = "found"

GUESS = """\
STREAM Guess(id BIGINT, device BIGINT, t TIMESTAMP, kind INT, p DOUBLE) ID id KEY device TIME t PROBABILITY p;
EVENT guessed(device) AS PATTERN SEQ(Guess a[kind = 0], Guess b[kind = 1]) PARTITION BY device PER END;
"""
