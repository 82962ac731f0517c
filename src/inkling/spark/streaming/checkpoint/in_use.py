"""A checkpoint belongs to one running query at a time.

On a file system of this machine, the claim is a lock, which the operating system ends when a process is killed.
Elsewhere it is a lease.
"""

import fcntl
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pyspark.sql import SparkSession

from inkling.spark.streaming.checkpoint.lease import Lease
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.failures import in_use

_FILE = "in_use"


@dataclass(slots=True)
class Claim:
    """The claim of a query to a checkpoint."""

    path: str
    _file: int | None = None
    _lease: Lease | None = None
    lost_to: str = ""  # the owner of another claim, which has taken the checkpoint
    is_running: Callable[[], bool] = field(default=lambda: True)

    held: ClassVar[dict[str, "Claim"]] = {}

    @classmethod
    def to(cls, checkpoint: str, spark: SparkSession | None = None) -> "Claim":
        """The claim to a checkpoint; an error if another query has it."""
        path = checkpoint.removeprefix("file://")
        claim = cls(path)
        mine = cls.held.get(path)
        if mine is not None and not mine.is_running():
            mine.release()
        if "://" in path:
            if spark is not None:
                claim._lease = Lease.on(CheckpointFolder(spark, path).inside("inkling"), path)
                cls.held[path] = claim
            return claim
        place = Path(path) / "inkling" / _FILE
        place.parent.mkdir(parents=True, exist_ok=True)
        claim._file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(claim._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(claim._file, 200).decode(errors="replace").strip()
            claim.release()
            raise in_use(path, owner) from None
        except OSError:  # a file system without locks
            return claim
        os.truncate(claim._file, 0)
        os.write(claim._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        cls.held[path] = claim
        return claim

    def when_lost(self, stop: Callable[[], None]) -> None:
        """Stop the query if another one takes its checkpoint, as it may after this process was suspended for long."""

        def lost(owner: str) -> None:
            self.lost_to = owner
            stop()

        if self._lease is not None:
            self._lease.on_lost = lost

    def require(self) -> None:
        """Raise an error if another query has taken the checkpoint."""
        if self.lost_to:
            raise in_use(self.path, self.lost_to)

    def release(self) -> None:
        """Give the checkpoint up; nothing happens the second time."""
        if self._lease is not None:
            self._lease.release()
            self._lease = None
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self.held.get(self.path) is self:
            del self.held[self.path]
