"""Finds missing files of a micro-batch, which Spark would read as if they were empty."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

from inkling.spark.streaming.checkpoint.storage import CheckpointFolder

MOST_REMOTE_FILES = 200
"""The most files of an object store that are checked; checking more would take longer than reading them."""


@dataclass(frozen=True, slots=True)
class InputFiles:
    """The files of each micro-batch, from Spark's checkpoint."""

    checkpoint: CheckpointFolder

    def missing_file(self, batch: int) -> str | None:
        """A file of this micro-batch that no longer exists."""
        files = list(self._of_batch(batch))
        here = [path for path in files if _is_local(path)]
        elsewhere = islice((path for path in files if not _is_local(path)), MOST_REMOTE_FILES)
        for path in here:
            if not Path(unquote(urlsplit(path).path)).exists():
                return unquote(urlsplit(path).path)
        for path in elsewhere:
            if not replace(self.checkpoint, path=unquote(path)).exists():
                return unquote(path)
        return None

    def _of_batch(self, batch: int) -> Iterator[str]:
        now, before = self._offsets(batch), self._offsets(batch - 1)
        for source, last in now.items():
            for entry in range(before.get(source, -1) + 1, last + 1):
                yield from self._listed(source, entry)

    def _offsets(self, batch: int) -> dict[int, int]:
        """The last entry of each source of files, in the order in which sources are numbered."""
        data = self._read("offsets", str(batch))
        found = {}
        for source, line in enumerate(data.decode().splitlines()[2:] if data else ()):
            offset = json.loads(line) if line.startswith("{") else None
            if isinstance(offset, dict) and offset.keys() == {"logOffset"}:
                found[source] = int(offset["logOffset"])
        return found

    def _listed(self, source: int, entry: int) -> Iterator[str]:
        folder = f"sources/{source}"
        data = self._read(folder, str(entry)) or self._read(folder, f"{entry}.compact") or b""
        for line in data.decode().splitlines()[1:]:
            file = json.loads(line)
            if file.get("batchId") == entry:
                yield file["path"]

    def _read(self, folder: str, name: str) -> bytes | None:
        if _is_local(self.checkpoint.path):
            file = Path(unquote(urlsplit(self.checkpoint.path).path), folder, name)
            return file.read_bytes() if file.is_file() else None
        return self.checkpoint.inside(folder).read(name)


def _is_local(path: str) -> bool:
    return urlsplit(path).scheme in ("", "file")
