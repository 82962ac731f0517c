"""One run of a program over files, whichever runner does it, with its results collected as Arrow tables."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inkling.cli.inputs import Given
from inkling.cli.messages import counted
from inkling.cli.options import Runner
from inkling.physical.groups import Layout
from inkling.query import Program

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from inkling.evaluators.sampling import Sampling
    from inkling.report.data import ReportTable
    from inkling.results import Results


@dataclass(frozen=True, slots=True)
class Execution:
    """What a run found and how long it took, reading and collecting included."""

    program: Program
    given: Given
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
        """Counts per event, and what was read and refused."""
        widest = max((len(name) for name in self.tables), default=0)
        for name, table in self.tables.items():
            certain = self.results.n_certain(name) if table.num_rows else None
            sure = "" if certain is None else f": {certain:,} certain, {table.num_rows - certain:,} possible"
            yield f"{name:<{widest}}  {counted(table.num_rows, 'result')}{sure}"
        read = sum(self.results.input_rows.values())
        refused = self.results.rejects.num_rows
        told = f"{counted(read, 'row')} read" + (f", {counted(refused, 'row')} refused" if refused else "")
        yield f"{told}; {self.seconds:.1f} s on {self.runner}"
        if refused:
            yield f"refused: {_example(self.results.rejects)}"
        if self.results.worlds is not None:
            yield f"probabilities: {self.results.worlds}"


def _example(rejects: pa.Table) -> str:
    """The most frequent reason why rows were refused, with one of them."""
    reasons = rejects["reason"].value_counts().to_pylist()
    most = max(reasons, key=lambda one: one["counts"])
    (row,) = rejects.take([rejects["reason"].index(most["values"]).as_py()]).to_pylist()
    more = "" if len(reasons) == 1 else f", and {counted(len(reasons) - 1, 'other reason')}"
    return f"{most['values']} in {counted(most['counts'], 'row')}{more}; in {row['stream']}: {row['detail']}"


def execute(
    program: Program,
    given: Given,
    runner: Runner,
    sampling: Sampling | None = None,
    *,
    master: str = "local[*]",
    layout: Layout | None = None,
    quick: bool = False,
    say: Callable[[str], None] = lambda _: None,
    debug: bool = False,
) -> Execution:
    """Run a program to the end and collect its results."""
    started = time.monotonic()
    if runner is Runner.LOCAL:
        say("running in this process")

        def tell(done: int, total: int) -> None:
            say(f"running in this process: {done:,} of {total:,} worlds")

        results = program.run_local(given.streams, given.tables, sampling=sampling, on_worlds=tell)
        return Execution(program, given, results, "local", time.monotonic() - started, sampling)
    spark = session(master, debug=debug, say=say, quick=quick)
    say("running on Spark")
    results = program.run(spark, given.streams, given.tables, layout=layout, sampling=sampling).collect()
    return Execution(program, given, results, f"Spark ({master})", time.monotonic() - started, sampling)


def session(
    master: str,
    *,
    debug: bool,
    say: Callable[[str], None],
    quick: bool = False,
    config: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session of Spark; what Spark itself prints is for `debug` alone."""
    say("starting Spark")
    from inkling.spark.session import spark_session

    with nullcontext() if debug else _silent_children():
        return spark_session(master=master, quick=quick, config=config)


@contextmanager
def _silent_children() -> Iterator[None]:
    """Processes started meanwhile, such as Spark's, print their errors nowhere: failures reach us as exceptions."""
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
