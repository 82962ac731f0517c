"""A checkpoint belongs to one running query at a time; the operating system ends the claim of a killed process."""

import fcntl
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from inkling.spark.streaming.failures import StreamError

_FILE = "in_use"


@dataclass(slots=True)
class Claim:
    """The claim of a query to a checkpoint on a file system of this machine; other file systems have none."""

    path: str
    _file: int | None = None
    is_running: Callable[[], bool] = field(default=lambda: True)

    held: ClassVar[dict[str, "Claim"]] = {}

    @classmethod
    def to(cls, checkpoint: str) -> "Claim":
        """The claim to a checkpoint; an error if another query has it."""
        path = checkpoint.removeprefix("file://")
        claim = cls(path)
        if "://" in path:
            return claim
        mine = cls.held.get(path)
        if mine is not None and not mine.is_running():
            mine.release()
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

    def release(self) -> None:
        """Give the checkpoint up; nothing happens the second time."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self.held.get(self.path) is self:
            del self.held[self.path]


def in_use(checkpoint: str, owner: str) -> StreamError:
    """The error for a checkpoint that another query uses."""
    return StreamError.of(
        "INK0581",
        f"the checkpoint `{checkpoint}` is in use" + (f" by {owner}" if owner else ""),
        notes=("two queries on one checkpoint would deliver the same micro-batches",),
        helps=("stop the other query first, or give this one its own checkpoint and its own output",),
    )
