"""`inkling chances`: the probability that an event happens at least once in spans of time."""

from typing import TYPE_CHECKING, Annotated

import typer

from inkling.cli import options as o
from inkling.cli.inputs import load_with_files
from inkling.cli.outputs import check_output, write_rows
from inkling.cli.terminal.failures import interruptible
from inkling.cli.terminal.messages import working

if TYPE_CHECKING:
    import pyarrow as pa

BETWEEN = ".."


def chances(
    asked: o.ProgramAndFiles,
    *,
    event: Annotated[str, typer.Argument(metavar="EVENT", help="The event whose probability is asked for.")],
    during: Annotated[
        list[str], typer.Option(metavar="SINCE..UNTIL", help="A span of time, both ends included; may be repeated.")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the table to a file instead.")
    ] = None,
    precision: o.SamplingOptions,
    seed: o.WorldSeed = o.SEED,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Compute the probability that an event over probable streams happens at least once in each span of time."""
    if output is not None:
        check_output(output)
    spans = [_span(one) for one in during]
    sampling = precision.sampling(seed)
    program, given = load_with_files(asked, quiet=quiet)
    with working(quiet) as say:
        interruptible()
        say("running in this process")
        found = program.chances_during(event, given.streams, spans, given.tables, sampling=sampling)
    if output is None:
        _print(found)
    else:
        write_rows(found, output, "chances")


def _span(text: str) -> tuple[str, str]:
    since, between, until = (part.strip() for part in text.partition(BETWEEN))
    if not (since and between and until):
        raise typer.BadParameter(f"`{text}` is not a span; write `10..20`", param_hint="--during")
    return since, until


def _print(found: "pa.Table") -> None:
    from rich.console import Console
    from rich.table import Table

    from inkling.cli.terminal.explanation import text_of

    table = Table()
    for name in found.column_names:
        table.add_column(name, justify="right" if name in ("probability", "error") else "left")
    for row in found.to_pylist():
        table.add_row(*(f"{value:.6g}" if isinstance(value, float) else text_of(value) for value in row.values()))
    Console().print(table)
