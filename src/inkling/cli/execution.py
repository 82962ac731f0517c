"""One run of a program over files, on Spark or in this process, with its results as Arrow tables."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inkling.cli.inputs import GivenInputs
from inkling.cli.options import MASTER, Runner, RunnerOptions
from inkling.cli.terminal.failures import interruptible
from inkling.cli.terminal.messages import counted, note
from inkling.cli.terminal.retries import retrying
from inkling.cli.where_to_run import decide
from inkling.extras import require
from inkling.io.normalize import unit_of
from inkling.physical.groups import TaskLayout
from inkling.query import Program

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from inkling.evaluators.sampling import Sampling
    from inkling.report.data import ReportTable
    from inkling.results import Results


@dataclass(frozen=True, slots=True)
class Execution:
    """The results of a run, and how long it took, reading and collecting included."""

    program: Program
    given: GivenInputs[Path]
    results: Results
    runner: str
    seconds: float
    sampling: Sampling | None = None

    @property
    def tables(self) -> Mapping[str, pa.Table]:
        return self.results.tables

    def write_report(
        self,
        path: Path,
        extra: tuple[ReportTable, ...] = (),
        truth: Mapping[str, pa.Table] | None = None,
        decided: Mapping[str, pa.Table] | None = None,
    ) -> None:
        from inkling.report import write_report
        from inkling.report.from_results import report_data

        data = report_data(
            self.program,
            self.results,
            self.given.streams,
            self.given.tables,
            runner=self.runner,
            seconds=self.seconds,
            sampling=self.sampling,
            extra=extra,
            truth=truth,
            decided=decided,
        )
        write_report(data, path)

    def summary(self) -> Iterator[str]:
        """The number of results per event, and of rows read and rejected."""
        widest = max((len(name) for name in self.tables), default=0)
        for name, table in self.tables.items():
            certain = self.results.n_certain(name) if table.num_rows else None
            sure = "" if certain is None else f": {certain:,} certain, {table.num_rows - certain:,} possible"
            yield f"{name:<{widest}}  {counted(table.num_rows, 'result')}{sure}"
        read = sum(self.results.input_rows.values())
        rejected = self.results.rejects.num_rows
        summary = f"{counted(read, 'row')} read" + (f", {counted(rejected, 'row')} rejected" if rejected else "")
        yield f"{summary}; {self.seconds:.1f} s on {self.runner}"
        if rejected:
            yield f"rejected: {_example(self.results.rejects)}"
            help = _epoch_help(self.results.rejects)
            if help is not None:
                yield help
        if self.results.worlds is not None:
            yield f"probabilities: {self.results.worlds}"


_EPOCH = re.compile(r"`(?P<column>[^`]+)` is '?(?P<number>\d{9,19})'?, expected a timestamp")


def _epoch_help(rejects: pa.Table) -> str | None:
    """The declaration to write when a TIMESTAMP column holds numbers of a unit since 1970."""
    for row in rejects.select(["stream", "detail"]).slice(0, 100).to_pylist():
        found = _EPOCH.search(row["detail"] or "")
        unit = None if found is None else unit_of(int(found["number"]))
        if found is not None and unit is not None:
            return (
                f"help: if the numbers in `{found['column']}` count {unit.lower()} since 1970, "
                f"add `EPOCH {unit}` to the declaration of `{row['stream']}`"
            )
    return None


def _example(rejects: pa.Table) -> str:
    """The most frequent reason why rows were rejected, with one of them."""
    reasons = rejects["reason"].value_counts().to_pylist()
    most = max(reasons, key=lambda one: one["counts"])
    (row,) = rejects.take([rejects["reason"].index(most["values"]).as_py()]).to_pylist()
    more = "" if len(reasons) == 1 else f", and {counted(len(reasons) - 1, 'other reason')}"
    return f"{most['values']} in {counted(most['counts'], 'row')}{more}; in {row['stream']}: {row['detail']}"


def execute(
    program: Program,
    given: GivenInputs[Path],
    runner: RunnerOptions,
    sampling: Sampling | None = None,
    *,
    layout: TaskLayout | None = None,
    quick: bool = False,
    quiet: bool = False,
    say: Callable[[str], None] = lambda _: None,
    debug: bool = False,
) -> Execution:
    """Run a program to the end and collect its results."""
    started = time.monotonic()
    runner = decided(runner, given, layout, quiet=quiet)
    spark = session_at(runner, debug=debug, say=say, quick=quick)
    if spark is None:
        say("running in this process")

        def report(done: int, total: int) -> None:
            say(f"running in this process: {done:,} of {total:,} worlds")

        results = program.run_local(given.streams, given.tables, sampling=sampling, on_worlds=report, on_phase=say)
    else:
        say("running on Spark")

        def run() -> Results:
            found = program.run(spark, given.streams, given.tables, layout=layout, sampling=sampling)
            return found.collect(on_phase=lambda phase: say(f"on Spark: {phase}"))

        results = retrying(run)
    return Execution(program, given, results, str(runner), time.monotonic() - started, sampling)


def decided(
    asked: RunnerOptions, given: GivenInputs[Path], layout: TaskLayout | None = None, *, quiet: bool
) -> RunnerOptions:
    """The options with a runner; a line on stderr says which and why if the command line leaves it open."""
    runner, reason = decide(asked, [*given.streams.values(), *given.tables.values()], layout)
    if reason is not None and not quiet:
        note(reason)
    return runner


def session_at(
    runner: RunnerOptions, *, debug: bool, say: Callable[[str], None], quick: bool = False
) -> SparkSession | None:
    """A Spark session, or None if the work is done in this process."""
    if runner.runner is Runner.LOCAL:
        interruptible()
        return None
    return session(runner.master or MASTER, debug=debug, say=say, quick=quick)


def session(
    master: str,
    *,
    debug: bool,
    say: Callable[[str], None],
    quick: bool = False,
    config: Mapping[str, str] | None = None,
) -> SparkSession:
    """A Spark session; the output of Spark itself is shown with `debug` only."""
    say("starting Spark")
    require("pyspark")
    from inkling.spark.session import spark_session

    with nullcontext() if debug else _silent_children():
        return spark_session(master=master, quick=quick, config=config)


@contextmanager
def _silent_children() -> Iterator[None]:
    """Discards the stderr of processes started in this context, such as Spark; their failures are exceptions."""
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
