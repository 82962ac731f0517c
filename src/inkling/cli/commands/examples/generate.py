"""`inkling generate`: the seeded data of a scenario, with known episodes in it."""

from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.commands.examples.data import require_scenario
from inkling.cli.options import SEED, DataSeed, Debug, Events, Quiet
from inkling.cli.terminal.messages import counted, counting
from inkling.examples import NAMES


def generate(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"One of {', '.join(NAMES)}.")],
    folder: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Output folder.")],
    events: Events = 100_000,
    keys: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of keys, such as vehicles, roads or shares.")
    ] = None,
    seed: DataSeed = SEED,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the streams, tables and ground truth of a scenario to a folder."""
    require_scenario(name)
    from inkling.scenarios import write

    with counting(f"generating {name}", quiet=quiet) as progress:
        truth = write(name, folder, events=events, keys=keys, seed=seed, progress=progress)
    if not quiet:
        rows = ", ".join(f"{stream} {counted(n_rows, 'row')}" for stream, n_rows in truth.rows.items())
        typer.echo(f"{folder}: {rows}", err=True)
