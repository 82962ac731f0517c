"""Small files beside a checkpoint, on any file system of Spark: this machine, HDFS, an object store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from inkling.stored import Stored, opened, sealed


@dataclass(frozen=True, slots=True)
class CheckpointFolder:
    """A folder on a file system of Hadoop."""

    spark: SparkSession
    path: str

    def inside(self, name: str) -> CheckpointFolder:
        return CheckpointFolder(self.spark, f"{self.path.rstrip('/')}/{name}")

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically; it replaces an older one."""
        system, target, hidden = self._system(), self._path(name), self._path(f".{name}.part")
        stream = system.create(hidden, True)
        try:
            stream.write(bytearray(data))
            stream.hsync()
        finally:
            stream.close()
        system.delete(target, False)
        if not system.rename(hidden, target):
            raise OSError(f"{self.path}/{name} could not be written")

    def overwrite(self, name: str, data: bytes) -> None:
        """Write a file in place; on most object stores, readers see it whole."""
        stream = self._system().create(self._path(name), True)
        try:
            stream.write(bytearray(data))
        finally:
            stream.close()

    def read(self, name: str) -> bytes | None:
        """The contents of a file, or None if it does not exist."""
        system, path = self._system(), self._path(name)
        if not system.exists(path):
            return None
        stream = system.open(path)
        try:
            return bytes(self._jvm().org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def put(self, name: str, contents: bytes, what: Stored) -> None:
        """Write a file with a checksum atomically; it replaces an older one."""
        self.write(name, sealed(contents, what))

    def get(self, name: str, what: Stored) -> bytes | None:
        """The contents of a file with a checksum, or None if it does not exist; raises an error if it is damaged."""
        data = self.read(name)
        return None if data is None else bytes(opened(data, what, f"{self.path}/{name}"))

    def has(self, name: str) -> bool:
        return bool(self._system().exists(self._path(name)))

    def remove(self, name: str) -> None:
        """Delete a file, if it exists."""
        self._system().delete(self._path(name), False)

    def remove_all(self, name: str) -> None:
        """Delete a file, or a folder with everything in it, if it exists."""
        self._system().delete(self._path(name), True)

    def names(self) -> list[str]:
        """The sorted names of files and folders; hidden ones are being written."""
        system, here = self._system(), self._path("")
        if not system.exists(here):
            return []
        found = [status.getPath().getName() for status in system.listStatus(here)]
        return sorted(name for name in found if not name.startswith("."))

    def exists(self) -> bool:
        return bool(self._system().exists(self._path("")))

    def make(self) -> None:
        self._system().mkdirs(self._path(""))

    def _jvm(self) -> Any:
        return self.spark._jvm

    def _path(self, name: str) -> Any:
        return self._jvm().org.apache.hadoop.fs.Path(f"{self.path}/{name}" if name else self.path)

    def _system(self) -> Any:
        return self._path("").getFileSystem(self.spark._jsparkSession.sessionState().newHadoopConf())
