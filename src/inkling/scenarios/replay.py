"""Replay of recorded files: rows are sent again with their original delays, divided by a speed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from inkling.scenarios.recording import Recording

MOST_ROWS = 100_000
"""The most rows of a piece."""

PATIENCE = 0.25
"""Seconds between checks of `stopped` while no piece is due."""

_TICK = 0.002
"""The least difference, in seconds, of modification times of pieces, so that readers see their order."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows ``first`` to ``stop`` - 1, which are sent ``due`` seconds after the beginning."""

    first: int
    stop: int
    due: float


class Timer(Protocol):
    """Protocol: a clock that can sleep, replaced in tests."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class WallClock:
    """The monotonic system clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def pieces(
    seconds: npt.NDArray[np.float64], *, speed: float, every: float, most_rows: int = MOST_ROWS
) -> Iterator[Piece]:
    """The pieces of a replay: rows that are due within ``every`` seconds are sent when the last of them is due.

    ``seconds`` are the times of rows, NaN if a row has none. Rows keep their order in the file: a row that is out of
    order or has no time is sent with the row before it. At speed 0, all rows are due at once.

    >>> list(pieces(np.array([0.0, 30.0, 20.0, 600.0]), speed=60, every=1))
    [Piece(first=0, stop=3, due=0.5), Piece(first=3, stop=4, due=10.0)]
    """
    if speed < 0 or every < 0 or most_rows < 1:
        raise ValueError(f"speed and every are at least 0, got {speed=}, {every=}, {most_rows=}")
    latest = np.fmax.accumulate(seconds) if len(seconds) else seconds
    known = latest[~np.isnan(latest)]
    due = np.zeros(len(seconds))
    if speed and len(known):
        due = np.nan_to_num(latest - known[0], nan=0.0) / speed
    first = 0
    while first < len(due):
        stop = int(np.searchsorted(due, due[first] + every, side="right"))
        stop = min(stop, first + most_rows)
        yield Piece(first, stop, float(due[stop - 1]))
        first = stop


def replay(
    recording: Recording,
    to: Path | Callable[[int, int], None],
    *,
    speed: float = 60.0,
    every: float = 1.0,
    clock: Timer | None = None,
    stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Sends rows to a folder, or to a function of their first and last number, piece by piece; returns their number.

    Every piece is sent completely.
    """
    clock = WallClock() if clock is None else clock
    send = _into(recording, to) if isinstance(to, Path) else to
    began, n_sent = clock.now(), 0
    for piece in pieces(recording.seconds, speed=speed, every=every):
        while not stopped() and (early := began + piece.due - clock.now()) > 0:
            clock.sleep(min(early, PATIENCE))
        if stopped():
            break
        send(piece.first, piece.stop)
        n_sent = piece.stop
        if progress is not None:
            progress(n_sent, len(recording.seconds))
    return n_sent


def _into(recording: Recording, folder: Path) -> Callable[[int, int], None]:
    target = Folder.of(folder, recording.suffix)

    def send(first: int, stop: int) -> None:
        target.send(lambda path: recording.write(first, stop, path))

    return send


@dataclass(slots=True)
class Folder:
    """A folder that receives complete files, with ascending names and modification times."""

    path: Path
    suffix: str
    n_files: int
    last_written: float = 0.0

    @classmethod
    def of(cls, path: Path, suffix: str) -> Folder:
        """The folder, created if needed; names continue after the files of an earlier replay."""
        path.mkdir(parents=True, exist_ok=True)
        numbers = [int(one.name.split(".")[0]) for one in path.iterdir() if one.name.split(".")[0].isdecimal()]
        return cls(path, suffix, max(numbers, default=0))

    def send(self, write: Callable[[Path], None]) -> Path:
        self.n_files += 1
        file = self.path / f"{self.n_files:08d}{self.suffix}"
        unfinished = self.path / f".{file.name}.unfinished"
        try:
            write(unfinished)
            self.last_written = max(unfinished.stat().st_mtime, self.last_written + _TICK)
            os.utime(unfinished, (self.last_written, self.last_written))
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)
        return file
