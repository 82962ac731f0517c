"""Wall time, processor time and memory of this process and all processes it started."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from resource import RUSAGE_CHILDREN, getrusage
from typing import Generic, TypeVar

import psutil
import pyarrow as pa

Answer = TypeVar("Answer")

LONG_S = 30.0


@dataclass(frozen=True, slots=True)
class Measured(Generic[Answer]):
    """What a call returned and what it cost."""

    answer: Answer
    seconds: float
    cpu_seconds: float


def measured(call: Callable[[], Answer]) -> Measured[Answer]:
    """Run something once."""
    processor = ProcessorTime()
    started = time.perf_counter()
    answer = call()
    seconds = time.perf_counter() - started
    return Measured(answer, seconds, processor.seconds())


class ProcessorTime:
    """Processor time of the whole family of processes from now on."""

    def __init__(self) -> None:
        self._before = _processor_seconds()

    def seconds(self) -> float:
        # a process that began in between counts in full
        return sum(spent - self._before.get(pid, 0.0) for pid, spent in _processor_seconds().items())


def best_of(repeats: int, *calls: Callable[[], Answer]) -> list[Measured[Answer]]:
    """The least of several runs of each call, which take turns so that a busy machine hinders all alike.

    What takes long is run once: it decides nothing by a few tenths.
    """
    runs = [[measured(call)] for call in calls]
    for _ in range(repeats - 1):
        for call, done in zip(calls, runs, strict=True):
            if done[0].seconds < LONG_S:
                done.append(measured(call))
    return [_best(done) for done in runs]


def _best(runs: Sequence[Measured[Answer]]) -> Measured[Answer]:
    seconds = min(run.seconds for run in runs)
    cpu_seconds = min(run.cpu_seconds for run in runs)
    return Measured(runs[0].answer, seconds, cpu_seconds)


def load_average() -> float:
    """Processes that wanted to run in the last minute, this one included."""
    return os.getloadavg()[0]


def on_one_core(call: Callable[[], Answer]) -> Answer:
    """Run something on a single core: one thread of Arrow, and no other core for any thread where the system can."""
    threads = pa.cpu_count()
    pa.set_cpu_count(1)
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    if allowed:
        os.sched_setaffinity(0, {max(allowed)})
    try:
        return call()
    finally:
        pa.set_cpu_count(threads)
        if allowed:
            os.sched_setaffinity(0, allowed)


class WorkerMemory:
    """The most memory that any one Python worker of Spark holds while this is watched."""

    INTERVAL_S = 0.05

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._stop = threading.Event()
        self._watch = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> WorkerMemory:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._watch.join()

    def _sample(self) -> None:
        while not self._stop.wait(self.INTERVAL_S):
            held = (_resident_bytes(process) for process in _family() if _is_python_worker(process))
            self.peak_bytes = max(self.peak_bytes, *held, 0)


def _family() -> list[psutil.Process]:
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def _processor_seconds() -> dict[int, float]:
    me, *others = _family()
    seconds = {}
    for process in others:
        try:
            spent = process.cpu_times()
        except psutil.Error:
            continue
        seconds[process.pid] = spent.user + spent.system
    # of this process more is known than hundredths of a second, and what its ended children spent
    ended = getrusage(RUSAGE_CHILDREN)
    return seconds | {me.pid: time.process_time() + ended.ru_utime + ended.ru_stime}


def _is_python_worker(process: psutil.Process) -> bool:
    try:
        return process.pid != os.getpid() and "python" in process.name()
    except psutil.Error:
        return False


def _resident_bytes(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0
