"""What a running stream holds at one moment, in memory and in state, and how it keeps up."""

from __future__ import annotations

import csv
import gc
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import psutil
from pyspark.sql import SparkSession

from inkling.spark.streaming.progress import BatchProgress

MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Sample:
    """Megabytes are resident memory; workers share pages, which count for each of them."""

    seconds: float
    driver_mb: float
    java_mb: float
    heap_mb: float  # of it, objects that have outlived a collection of garbage
    daemon_mb: float  # the Python process that workers are forked from
    workers: int
    workers_mb: float
    largest_worker_mb: float
    cpu_seconds: float  # of all of them, since they began
    driver_files: int  # open files and sockets, as are the following
    java_files: int
    worker_files: int  # of all workers and of the process that they are forked from
    checkpoint_mb: float
    checkpoint_files: int
    batch: int
    batch_s: float
    rows: int
    state_rows: int
    state_mb: float
    behind_s: float


@dataclass(frozen=True, slots=True)
class Held:
    """Memory of one process, its processor time, and its open files."""

    mb: float
    cpu_seconds: float
    files: int


def take(seconds: float, spark: SparkSession, progress: BatchProgress, checkpoint: Path) -> Sample:
    """Look at this process, the Java virtual machine that it started, and the workers that this one started."""
    driver = psutil.Process()
    (java,) = (child for child in driver.children() if child.name() == "java")
    daemons = [child for child in _children(java) if _is_daemon(child)]
    workers = [found for daemon in daemons for child in _children(daemon) if (found := _held(child))]
    others = [found for process in daemons if (found := _held(process))]
    mine, machine = _held(driver), _held(java)
    assert mine is not None
    assert machine is not None
    n_files, megabytes = _size(checkpoint)
    return Sample(
        seconds,
        mine.mb,
        machine.mb,
        survivors_bytes(spark) / MB,
        sum(one.mb for one in others),
        len(workers),
        sum(one.mb for one in workers),
        max((one.mb for one in workers), default=0.0),
        sum(one.cpu_seconds for one in (mine, machine, *others, *workers)),
        mine.files,
        machine.files,
        sum(one.files for one in (*others, *workers)),
        megabytes,
        n_files,
        progress.batch,
        progress.seconds,
        progress.rows,
        progress.state_rows,
        progress.state_bytes / MB,
        progress.behind_now or 0.0,
    )


def survivors_bytes(spark: SparkSession) -> int:
    """Bytes on the heap that have outlived a collection of garbage, or were too large for the nursery."""
    management = spark._jvm.java.lang.management.ManagementFactory
    return sum(
        pool.getUsage().getUsed()
        for pool in management.getMemoryPoolMXBeans()
        if pool.getType().toString() == "Heap memory" and "Eden" not in pool.getName()
    )


def live_heap_mb(spark: SparkSession) -> float:
    """Megabytes on the heap that are no garbage."""
    gc.collect()  # so that this process lets go of what it holds there
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    spark._jvm.java.lang.System.gc()
    return (runtime.totalMemory() - runtime.freeMemory()) / MB


def write(samples: Iterable[Sample], path: Path) -> None:
    names = [field.name for field in fields(Sample)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for sample in samples:
            writer.writerow({name: _short(value) for name, value in asdict(sample).items()})


def read(path: Path) -> Sequence[Sample]:
    with path.open(newline="") as file:
        return [
            Sample(**{field.name: (int if field.type == "int" else float)(row[field.name]) for field in fields(Sample)})
            for row in csv.DictReader(file)
        ]


def _short(value: float) -> float | int:
    return value if isinstance(value, int) else round(value, 3)


def _children(process: psutil.Process) -> list[psutil.Process]:
    """None if it has ended in the meantime."""
    try:
        return process.children()
    except psutil.Error:
        return []


def _is_daemon(process: psutil.Process) -> bool:
    """Whether workers are forked from this process; Spark also starts short-lived ones to look at programs."""
    try:
        return any("daemon" in word for word in process.cmdline())
    except psutil.Error:
        return False


def _held(process: psutil.Process) -> Held | None:
    try:
        spent = process.cpu_times()
        # what ended children have used counts for their parent
        seconds = spent.user + spent.system + spent.children_user + spent.children_system
        return Held(process.memory_info().rss / MB, seconds, process.num_fds())
    except psutil.Error:
        return None


def _size(folder: Path) -> tuple[int, float]:
    """How many files a folder holds, and their megabytes; some vanish while one looks."""
    n_files = total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(place) / name).stat().st_size
                n_files += 1
    return n_files, total / MB
