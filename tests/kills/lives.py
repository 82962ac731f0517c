"""Lives of a driver, each ended by a kill: who dies, and what each stream was doing at that moment."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.kills.driver import FAILED, JOBS
from tests.streaming.faults import (
    ALONE,
    DRIVER,
    JAVA,
    WORKER,
    Faults,
    is_session_gone,
    kill_alone,
    kill_java,
    kill_session,
    kill_worker,
    with_tests_on_path,
)

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0
RARE_S = 25.0
"""A place that nothing reaches in this time is given up."""

WORKER_PLACES = {"intake": "before", "state-0-before": "before", "state-0-after": "before", "write": "inside"}
DRIVER_PLACES = ("sink-begins", "sink-between", "sink-done")
LOGS = ("offsets", "commits")
BETWEEN, BEFORE, INSIDE, AFTER = "between", "before", "inside", "after"
MOMENTS = (BETWEEN, BEFORE, INSIDE, AFTER)
"""No micro-batch was planned; it was being computed; delivered; delivered but not committed."""

VICTIMS = {DRIVER: "everything", ALONE: "driver alone", JAVA: "Java process", WORKER: "Python worker"}


@dataclass(frozen=True, slots=True)
class Kill:
    """A process that was killed, and the moments of the streams that it worked for."""

    victim: str
    moments: Mapping[str, str]


@dataclass(slots=True)
class Lives:
    """Drivers that are started and killed until enough kills were made."""

    folder: Path
    inputs: Path
    broker: str
    rng: random.Random
    kills: list[Kill] = field(default_factory=list)
    n_lives: int = 0
    overloads: int = 0  # ends because a worker did not start in time

    def faults(self, job: str) -> Faults:
        return Faults(self.folder / job / "faults")

    def live_and_die(self, say: Callable[[str], None]) -> None:
        """One driver, a few of its workers, and then the driver itself or what it needs."""
        self.n_lives += 1
        began = {job: self._last(job, "commits") for job in JOBS}
        with self._driver() as process:
            if self.rng.random() < 0.1:
                time.sleep(self.rng.uniform(0.5, 12))  # while it starts
            else:
                self._until(process, lambda: all(self._last(job, "commits") > began[job] for job in JOBS))
                for _ in range(self.rng.randrange(2, 6)):
                    self._kill_worker(process)
            if process.poll() is None:
                self._kill(process)
            elif not self._was_overloaded(process):
                raise AssertionError(f"the driver ended by itself:\n{self.log()}")
            say(str(self.kills[-1]) if self.kills else "")
        for job in JOBS:
            self.faults(job).disarm()

    def finish(self) -> None:
        """A last life that ends by itself."""
        (self.folder / "finish").touch()
        for _ in range(5):
            with self._driver() as process:
                status = process.wait(4 * PATIENCE_S)
                if status == 0:
                    return
                if not self._was_overloaded(process):
                    break
        raise AssertionError(f"the streams did not finish:\n{self.log()}")

    def _kill_worker(self, process: subprocess.Popen[bytes]) -> None:
        n_committed = sum(self._last(job, "commits") for job in JOBS)
        job, place = self.rng.choice(JOBS), self.rng.choice(list(WORKER_PLACES))
        if self.rng.random() < 0.4:
            time.sleep(self.rng.uniform(0, 2))
            moments = {job: self._moment(job) for job in JOBS}
            if kill_worker(process.pid, self.rng.randrange(1000)):
                self.kills.append(Kill(WORKER, moments))
        elif self._fires(process, job, WORKER, place):
            self.kills.append(Kill(WORKER, {job: WORKER_PLACES[place]}))
        self._until(process, lambda: sum(self._last(job, "commits") for job in JOBS) > n_committed)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        victim, job = self.rng.choice((DRIVER, ALONE, JAVA)), self.rng.choice(JOBS)
        way = self.rng.choice(("worker place", "driver place", "driver place", "log", "time"))
        if way == "time":
            time.sleep(self.rng.uniform(0, 3))
        elif way == "log":
            log = self.rng.choice(LOGS)
            before = self._last(job, log)
            self._until(process, lambda: self._last(job, log) > before)
        else:
            place = self.rng.choice(list(WORKER_PLACES) if way == "worker place" else DRIVER_PLACES)
            if self._fires(process, job, victim, place):
                self._died(process, victim)
                return
        {DRIVER: kill_session, ALONE: kill_alone, JAVA: kill_java}[victim](process.pid)
        self._died(process, victim)

    def _died(self, process: subprocess.Popen[bytes], victim: str) -> None:
        status = process.wait(PATIENCE_S)
        if victim == JAVA:
            # a driver whose Java process is gone says so and ends, unless it was killed while it still started
            assert status == FAILED, f"status {status}:\n{self.log()}"
            assert "error[INK0593]" in self.log() or "error[INK09" not in self.log(), self.log()
        else:
            assert status == -signal.SIGKILL, f"status {status}:\n{self.log()}"
        self.kills.append(Kill(victim, {job: self._moment(job) for job in JOBS}))
        if victim == ALONE and self.rng.random() < 0.5:
            assert self._wait(lambda: is_session_gone(process.pid), PATIENCE_S), "Java outlives the driver"

    def _fires(self, process: subprocess.Popen[bytes], job: str, victim: str, place: str) -> bool:
        """Whether the victim reached the place."""
        faults = self.faults(job)
        n_fired = len(faults.fired())
        faults.arm(victim, place)
        self._wait(lambda: len(faults.fired()) > n_fired or process.poll() is not None, RARE_S)
        faults.disarm()
        return len(faults.fired()) > n_fired

    def _moment(self, job: str) -> str:
        planned, committed = self._last(job, "offsets"), self._last(job, "commits")
        if planned == committed:
            return BETWEEN
        moment, batch = self.faults(job).told()
        return moment if batch == planned and moment in MOMENTS else BEFORE

    def _last(self, job: str, log: str) -> int:
        place = self.folder / job / "checkpoint" / "spark" / log
        files = place.iterdir() if place.exists() else ()
        return max((int(file.name) for file in files if file.name.isdigit()), default=-1)

    @contextmanager
    def _driver(self) -> Iterator[subprocess.Popen[bytes]]:
        """The driver as leader of a session, of which nothing is left afterwards but an orphan that dies by itself."""
        words = ["tests.kills.driver", str(self.folder), str(self.inputs), self.broker]
        with self._log_file.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=ROOT,
                env=with_tests_on_path(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            yield process
        finally:
            if process.poll() is None or not self.kills or self.kills[-1].victim != ALONE:
                while not is_session_gone(process.pid):
                    kill_session(process.pid)
                    time.sleep(0.01)
            process.wait()

    @property
    def _log_file(self) -> Path:
        return self.folder / f"driver-{self.n_lives:03d}.log"

    def log(self) -> str:
        return self._log_file.read_text(errors="replace")[-5000:]

    def _was_overloaded(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether a worker did not start within Spark's ten seconds, as happens on a machine with too much to do."""
        overloaded = process.wait(PATIENCE_S) == FAILED and "error[INK0592]" in self.log()
        self.overloads += overloaded
        return overloaded

    def _until(self, process: subprocess.Popen[bytes], happens: Callable[[], bool]) -> None:
        if not self._wait(lambda: happens() or process.poll() is not None, PATIENCE_S):
            raise AssertionError(f"the driver got nowhere:\n{self.log()}")

    @staticmethod
    def _wait(happens: Callable[[], bool], limit_s: float) -> bool:
        ends = time.monotonic() + limit_s
        while not happens():
            if time.monotonic() > ends:
                return False
            time.sleep(0.005)
        return True
