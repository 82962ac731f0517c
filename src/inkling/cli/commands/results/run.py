"""`inkling run`: the results of a program over files, written to files and shown in a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli import options as o
from inkling.cli.execution import Execution, execute
from inkling.cli.inputs import load_with_files, recognizing
from inkling.cli.terminal.failures import EXIT_INPUT, diagnostics_of
from inkling.cli.terminal.messages import print_diagnostics, working
from inkling.errors import Diagnostic, InputError
from inkling.evaluators.memory import exceeding_event
from inkling.query import Program

if TYPE_CHECKING:
    import pyarrow as pa


def run(
    asked: o.ProgramAndFiles,
    *,
    output: Annotated[str, typer.Option("--output", "-o", metavar="PATH", help=o.FORMATS)],
    runner: o.RunnerOptions,
    layout: o.LayoutChoice = None,
    rejects: Annotated[
        str | None, typer.Option(metavar="PATH", help="File for rejected rows, with the reason.")
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write an HTML report.")] = None,
    truth: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Ground truth in result format, shown in the report.")
    ] = None,
    decided: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Results of a deterministic baseline, shown in the report.")
    ] = None,
    precision: o.SamplingOptions,
    seed: o.WorldSeed = o.SEED,
    keep_complete: Annotated[
        bool,
        typer.Option("--keep-complete", help="Write the results of the other events if one needs more than --memory."),
    ] = False,
    hidden: o.Hidden = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Run a program over files and write its results."""
    sampling = precision.sampling(seed)
    program, given = load_with_files(asked, quiet=quiet)
    program = program.with_hidden() if hidden else program
    program = recognizing(program, given.tables, quiet=quiet)
    from inkling.cli.outputs import check_output, write_tables

    for path in (output, rejects):
        if path is not None:
            check_output(path)
    with working(quiet) as say:

        def attempt(program: Program) -> Execution:
            return execute(program, given, runner, sampling, layout=layout, quiet=quiet, say=say, debug=debug)

        found, left_out = _of_events_that_fit(program, attempt) if keep_complete else (attempt(program), [])
        say("writing results")
        write_tables(found.tables, output)
        if rejects is not None:
            write_tables({"rejects": found.results.rejects}, rejects)
        if report is not None:
            say("writing the report")
            found.write_report(report, truth=compared_with(truth, found), decided=compared_with(decided, found))
    if not quiet:
        for line in found.summary():
            typer.echo(line, err=True)
    if left_out:
        print_diagnostics(left_out)
        raise typer.Exit(EXIT_INPUT)


def _of_events_that_fit(
    program: Program, attempt: Callable[[Program], Execution]
) -> tuple[Execution, list[Diagnostic]]:
    """The results without events that need too much memory and those that depend on them, and why they are missing."""
    left_out: list[Diagnostic] = []
    while True:
        try:
            return attempt(program), left_out
        except Exception as problem:
            event = exceeding_event(problem)
            if event is None:
                raise
            program = program.without_event(event)
            if not program.plan.events:
                raise
            left_out += diagnostics_of(problem)


def compared_with(path: Path | None, found: Execution) -> dict[str, pa.Table] | None:
    """The results in a file, by event, with times of the same type as in this run."""
    if path is None:
        return None
    import pyarrow.compute as pc

    from inkling.io import read_table

    rows = read_table(path, what="results")
    missing = [name for name in ("event", "end", "probability") if name not in rows.column_names]
    if missing:
        raise InputError.of(
            "INK0558",
            f"`{path}` has no column `{missing[0]}`",
            helps=("give a file of results, such as `inkling run` writes",),
        )
    tables = {}
    for name, table in found.tables.items():
        mine = rows.filter(pc.field("event") == name)
        absent = [column for column in table.column_names if column not in mine.column_names]
        if mine.num_rows and not absent:
            mine = mine.set_column(mine.column_names.index("end"), "end", mine["end"].cast(table["end"].type))
            tables[name] = mine
        else:
            tables[name] = table.slice(0, 0)
    return tables
