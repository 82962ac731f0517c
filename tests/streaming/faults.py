"""Places in a streaming job where a process can be made to die, armed from outside while the job runs.

An armed place is a file; whoever gets there first removes it, writes down what happens next, and kills. So each fires
once, whatever is tried again afterwards. The parts of a query that get there wrap the real ones.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import Row

from inkling.spark.streaming import query as streaming
from inkling.spark.streaming.intake import IntakeTask
from inkling.spark.streaming.job import Job
from inkling.spark.streaming.processor import BucketProcessor
from inkling.spark.streaming.sinks.outputs import SinkOutput
from inkling.spark.streaming.sinks.protocol import PreparedSink, Sink, SinkStart

DRIVER, WORKER, EXECUTOR, OTHERS = "driver", "worker", "executor", "others"
"""Who dies: the driver with all it started, a Python worker, the executor it works for, or processes elsewhere."""
ALONE, JAVA = "alone", "java"
"""The Python process of the driver without all it started, or only the Java process that it started."""
PATIENCE = 900.0
"""Seconds that a driver may take on a busy machine before a test gives up."""


@dataclass(frozen=True, slots=True)
class Faults:
    """A folder of armed places, and of the record of those that fired."""

    folder: Path

    def arm(self, victim: str, place: str, session: int | None = None) -> None:
        """`session` is that of others; files appear with all they hold."""
        self.folder.mkdir(parents=True, exist_ok=True)
        hidden = self.folder / f"{victim}.{place}.part"
        hidden.write_text("" if session is None else str(session))
        hidden.rename(hidden.with_suffix(".armed"))

    def disarm(self) -> None:
        for file in self.folder.glob("*.armed"):
            file.unlink(missing_ok=True)

    def fired(self) -> list[str]:
        record = self.folder / "fired.txt"
        return record.read_text().splitlines() if record.exists() else []

    def tell(self, moment: str, batch: int) -> None:
        """Write down how far the delivery of a micro-batch is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        hidden = self.folder / ".delivery"
        hidden.write_text(f"{moment} {batch}")
        hidden.rename(self.folder / "delivery")

    def told(self) -> tuple[str, int]:
        """How far the last delivery got; batch -1 before the first."""
        file = self.folder / "delivery"
        moment, batch = file.read_text().split() if file.exists() else ("", "-1")
        return moment, int(batch)

    def reach(self, place: str) -> None:
        for victim in (WORKER, DRIVER, EXECUTOR, OTHERS, ALONE, JAVA):
            armed = self.folder / f"{victim}.{place}.armed"
            try:
                session = armed.read_text()
                armed.unlink()
            except FileNotFoundError:
                continue
            with (self.folder / "fired.txt").open("a") as record:
                record.write(f"{victim} {place}\n")
            match victim:
                case "worker":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "executor":
                    os.kill(_java_above(os.getpid()), signal.SIGKILL)
                case "alone":
                    kill_alone(os.getsid(0))
                case "java":
                    kill_java(os.getsid(0))
                case _:
                    kill_session(int(session) if session else os.getsid(0))


def kill_session(leader: int) -> None:
    """Everything that a process started as leader of a session, Java first, the caller last."""
    members = [process for process in _processes() if process.session == leader]
    for process in sorted(members, key=lambda process: (process.pid == os.getpid(), process.name != "java")):
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def kill_alone(leader: int) -> None:
    """The leader of a session, and nothing else of it."""
    os.kill(leader, signal.SIGKILL)


def kill_java(leader: int) -> None:
    """The Java process of a session."""
    for process in _processes():
        if process.session == leader and process.name == "java":
            os.kill(process.pid, signal.SIGKILL)


def kill_worker(leader: int, which: int) -> bool:
    """One of the Python workers of a session, if there are any."""
    known = {process.pid: process for process in _processes() if process.session == leader}
    daemons = {pid for pid, process in known.items() if process.parent in known and _is_java(known[process.parent])}
    workers = sorted(pid for pid, process in known.items() if process.parent in daemons)
    if workers:
        os.kill(workers[which % len(workers)], signal.SIGKILL)
    return bool(workers)


def _is_java(process: Process) -> bool:
    return process.name == "java"


def with_tests_on_path() -> dict[str, str]:
    """An environment in which other processes find these modules."""
    here = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), here]))}


def is_session_gone(leader: int) -> bool:
    return not any(process.session == leader for process in _processes())


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    name: str
    parent: int
    session: int


def _processes() -> Iterator[Process]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text()
        except OSError:
            continue
        name = text[text.index("(") + 1 : text.rindex(")")]
        state, parent, _group, session = text[text.rindex(")") + 2 :].split()[:4]
        if state != "Z":
            yield Process(int(folder.name), name, int(parent), int(session))


def _java_above(pid: int) -> int:
    """The virtual machine for which a Python worker works."""
    known = {process.pid: process for process in _processes()}
    while known[pid].name != "java":
        pid = known[pid].parent
    return pid


@dataclass(frozen=True, slots=True)
class FragileIntake:
    inner: IntakeTask
    faults: Faults

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in self.inner(batches):
            yield batch
            self.faults.reach("intake")


class FragileBuckets(BucketProcessor):
    def __init__(self, job: Job, stage: int, faults: Faults) -> None:
        super().__init__(job, stage)
        self._number, self._faults = stage, faults

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N803
        self._faults.reach(f"state-{self._number}-before")
        yield from super().handleInputRows(key, rows, timerValues)
        self._faults.reach(f"state-{self._number}-after")


@dataclass(frozen=True, slots=True)
class FragileWrite:
    faults: Faults

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            self.faults.reach("write")


@dataclass(frozen=True, slots=True)
class FragileSink:
    """Any sink, with places before, inside, between and after what is written, and a file that says where it is."""

    inner: Sink
    faults: Faults

    def begin(self, start: SinkStart) -> None:
        if isinstance(self.inner, PreparedSink):
            self.inner.begin(start)

    def deliver(self, outputs: Iterable[SinkOutput], batch: int) -> None:
        self.faults.reach("sink-begins")
        self.faults.tell("inside", batch)
        self.inner.deliver(self._one_by_one(outputs), batch)
        self.faults.tell("after", batch)
        self.faults.reach("sink-done")

    def _one_by_one(self, outputs: Iterable[SinkOutput]) -> Iterator[SinkOutput]:
        for output in outputs:
            written = output.frame.mapInArrow(FragileWrite(self.faults), output.frame.schema)
            yield replace(output, frame=written)
            self.faults.reach("sink-between")


def make_fragile(faults: Faults) -> None:
    """Queries that are started from now on pass the places that workers get to."""
    streaming.IntakeTask = lambda *args: FragileIntake(IntakeTask(*args), faults)  # type: ignore[misc,assignment]
    streaming.BucketProcessor = lambda *args: FragileBuckets(*args, faults)  # type: ignore[misc,assignment]
