"""The claim to a checkpoint where files have no locks, as on HDFS and object stores: a file that its owner renews.

Whoever finds the file watches it for a while: an owner that lives changes it meanwhile, and one that was killed does
not. So clocks need not agree. An owner that was suspended for longer, and finds another owner on its return, ends its
query.
"""

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.failures import in_use

FILE = "lease"
RENEWED_EVERY_S = 5.0
WATCHED_S = 3 * RENEWED_EVERY_S
SETTLED_S = 1.0
"""The time after which, of two owners that began at once, only the last one is left."""


@dataclass(slots=True)
class Lease:
    """The lease of one query on a checkpoint; a thread renews it until it is released."""

    folder: CheckpointFolder
    owner: str
    on_lost: Callable[[str], None] = field(default=lambda _: None)
    _ending: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    @classmethod
    def on(cls, folder: CheckpointFolder, checkpoint: str) -> "Lease":
        """The lease on a checkpoint; an error if another query renews one."""
        lease = cls(folder, f"process {os.getpid()} on {socket.gethostname()}, {uuid.uuid4().hex[:8]}")
        found = lease._read()
        if found and not _has_ended(_owner(found)) and lease._changes(found):
            raise in_use(checkpoint, _owner(found))
        folder.make()
        lease._renew(0)
        time.sleep(SETTLED_S)
        if (winner := _owner(lease._read())) != lease.owner:
            raise in_use(checkpoint, winner)
        lease._thread = threading.Thread(target=lease._renew_until_released, name="inkling-lease", daemon=True)
        lease._thread.start()
        return lease

    def release(self) -> None:
        """Give the checkpoint up, unless another query has taken it."""
        self._ending.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(RENEWED_EVERY_S)
        with suppress(Exception):  # Spark may have ended
            if _owner(self._read()) == self.owner:
                self.folder.remove(FILE)

    def _renew_until_released(self) -> None:
        number = 0
        while not self._ending.wait(RENEWED_EVERY_S):
            number += 1
            with suppress(Exception):  # the file system may be away for a while
                found = _owner(self._read())
                if found not in ("", self.owner):
                    self._ending.set()
                    self.on_lost(found)
                    return
                self._renew(number)

    def _renew(self, number: int) -> None:
        self.folder.overwrite(FILE, json.dumps({"owner": self.owner, "renewed": number}).encode())

    def _read(self) -> bytes:
        return self.folder.read(FILE) or b""

    def _changes(self, found: bytes) -> bool:
        """Whether somebody renews the lease."""
        until = time.monotonic() + WATCHED_S
        while time.monotonic() < until:
            time.sleep(min(SETTLED_S, WATCHED_S / 10))
            if self._read() != found:
                return True
        return False


def _owner(lease: bytes) -> str:
    """Who wrote a lease; nobody if it is not there, or is being written."""
    try:
        return str(json.loads(lease)["owner"])
    except (ValueError, KeyError, TypeError):
        return ""


def _has_ended(owner: str) -> bool:
    """Whether the owner was a process of this machine that is gone."""
    name, _, _ = owner.partition(", ")
    words = name.split()
    if len(words) != 4 or words[3] != socket.gethostname() or not words[1].isdigit():
        return False
    try:
        os.kill(int(words[1]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
