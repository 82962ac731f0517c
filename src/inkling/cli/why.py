"""`inkling why`: how far the pattern of an event got over files, and what its results rest on."""

from __future__ import annotations

from typing import Annotated

import typer

from inkling.cli.accounts import progress_lines, tree_lines
from inkling.cli.inputs import given_paths
from inkling.cli.messages import counted, print_diagnostics
from inkling.cli.options import Debug, ProgramFile, Quiet
from inkling.cli.progress import working
from inkling.cli.python_files import PythonFiles, import_files
from inkling.errors import InputError
from inkling.query import load

MOST_TREES = 20


def why(
    program: ProgramFile,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The event in question.", show_default=False)],
    inputs: Annotated[
        list[str],
        typer.Option(
            "--input",
            "-i",
            metavar="NAME=PATH",
            help="Rows of a stream: .csv, .jsonl, .parquet or a folder of them. "
            "A folder without NAME= holds one file per stream.",
            show_default=False,
        ),
    ],
    tables: Annotated[
        list[str],
        typer.Option("--table", "-t", metavar="NAME=PATH", help="Facts of a table.", show_default=False),
    ] = [],  # noqa: B006  (typer reads the default and never changes it)
    result: Annotated[
        str | None,
        typer.Option(
            metavar="ID[,ID…]", help="What the results rest on whose lineage has these ids.", show_default=False
        ),
    ] = None,
    result_number: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="What the N-th result rests on.", show_default=False),
    ] = None,
    python: PythonFiles = [],  # noqa: B006
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Tell why an event has no results, or what a result rests on; runs in this process."""
    if result is not None and result_number is not None:
        raise typer.BadParameter("results are named by ids or by a number, not both", param_hint="--result-number")
    import_files(python)
    loaded = load(program)
    if loaded.warnings and not quiet:
        print_diagnostics(loaded.warnings)
    given = given_paths(loaded, inputs, tables)
    with working(quiet) as say:
        say("running in this process")
        account = loaded.why(event, given.streams, given.tables)
        if result is None and result_number is None:
            lines = progress_lines(account.progress)
        else:
            numbers = [result_number] if result_number is not None else account.results_with((result or "").split(","))
            n_results = account.results.num_rows
            if not numbers or max(numbers) > n_results:
                asked = f"number {result_number}" if result_number is not None else f"that rests on {result}"
                raise InputError.of(
                    "INK0562",
                    f"`{event}` has no result {asked}",
                    notes=(f"it has {counted(n_results, 'result')}",),
                    helps=("leave the option out to see how far the pattern got",),
                )
            lines = [line for number in numbers[:MOST_TREES] for line in tree_lines(account.tree(number))]
            if len(numbers) > MOST_TREES:
                lines.append(f"and {counted(len(numbers) - MOST_TREES, 'result')} more")
    for line in lines:
        typer.echo(line)
