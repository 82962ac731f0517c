"""Exactly once, shown by killing: what a job leaves is what it leaves undisturbed, wherever its processes die.

A driver process with two jobs is killed again and again, with everything it started, and started again; in between its
Python workers die one by one. Each job is somewhere else in its micro-batch when it happens.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from pyspark.sql import SparkSession
from tests.streaming.doors import PROGRAM, check_outputs, cut_of, random_pieces, read_files, write_files
from tests.streaming.faults import DRIVER, PATIENCE, WORKER, Faults, is_session_gone, kill_session, with_tests_on_path

import inkling

ROOT = Path(__file__).parents[2]
JOBS = ("a-1-3", "b-2-2")
N_FILES = 10
OUTPUTS = ("detour", "unheard", "errand", "meeting", "late", "rejects")


@dataclass(frozen=True, slots=True)
class Life:
    """One run of the driver, until something kills it."""

    ends: str  # a place, or a folder of the checkpoint in which something new appears
    workers_die: tuple[str, ...]  # places that a Python worker does not survive before
    after: int = 0  # micro-batches, over all jobs


LIVES = (
    Life("commits/", ("intake", "state-1-before", "write"), after=1),
    Life("write", ("state-0-after", "intake", "state-1-after"), after=1),
    Life("intake", ("state-0-before", "write"), after=1),
    Life("sink-begins", ("intake",)),
    Life("state-1-after", ("state-0-after", "write"), after=1),
    Life("sink-done", ("state-1-before", "intake"), after=1),
    Life("state/0/", ("state-1-after",)),
    Life("offsets/", ("state-0-after",)),
)


@pytest.mark.long
def test_killed_jobs_leave_what_an_undisturbed_one_leaves(spark: SparkSession, tmp_path: Path) -> None:
    assert _n_killed(spark, tmp_path, LIVES) >= 20


def _n_killed(spark: SparkSession, folder: Path, lives: tuple[Life, ...]) -> int:
    """How many processes were killed; what is left afterwards is checked."""
    pieces = random_pieces(1, N_FILES)
    write_files(pieces, folder / "in")
    calm = _run_calmly(spark, folder)
    faults, hits = Faults(folder / "faults"), Counter[str]()
    for life in lives:
        hits.update(_live_and_die(folder, life, faults))
    faults.disarm()
    with _driver(folder) as process:
        assert process.wait(PATIENCE) == 0, _log(folder)
    workers = [line for line in faults.fired() if line.startswith(WORKER)]
    _tell([f"{n} x {phase}" for phase, n in sorted(hits.items())] + [f"1 x {line}" for line in workers])
    n_alike = _n_cut_alike(folder / "calm", folder / JOBS[0])
    assert n_alike > 1
    assert _first(n_alike, _batches(folder / JOBS[0] / "out")) == _first(n_alike, calm)
    for job in JOBS:
        check_outputs(folder / job, pieces)
    return hits.total() + len(workers)


def _run_calmly(spark: SparkSession, folder: Path) -> dict[str, dict[int, list[str]]]:
    _, files_per_batch, buckets = JOBS[0].split("-")
    query = inkling.parse(PROGRAM).stream(
        spark,
        read_files(spark, folder / "in", int(files_per_batch)),
        checkpoint=folder / "calm" / "checkpoint",
        to=folder / "calm" / "out",
        settings=inkling.StreamSettings(available_now=True, buckets=int(buckets), idle_after=None),
    )
    query.await_end()
    query.finish()
    return _batches(folder / "calm" / "out")


@contextmanager
def _driver(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The driver as the leader of a session of its own, which is gone afterwards."""
    with (folder / "driver.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.streaming.crashing_driver", folder, ",".join(JOBS)],
            cwd=ROOT,
            env=with_tests_on_path(),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        while not is_session_gone(process.pid):
            kill_session(process.pid)
            time.sleep(0.01)
        process.wait()


def _live_and_die(folder: Path, life: Life, faults: Faults) -> Iterator[str]:
    """Where each job was when its driver died."""
    before = {job: _files(folder / job / "checkpoint") for job in JOBS}
    began, n_committed = time.time(), sum(_last(folder, job, "commits") for job in JOBS)
    faults.disarm()
    for place in life.workers_die:
        faults.arm(WORKER, place)
    with _driver(folder) as process:
        _until(process, lambda: sum(_last(folder, job, "commits") for job in JOBS) >= n_committed + life.after)
        if life.ends.endswith("/"):
            watched = _new_file_watch(folder, life.ends)
            _until(process, lambda: next(watched))
            kill_session(process.pid)
        else:
            faults.arm(DRIVER, life.ends)
            _until(process, lambda: process.poll() is not None)
        assert process.wait() == -signal.SIGKILL, _log(folder)
    for job in JOBS:
        yield _phase(folder, job, before[job], began)


def _log(folder: Path) -> str:
    return (folder / "driver.log").read_text()[-5000:]


def _until(process: subprocess.Popen[bytes], happens: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not happens():
        if time.monotonic() > ends:
            pytest.fail("the driver got nowhere")
        if process.poll() is not None:
            return
        time.sleep(0.002)


def _new_file_watch(folder: Path, part: str) -> Iterator[bool]:
    """Whether some job's checkpoint has a new file in one of its parts, temporary ones too."""
    places = [folder / job / "checkpoint" / "spark" / part for job in JOBS]
    known = [_files(place) for place in places]
    while True:
        yield [_files(place) for place in places] != known


def _files(folder: Path) -> set[str]:
    return {str(Path(where, name)) for where, _, names in os.walk(folder) for name in names}


def _last(folder: Path, job: str, log: str) -> int:
    """The last batch in a log of the checkpoint; -1 without one."""
    place = folder / job / "checkpoint" / "spark" / log
    files = place.iterdir() if place.exists() else ()
    return max((int(file.name) for file in files if file.name.isdigit()), default=-1)


def _phase(folder: Path, job: str, before: set[str], began: float) -> str:
    """What the checkpoint and the sink show of the micro-batch that was interrupted; what an earlier life left of it,
    it would have done again."""
    if _files(folder / job / "checkpoint") == before:
        return "starting"
    batch = _last(folder, job, "offsets")
    if batch == _last(folder, job, "commits"):
        return "between batches"
    state = folder / job / "checkpoint" / "spark" / "state"
    saved = [
        any(str(file) not in before for file in store.glob(f"{batch + 1}_*") if file.suffix in (".changelog", ".zip"))
        for store in state.glob("*/*")
        if store.name.isdigit()
    ]
    if not any(saved):
        return "intake or state update"
    if not all(saved):
        return "saving state"
    written = [place for place in (folder / job / "out").glob(f"*/batch={batch}") if place.stat().st_mtime > began]
    if not written:
        return "between state and sink"
    return "sink or commit" if all((place / "_SUCCESS").exists() for place in written) else "inside a write"


def _n_cut_alike(one: Path, other: Path) -> int:
    """How many micro-batches two jobs have in common, before one of them took in more at once."""
    pairs = zip(cut_of(one / "checkpoint"), cut_of(other / "checkpoint"), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _first(n: int, outputs: dict[str, dict[int, list[str]]]) -> dict[str, dict[int, list[str]]]:
    return {name: {batch: rows for batch, rows in found.items() if batch < n} for name, found in outputs.items()}


def _batches(out: Path) -> dict[str, dict[int, list[str]]]:
    """Every row of every output, by micro-batch, as text."""
    found = {}
    for name in OUTPUTS:
        rows = ds.dataset(out / name, format="parquet", partitioning="hive").to_table().to_pylist()
        numbers = {row["batch"] for row in rows}
        found[name] = {number: sorted(repr(row) for row in rows if row["batch"] == number) for number in numbers}
    return found


def _tell(lines: list[str]) -> None:
    sys.stdout.write("\n".join(["killed:", *lines, ""]))
