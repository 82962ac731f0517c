"""``python -m benchmarks.soak --minutes 30``: a stream at a steady rate, its memory, and whether it stays flat."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

import inkling
from benchmarks.harness import ROOT
from benchmarks.soak import samples
from benchmarks.soak.page import SETTLED_SHARE, Run, markdown, plot
from benchmarks.soak.samples import Sample
from benchmarks.soak.visitors import PROGRAM, SECOND_US, Visitors, file_of
from inkling.query import parse
from inkling.spark.session import spark_session
from inkling.spark.streaming.query import LiveQuery
from inkling.spark.streaming.sinks.outputs import BatchTally
from inkling.spark.streaming.sinks.protocol import FileSink

SAMPLE_S = 5.0
KEPT_FILES, KEPT_BATCHES = 60, 20
MASTER = "local[2]"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=int, default=5_000, help="events per second")
    parser.add_argument("--keys", type=int, default=20_000, help="keys at any time")
    parser.add_argument("--trigger", type=float, default=2.0, metavar="SECONDS", help="time between micro-batches")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "reference" / "soak")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-", dir=_scratch()) as scratch:
        stream = Visitors((int(time.time()) + 20) * SECOND_US, arguments.rate, arguments.keys)
        run = soak(stream, arguments.minutes, arguments.trigger, Path(scratch), arguments.output)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "README.md").write_text(markdown(run))
    (arguments.output / "soak.svg").write_text(plot(run.samples))
    print(f"written to {arguments.output}", flush=True)
    if not run.agrees:
        raise SystemExit(f"found and expected: {dict(run.counts)}")


def _scratch() -> Path:
    folder = ROOT / "out"
    folder.mkdir(exist_ok=True)
    return folder


def soak(stream: Visitors, minutes: float, trigger_s: float, scratch: Path, output: Path) -> Run:
    """Run, watch, finish, and compare what was found with what the local runner finds."""
    incoming, results, checkpoint = scratch / "incoming", scratch / "results", scratch / "checkpoint"
    incoming.mkdir()
    output.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    spark = spark_session(master=MASTER, app_name="inkling soak")
    program = parse(PROGRAM, name="soak.ink")

    def count(tally: BatchTally) -> None:
        counts.update({**tally.matches, "late": tally.late, "rejects": tally.rejects, "rows": tally.read["Visit"]})

    with _feeding(stream, incoming):
        live = program.stream(
            spark,
            {"Visit": f"{incoming}?format=parquet&maxFileAge=10m"},
            checkpoint=checkpoint,
            to=FileSink(str(results)),
            settings=inkling.StreamSettings(trigger=f"{trigger_s} seconds", on_tally=count),
        )
        taken, settled_mb = _watch(live, spark, stream, minutes, counts, scratch, output / "soak.csv")
    live.finish()
    live_mb = samples.live_heap_mb(spark)
    n_seconds = stream.n_whole_seconds(counts["rows"])
    expected = program.run_local({"Visit": stream.table(n_seconds)})
    spoken = {
        "rows": (counts["rows"], stream.n_rows(n_seconds)),
        **{event: (counts[event], len(table)) for event, table in expected.tables.items()},
        "late": (counts["late"], 0),
        "rejects": (counts["rejects"], 0),
    }
    memory = spark.conf.get("spark.driver.memory")
    spark.stop()
    return Run(minutes, trigger_s, stream, memory, taken, (settled_mb, live_mb), spoken)


def _watch(
    live: LiveQuery,
    spark: SparkSession,
    stream: Visitors,
    minutes: float,
    counts: Counter[str],
    scratch: Path,
    path: Path,
) -> tuple[list[Sample], float]:
    """Sample until the time is up, and throw away what is not needed any more; the live heap once settled, too."""
    taken: list[Sample] = []
    began, settled_mb = time.monotonic(), None
    while (passed := time.monotonic() - began) < minutes * 60:
        time.sleep(SAMPLE_S)
        if not live.query.isActive:
            live.await_end()
            raise SystemExit("the stream ended by itself")
        progress = live.progress()
        if progress is None or not progress.rows:
            continue
        taken.append(samples.take(passed, spark, progress, scratch / "checkpoint"))
        samples.write(taken, path)
        _tidy_up(scratch, stream.n_whole_seconds(counts["rows"]), progress.batch)
        if settled_mb is None and passed >= minutes * 60 * SETTLED_SHARE:
            settled_mb = samples.live_heap_mb(spark)
        print(_told(taken[-1]), flush=True)
    return taken, settled_mb or 0.0


def _tidy_up(scratch: Path, n_consumed: int, batch: int) -> None:
    """Input that has long been read, and results that nobody will look at."""
    for number in range(n_consumed - KEPT_FILES - 1, -1, -1):
        if not file_of(scratch / "incoming", number).exists():
            break
        file_of(scratch / "incoming", number).unlink()
    for folder in (scratch / "results").glob("*/batch=*"):
        if int(folder.name.partition("=")[2]) < batch - KEPT_BATCHES:
            shutil.rmtree(folder)


@contextmanager
def _feeding(stream: Visitors, folder: Path) -> Iterator[None]:
    """A process of its own, so that its memory is not taken for the stream's."""
    sizes = (stream.start_us, stream.rate, stream.visitors, stream.stay_s)
    feeder = subprocess.Popen([sys.executable, "-m", "benchmarks.soak.visitors", str(folder), *map(str, sizes)])
    try:
        yield
    finally:
        feeder.terminate()
        feeder.wait()


def _told(one: Sample) -> str:
    return (
        f"{one.seconds:6.0f} s  driver {one.driver_mb:.0f}  java {one.java_mb:.0f} ({one.heap_mb:.0f})  "
        f"{one.workers} workers {one.workers_mb:.0f} MB  state {one.state_rows} {one.state_mb:.2f} MB  "
        f"batch {one.batch}: {one.rows} rows, {one.batch_s:.2f} s, {one.behind_s:.1f} s behind  "
        f"cpu {one.cpu_seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
