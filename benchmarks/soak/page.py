"""The page that tells how a long run went."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.results import machine
from benchmarks.soak.plot import Line, Panel, svg
from benchmarks.soak.samples import Sample
from benchmarks.soak.trend import Trend
from benchmarks.soak.visitors import PROGRAM, Visitors

SETTLED_SHARE = 1 / 3
"""What a run needs to fill its windows and caches; growth is judged after that."""

FIGURES: Mapping[str, tuple[str, Callable[[Sample], float]]] = {
    "driver, Python": ("MB", lambda one: one.driver_mb),
    "driver and executor, Java": ("MB", lambda one: one.java_mb),
    "of it, objects that outlived a collection": ("MB", lambda one: one.heap_mb),
    "Python workers, sum": ("MB", lambda one: one.workers_mb),
    "Python workers, largest": ("MB", lambda one: one.largest_worker_mb),
    "state": ("MB", lambda one: one.state_mb),
    "rows and open matches in it": ("k", lambda one: one.state_rows / 1000),
    "micro-batch": ("s", lambda one: one.batch_s),
    "watermark behind the clock": ("s", lambda one: one.behind_s),
    "open files, driver": ("", lambda one: one.driver_files),
    "open files, Java": ("", lambda one: one.java_files),
    "open files, Python workers": ("", lambda one: one.worker_files),
    "checkpoint on disk": ("MB", lambda one: one.checkpoint_mb),
    "files in it": ("", lambda one: one.checkpoint_files),
}


@dataclass(frozen=True, slots=True)
class Run:
    """What was asked for, and what came of it."""

    minutes: float
    trigger_s: float
    stream: Visitors
    driver_memory: str
    samples: Sequence[Sample]
    live_heap_mb: tuple[float, float]  # when it had settled, and at the end
    counts: Mapping[str, tuple[int, int]]  # found on the stream, and expected

    @property
    def settled(self) -> Sequence[Sample]:
        after = self.samples[-1].seconds * SETTLED_SHARE
        return [one for one in self.samples if one.seconds >= after]

    def trend(self, figure: Callable[[Sample], float]) -> Trend:
        return Trend.of([one.seconds for one in self.settled], [figure(one) for one in self.settled])

    @property
    def agrees(self) -> bool:
        return all(found == expected for found, expected in self.counts.values())

    @property
    def cpu_share(self) -> float:
        """Processor time per time, once settled."""
        first, last = self.settled[0], self.settled[-1]
        return (last.cpu_seconds - first.cpu_seconds) / max(last.seconds - first.seconds, 1e-9)


def plot(samples: Sequence[Sample]) -> str:
    def line(name: str, figure: Callable[[Sample], float]) -> Line:
        return Line(name, [figure(one) for one in samples])

    return svg(
        [one.seconds / 60 for one in samples],
        [
            Panel(
                "Resident memory, MB",
                (
                    line("Java", lambda one: one.java_mb),
                    line("of it, old objects", lambda one: one.heap_mb),
                    line("Python workers, sum", lambda one: one.workers_mb),
                    line("largest worker", lambda one: one.largest_worker_mb),
                    line("driver, Python", lambda one: one.driver_mb),
                ),
            ),
            Panel(
                "Open files",
                (
                    line("Java", lambda one: one.java_files),
                    line("driver, Python", lambda one: one.driver_files),
                    line("Python workers", lambda one: one.worker_files),
                ),
            ),
            Panel("Checkpoint, MB", (line("on disk", lambda one: one.checkpoint_mb),)),
            Panel("State, MB", (line("as stored", lambda one: one.state_mb),)),
            Panel("Kept, thousands", (line("rows, open matches", lambda one: one.state_rows / 1000),)),
            Panel(
                "Seconds",
                (
                    line("micro-batch", lambda one: one.batch_s),
                    line("watermark behind clock", lambda one: one.behind_s),
                ),
            ),
        ],
    )


def markdown(run: Run) -> str:
    about, stream = machine(), run.stream
    found = "; ".join(f"{name} {counts[0]:,}" for name, counts in run.counts.items())
    missing = {name: counts for name, counts in run.counts.items() if counts[0] != counts[1]}
    verdict = (
        "as many as the local runner finds in the same rows at once"
        if run.agrees
        else f"**unlike the local runner on the same rows (found, expected): {missing}**"
    )
    settled = run.settled[0].seconds / 60
    seen = stream.visitors + (stream.n_whole_seconds(run.counts["rows"][0]) - 1) * stream.changes
    before, after = run.live_heap_mb
    return f"""\
# A long run

Written by `make soak ARGS="{_arguments(run)}"`, which lets a stream run and looks at it every few seconds.

{about["date"]}; {about["processor"]}, {about["memory"]}; python {about["python"]}, pyspark {about["pyspark"]};
`local[2]`, driver memory {run.driver_memory}, otherwise the settings that every user gets.

{stream.rate:,} events each second, a file per second, a micro-batch every {run.trigger_s:g} s or as soon as the last
one is done, results into a folder of Parquet files. {stream.visitors:,} keys are there at any time; each second
{stream.changes} come and {stream.changes} leave for good, so that {seen:,} have been seen in the end. One event has a
window of 60 seconds, the other is an automaton with one open match per key that is there.

```ink
{PROGRAM.rstrip()}
```

![Memory, open files, checkpoint, state and delays over time](soak.svg)

[All samples](soak.csv). Growth is that of a straight line through the medians of the minutes from {settled:.0f} on,
with two standard errors. It counts as flat if it does not differ significantly from zero, or if an hour of
it adds less than a twentieth.

| | begin | from minute {settled:.0f} on | end | growth per hour | |
|---|---:|---:|---:|---:|---|
{chr(10).join(_figure(run, name, unit, figure) for name, (unit, figure) in FIGURES.items())}

Live objects of Java, after a full collection: {before:.0f} MB once it had settled, {after:.0f} MB at the end. Workers
are forked from one process and share memory with it, which the sum counts once for each. All processes together used
{run.cpu_share:.2f} cores.

Delivered: {found}: {verdict}.
"""


def _arguments(run: Run) -> str:
    sizes = f"--rate {run.stream.rate} --keys {run.stream.visitors} --trigger {run.trigger_s:g}"
    return f"--minutes {run.minutes:g} {sizes}"


def _figure(run: Run, name: str, unit: str, figure: Callable[[Sample], float]) -> str:
    trend = run.trend(figure)
    sure = "" if trend.is_unknown else f"{trend.per_hour:+.2f} ± {trend.uncertainty:.2f} {unit}".rstrip()
    values = (figure(run.samples[0]), figure(run.settled[0]), figure(run.samples[-1]))
    cells = " | ".join(f"{value:.1f} {unit}".rstrip() for value in values)
    return f"| {name} | {cells} | {sure} | {trend.verdict} |"
