"""`inkling why`: how far the pattern of an event got over files, what its results rest on, and in which worlds."""

from __future__ import annotations

from typing import Annotated

import typer

from inkling.cli.accounts import nowhere_lines, overview_lines, progress_lines, result_lines, tree_lines
from inkling.cli.inputs import given_paths
from inkling.cli.messages import counted
from inkling.cli.options import (
    Debug,
    Delta,
    Epsilon,
    ExactUpTo,
    Inputs,
    ProgramFile,
    Quiet,
    Tables,
    WorldSeed,
    sampling_of,
)
from inkling.cli.programs import PythonFiles, load_program
from inkling.cli.progress import working
from inkling.errors import InputError
from inkling.why.account import Why
from inkling.why.uncertain import UncertainWhy

MOST_TREES = 20


def why(
    program: ProgramFile,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The event in question.", show_default=False)],
    inputs: Inputs,
    tables: Tables = [],  # noqa: B006  (typer reads the default and never changes it)
    result: Annotated[
        str | None,
        typer.Option(metavar="ID[,ID…]", help="Explain the results whose lineage has these ids.", show_default=False),
    ] = None,
    result_number: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Explain the N-th result.", show_default=False),
    ] = None,
    epsilon: Epsilon = 0.01,
    delta: Delta = 0.01,
    seed: WorldSeed = 0,
    exact_up_to: ExactUpTo = 1024,
    python: PythonFiles = [],  # noqa: B006
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Explain why an event has no results, or what a result depends on; runs in this process."""
    if result is not None and result_number is not None:
        raise typer.BadParameter("results are named by ids or by a number, not both", param_hint="--result-number")
    sampling = sampling_of(epsilon, delta, seed, exact_up_to)
    loaded = load_program(program, python, quiet=quiet)
    given = given_paths(loaded, inputs, tables)
    with working(quiet) as say:
        say("running in this process")
        account = loaded.why(event, given.streams, given.tables, sampling=sampling)
        if result is not None or result_number is not None:
            numbers = [result_number] if result_number is not None else account.results_with((result or "").split(","))
            lines = _results(account, event, numbers, result)
        elif isinstance(account, UncertainWhy):
            lines = overview_lines(account, event)
        else:
            lines = progress_lines(account.progress)
    for line in lines:
        typer.echo(line)


def _results(account: Why, event: str, numbers: list[int], ids: str | None) -> list[str]:
    is_uncertain = isinstance(account, UncertainWhy)
    n_results = account.possible.num_rows
    if isinstance(account, UncertainWhy) and not numbers and ids is not None:
        around = nowhere_lines(account, event, ids)
        if around is not None:
            return around
    if not numbers or max(numbers) > n_results:
        asked = f"number {numbers[0]}" if ids is None else f"that rests on {ids}"
        raise InputError.of(
            "INK0562",
            f"`{event}` has no result {asked}",
            notes=(f"it has {counted(n_results, 'possible result' if is_uncertain else 'result')}",),
            helps=("leave the option out to see how far the pattern got",),
        )
    lines: list[str] = []
    for number in numbers[:MOST_TREES]:
        if isinstance(account, UncertainWhy):
            lines += [*([""] if lines else []), *result_lines(account, number)]
        else:
            lines += tree_lines(account.tree(number))
    if len(numbers) > MOST_TREES:
        lines.append(f"and {counted(len(numbers) - MOST_TREES, 'result')} more")
    return lines
