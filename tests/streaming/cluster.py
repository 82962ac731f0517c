"""A Spark cluster of several processes on this machine: a master and workers, each of which can be killed."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
from tests.streaming.faults import is_session_gone, kill_session

from inkling.caches import cache_directory
from inkling.spark.jvm.class_archive import class_archive
from inkling.spark.jvm.java import find_java
from inkling.spark.session import java_options, launch_environment

SPARK_HOME = Path(pyspark.__file__).parent
PATIENCE = 120.0


@dataclass
class Cluster:
    """A master, and workers with one core each; every one of them leads a session of its own."""

    folder: Path
    port: int
    alive: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def master(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    def start_master(self) -> None:
        here = ["--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0"]
        self._start("master", "org.apache.spark.deploy.master.Master", *here)
        ends = time.monotonic() + PATIENCE
        while not _answers(self.port):
            assert time.monotonic() < ends, "the master does not answer"
            time.sleep(0.05)

    def start_worker(self, name: str) -> int:
        """The leader of the session in which the worker and its executors run."""
        resources = ["--cores", "1", "--memory", "1g", "--webui-port", "0", "--host", "127.0.0.1"]
        folder = ["--work-dir", str(self.folder / name)]
        return self._start(name, "org.apache.spark.deploy.worker.Worker", *resources, *folder, self.master)

    def kill(self, name: str) -> None:
        process = self.alive.pop(name)
        while not is_session_gone(process.pid):
            kill_session(process.pid)
            time.sleep(0.01)
        process.wait()

    def _start(self, name: str, main: str, *arguments: str) -> int:
        java = find_java()
        archive = class_archive(java, cache_directory())
        options = quick_java_options() + (archive.reading_options() if archive.recorded else [])
        settings = launch_environment(java, cache_directory()) | {
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": shlex.join(options),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_HOME": str(SPARK_HOME),
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [SPARK_HOME / "bin" / "spark-class", main, *arguments],
                env=os.environ | settings,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.alive[name] = process
        return process.pid


def quick_java_options() -> list[str]:
    return java_options(quick=True)


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """A cluster that is gone afterwards."""
    found = Cluster(folder, _free_port())
    with ExitStack() as stack:
        stack.callback(lambda: [found.kill(name) for name in list(found.alive)])
        found.start_master()
        for number in range(workers):
            found.start_worker(f"worker-{number}")
        yield found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
