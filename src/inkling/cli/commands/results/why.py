"""`inkling why`: how far the pattern of an event got over files, and what its results depend on."""

from pathlib import Path
from typing import Annotated

import typer

from inkling.cli import options as o
from inkling.cli.inputs import load_with_files
from inkling.cli.outputs import write_rows
from inkling.cli.terminal.explanation import (
    forecast_lines,
    nowhere_lines,
    overview_lines,
    progress_lines,
    result_lines,
    tree_lines,
)
from inkling.cli.terminal.failures import interruptible
from inkling.cli.terminal.messages import counted, working
from inkling.errors import InputError
from inkling.whole_files import file_name
from inkling.why.explanation import Why
from inkling.why.forecasts import ForecastWhy
from inkling.why.uncertain import UncertainWhy

MOST_TREES = 20


def why(
    asked: o.ProgramAndFiles,
    *,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The event to explain.")],
    result: Annotated[
        str | None, typer.Option(metavar="ID[,ID…]", help="Explain the results whose lineage has these ids.")
    ] = None,
    result_number: Annotated[int | None, typer.Option(min=1, metavar="N", help="Explain the N-th result.")] = None,
    world: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the rows of the most probable world to a folder.")
    ] = None,
    precision: o.SamplingOptions,
    seed: o.WorldSeed = o.SEED,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Explain why an event has no results, or what a result depends on; runs in this process."""
    if result is not None and result_number is not None:
        raise typer.BadParameter("results are named by ids or by a number, not both", param_hint="--result-number")
    sampling = precision.sampling(seed)
    program, given = load_with_files(asked, quiet=quiet)
    with working(quiet) as say:
        interruptible()
        say("running in this process")
        explanation = program.why(event, given.streams, given.tables, sampling=sampling)
        if result is not None or result_number is not None:
            numbers = (
                [result_number] if result_number is not None else explanation.results_with((result or "").split(","))
            )
            lines = _results(explanation, event, numbers, result)
        elif isinstance(explanation, UncertainWhy):
            lines = overview_lines(explanation, event)
        else:
            lines = progress_lines(explanation.progress)
        if world is not None:
            _write_world(explanation, event, world)
    for line in lines:
        typer.echo(line)


def _write_world(explanation: Why, event: str, folder: Path) -> None:
    """One CSV file for each stream that the event depends on; a run can read them."""
    if not isinstance(explanation, UncertainWhy):
        raise InputError.of("INK0562", f"`{event}` has no possible worlds: its streams are certain")
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in explanation.most_probable_rows().items():
        write_rows(rows, str(folder / f"{file_name(name)}.csv"))


def _results(explanation: Why, event: str, numbers: list[int], ids: str | None) -> list[str]:
    is_uncertain = isinstance(explanation, UncertainWhy)
    n_results = explanation.possible.num_rows
    if isinstance(explanation, UncertainWhy) and not numbers and ids is not None:
        around = nowhere_lines(explanation, event, ids)
        if around is not None:
            return around
    if not numbers or max(numbers) > n_results:
        asked = f"number {numbers[0]}" if ids is None else f"that depends on {ids}"
        raise InputError.of(
            "INK0562",
            f"`{event}` has no result {asked}",
            notes=(f"it has {counted(n_results, 'possible result' if is_uncertain else 'result')}",),
            helps=("leave the option out to see how far the pattern got",),
        )
    lines: list[str] = []
    for number in numbers[:MOST_TREES]:
        if isinstance(explanation, UncertainWhy):
            lines += [*([""] if lines else []), *result_lines(explanation, number)]
        elif isinstance(explanation, ForecastWhy):
            lines += forecast_lines(explanation.reasons(number), explanation.tree(number))
        else:
            lines += tree_lines(explanation.tree(number))
    if len(numbers) > MOST_TREES:
        lines.append(f"and {counted(len(numbers) - MOST_TREES, 'result')} more")
    return lines
