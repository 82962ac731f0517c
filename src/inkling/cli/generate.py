"""`inkling generate`: seeded data for a scenario, with known episodes in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.messages import counted, counting
from inkling.cli.options import Debug, Events, Quiet, Seed
from inkling.errors import InputError, nearest
from inkling.examples import NAMES


def generate(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"One of {', '.join(NAMES)}.")],
    folder: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")],
    events: Events = 100_000,
    keys: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Vehicles, roads, shares and the like.", show_default=False),
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the streams, tables and truth of a scenario into a folder."""
    require_scenario(name)
    from inkling.generate import write

    with counting(f"generating {name}", quiet=quiet) as progress:
        truth = write(name, folder, events=events, keys=keys, seed=seed, progress=progress)
    if not quiet:
        rows = ", ".join(f"{stream} {counted(n_rows, 'row')}" for stream, n_rows in truth.rows.items())
        typer.echo(f"{folder}: {rows}", err=True)


def require_scenario(name: str) -> None:
    if name not in NAMES:
        close = nearest(name, NAMES, n=1)
        raise InputError.of(
            "INK0551",
            f"no scenario is called `{name}`",
            helps=(f"write `{close[0]}`" if close else f"choose one of {', '.join(NAMES)}",),
        )
