"""Engines as commands; those in Java are fetched by the names of their packages and compiled on this machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from benchmarks.peers.measure import MARK

SOURCES = Path(__file__).parent / "java"
ESPER, FLINK = "9.0.0", "2.3.0"
PROJECT = """<project><modelVersion>4.0.0</modelVersion>
<groupId>peers</groupId><artifactId>esper</artifactId><version>1</version><dependencies>
<dependency><groupId>com.espertech</groupId><artifactId>esper-compiler</artifactId><version>{version}</version></dependency>
<dependency><groupId>com.espertech</groupId><artifactId>esper-runtime</artifactId><version>{version}</version></dependency>
</dependencies></project>
"""
JAVA_OPTIONS = tuple(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util", "time"))


class MissingEngineError(Exception):
    """An engine that cannot be had on this machine, with the reason."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that is ready to run; `data` is how it is told of the readings."""

    name: str
    version: str
    command: Sequence[str]
    data: str

    def rows(self, tasks: Sequence[str]) -> list[Mapping[str, object]]:
        """The figures of the tasks, in a fresh process."""
        done = subprocess.run([*self.command, self.data, *tasks], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr[-3000:]}")
        return [json.loads(line.removeprefix(MARK)) for line in done.stdout.splitlines() if line.startswith(MARK)]


def in_python(name: str, events: int) -> Engine:
    if find_spec(name) is None:
        raise MissingEngineError(f"{name} is not installed")
    command = (sys.executable, "-m", "benchmarks.peers.measure", name)
    return Engine(name, _version(name), command, str(events))


def _version(name: str) -> str:
    return str(import_module(name).__version__)


def esper(folder: Path, data: Path) -> Engine:
    jars = folder / f"esper-{ESPER}"
    if not any(jars.glob("*.jar")):
        project = folder / "esper"
        project.mkdir(parents=True, exist_ok=True)
        (project / "pom.xml").write_text(PROJECT.format(version=ESPER))
        _run("Esper", "mvn", "-q", "-B", "-f", project, "dependency:copy-dependencies", f"-DoutputDirectory={jars}")
    return _java("Esper", ESPER, "EsperPeer", jars, folder, data)


def flink(folder: Path, data: Path) -> Engine:
    jars = folder / f"flink-{FLINK}" / "pyflink" / "lib"
    if not any(jars.glob("*.jar")):
        package = f"apache-flink-libraries=={FLINK}"
        _run(
            "Flink CEP", sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", jars.parents[1], package
        )
    return _java("Flink CEP", FLINK, "FlinkPeer", jars, folder, data)


def _java(name: str, number: str, peer: str, jars: Path, folder: Path, data: Path) -> Engine:
    classes, needed = folder / peer, f"{jars.resolve()}/*"
    sources = [SOURCES / f"{one}.java" for one in ("Readings", peer)]
    _run(name, "javac", "-nowarn", "-d", classes, "-cp", needed, *sources)
    return Engine(name, number, ("java", *JAVA_OPTIONS, "-cp", f"{classes.resolve()}:{needed}", peer), str(data))


def _run(engine: str, program: str, *arguments: object) -> None:
    if shutil.which(program) is None:
        raise MissingEngineError(f"{engine} needs `{Path(program).name}`")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise MissingEngineError(
            f"{engine}: `{Path(program).name}` failed: {(done.stderr or done.stdout).strip()[-300:]}"
        )
