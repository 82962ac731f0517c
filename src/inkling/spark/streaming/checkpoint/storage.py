"""Small files beside a checkpoint, wherever Spark can write: this machine, HDFS, an object store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that Hadoop's file systems know how to reach."""

    spark: SparkSession
    path: str

    def inside(self, name: str) -> Folder:
        return Folder(self.spark, f"{self.path.rstrip('/')}/{name}")

    def write(self, name: str, data: bytes) -> None:
        """The file appears whole or not at all, and replaces an older one."""
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

    def read(self, name: str) -> bytes | None:
        """What the file holds, or None without one."""
        system, path = self._system(), self._path(name)
        if not system.exists(path):
            return None
        stream = system.open(path)
        try:
            return bytes(self._jvm().org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def remove(self, name: str) -> None:
        """Do away with a file, if it is there."""
        self._system().delete(self._path(name), False)

    def remove_all(self, name: str) -> None:
        """Do away with a file or a folder and everything in it, if it is there."""
        self._system().delete(self._path(name), True)

    def names(self) -> list[str]:
        """Files and folders in it, in order; hidden ones are work in progress."""
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
