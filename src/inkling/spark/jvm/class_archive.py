"""An archive of Spark's classes, which a virtual machine maps into memory instead of loading them one by one.

The Java manual calls it application class data sharing. It takes more than half off the start of a session.
`inkling.spark.jvm.prepare` records one; sessions use it when it is there and start without it when it is not.
"""

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import pyspark

from inkling.spark.jvm.java import Java


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive for one Java and one Spark, whether it has been recorded or not."""

    java: Java
    spark_jars: Path
    directory: Path

    @property
    def base(self) -> Path:
        """The Java library's classes: those the runtime brings, else our own recording of them."""
        return self.java.base_class_archive or self.directory / "java.jsa"

    @property
    def top(self) -> Path:
        """Spark's classes, on top of `base`."""
        return self.directory / "spark.jsa"

    @property
    def recorded(self) -> bool:
        """Whether the archive is there as it was recorded: a virtual machine given a damaged one crashes."""
        try:
            return self.base.is_file() and json.loads(self._stamp.read_text()) == _state(self.top)
        except (OSError, ValueError):
            return False

    def keep(self, scratch: Path) -> None:
        """Makes what was written to `scratch` the archive."""
        scratch.replace(self.top)
        self._stamp.write_text(json.dumps(_state(self.top)))

    @property
    def _stamp(self) -> Path:
        return self.directory / "spark.json"

    def reading_options(self) -> list[str]:
        """Options of a virtual machine that uses the archive; one it cannot read, it passes over."""
        return [
            f"-XX:SharedArchiveFile={self.base}{os.pathsep}{self.top}",
            "-Xshare:auto",
            f"-XX:ErrorFile={self.directory / 'crash-%p.log'}",
        ]

    def recording_options(self, scratch: Path) -> list[str]:
        """Options of a virtual machine that writes what it has loaded to `scratch` when it ends."""
        return [f"-XX:SharedArchiveFile={self.base}", f"-XX:ArchiveClassesAtExit={scratch}", "-Xshare:auto"]

    def record_base(self) -> None:
        """Records the Java library's classes for a runtime that lacks them."""
        if self.base.is_file():
            return
        scratch = self.directory / f"java.{os.getpid()}.scratch"
        options = ["-Xshare:dump", f"-XX:SharedArchiveFile={scratch}", "-Xlog:disable"]
        subprocess.run([self.java.executable, *options], check=True, timeout=120, capture_output=True)
        scratch.replace(self.base)

    def discard(self) -> None:
        """Forgets what was recorded."""
        for path in (self._stamp, self.top, self.directory / "java.jsa"):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    @contextmanager
    def sole_recorder(self) -> Iterator[bool]:
        """Whether this process is the one to record; the lock goes with the process, however that ends."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "lock").open("w") as lock:
            try:
                flock(lock, LOCK_EX | LOCK_NB)
            except OSError:
                yield False
                return
            for left_over in self.directory.glob("*.scratch"):
                left_over.unlink(missing_ok=True)
            (self.directory / "made-for.json").write_text(
                json.dumps({"java": str(self.java.home), "spark_jars": str(self.spark_jars)})
            )
            yield True


def _state(file: Path) -> list[int]:
    """Size and time of change: any write disturbs them, and a checksum would cost what the archive saves."""
    status = file.stat()
    return [status.st_size, status.st_mtime_ns]


def class_archive(java: Java, cache: Path) -> ClassArchive:
    """The archive that fits `java` and the installed Spark."""
    jars = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent, "jars").resolve()
    made_for = [
        str(java.home.resolve()),
        java.version,
        platform.machine(),
        pyspark.__version__,
        str(jars),
        # an archive knows every jar by its place in the class path, so a new installation needs a new one
        jars.stat().st_mtime_ns if jars.is_dir() else None,
    ]
    key = hashlib.sha256(json.dumps(made_for).encode()).hexdigest()[:16]
    return ClassArchive(java, jars, cache / "classes" / key)


def discard_orphans(cache: Path) -> None:
    """Removes archives of a Java or a Spark that is no longer installed."""
    for made_for in (cache / "classes").glob("*/made-for.json"):
        with suppress(OSError, ValueError):
            if all(Path(path).exists() for path in json.loads(made_for.read_text()).values()):
                continue
            for path in made_for.parent.iterdir():
                path.unlink(missing_ok=True)
            made_for.parent.rmdir()
