"""An archive of Spark's classes, which a virtual machine maps into memory instead of loading them one by one.

This is application class data sharing (AppCDS) of Java, and saves more than half of the start of a session.
`inkling.spark.jvm.prepare` records an archive. Sessions use it if it exists, and start without it otherwise.
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
    """The archive of one Java and one Spark, recorded or not."""

    java: Java
    spark_jars: Path
    directory: Path

    @property
    def base(self) -> Path:
        """The archive of the Java library: the one of the runtime, or else our own recording."""
        return self.java.base_class_archive or self.directory / "java.jsa"

    @property
    def top(self) -> Path:
        """The archive of Spark's classes, on top of `base`."""
        return self.directory / "spark.jsa"

    @property
    def recorded(self) -> bool:
        """Whether the archive exists unchanged; a damaged one would crash the virtual machine."""
        try:
            return self.base.is_file() and json.loads(self._stamp.read_text()) == _state(self.top)
        except (OSError, ValueError):
            return False

    def keep(self, scratch: Path) -> None:
        """Make the file `scratch` the archive."""
        scratch.replace(self.top)
        self._stamp.write_text(json.dumps(_state(self.top)))

    @property
    def _stamp(self) -> Path:
        return self.directory / "spark.json"

    def reading_options(self) -> list[str]:
        """Options of a virtual machine that uses the archive; it ignores an archive that it cannot read."""
        return [
            f"-XX:SharedArchiveFile={self.base}{os.pathsep}{self.top}",
            "-Xshare:auto",
            f"-XX:ErrorFile={self.directory / 'crash-%p.log'}",
        ]

    def recording_options(self, scratch: Path) -> list[str]:
        """Options of a virtual machine that writes the classes it has loaded to `scratch` when it exits."""
        return [f"-XX:SharedArchiveFile={self.base}", f"-XX:ArchiveClassesAtExit={scratch}", "-Xshare:auto"]

    def record_base(self) -> None:
        """Record the classes of the Java library, if the runtime has no archive of them."""
        if self.base.is_file():
            return
        scratch = self.directory / f"java.{os.getpid()}.scratch"
        options = ["-Xshare:dump", f"-XX:SharedArchiveFile={scratch}", "-Xlog:disable"]
        subprocess.run([self.java.executable, *options], check=True, timeout=120, capture_output=True)
        scratch.replace(self.base)

    def discard(self) -> None:
        """Delete the archive."""
        for path in (self._stamp, self.top, self.directory / "java.jsa"):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    @contextmanager
    def sole_recorder(self) -> Iterator[bool]:
        """Whether this process may record; the lock is released when the process ends."""
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
    """Size and modification time, which any write changes; a checksum would take as long as the archive saves."""
    status = file.stat()
    return [status.st_size, status.st_mtime_ns]


def class_archive(java: Java, cache: Path) -> ClassArchive:
    """The archive of `java` and the installed Spark."""
    jars = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent, "jars").resolve()
    made_for = [
        str(java.home.resolve()),
        java.version,
        platform.machine(),
        pyspark.__version__,
        str(jars),
        # an archive refers to jars by their place in the class path, so a new installation needs a new archive
        jars.stat().st_mtime_ns if jars.is_dir() else None,
    ]
    key = hashlib.sha256(json.dumps(made_for).encode()).hexdigest()[:16]
    return ClassArchive(java, jars, cache / "classes" / key)


def discard_orphans(cache: Path) -> None:
    """Delete archives of a Java or a Spark that is no longer installed."""
    for made_for in (cache / "classes").glob("*/made-for.json"):
        with suppress(OSError, ValueError):
            if all(Path(path).exists() for path in json.loads(made_for.read_text()).values()):
                continue
            for path in made_for.parent.iterdir():
                path.unlink(missing_ok=True)
            made_for.parent.rmdir()
