"""`inkling replay`: writes the rows of files into a folder at their original pace, or faster."""

from pathlib import Path
from typing import Annotated

import typer

from inkling.cli.options import Debug, Quiet
from inkling.cli.terminal.failures import EXIT_INTERRUPTED, stopping_politely
from inkling.cli.terminal.messages import counted, counting


def replay(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Rows: CSV, JSON lines or Parquet.")],
    to: Annotated[str, typer.Option("--to", metavar="FOLDER", help="Output folder, which `inkling stream` can read.")],
    time: Annotated[str, typer.Option("--time", metavar="COLUMN", help="Time column; a tick is a second.")],
    speed: Annotated[float, typer.Option(min=0, metavar="X", help="Speed factor; 0 is as fast as possible.")] = 60.0,
    every: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="Write one file per this many seconds.")] = 1.0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the rows of files into a folder at their original pace, times a speed factor."""
    if "://" in to:
        raise typer.BadParameter(f"--to must be a folder, found {to}; replay writes neither to Kafka nor to tables")
    from inkling.scenarios.recording import Recording
    from inkling.scenarios.replay import replay as send

    recording = Recording.of(files, time)
    with stopping_politely() as stop, counting("replaying", quiet=quiet) as progress:
        n_sent = send(recording, Path(to), speed=speed, every=every, stopped=lambda: stop.wanted, progress=progress)
    if not quiet:
        left = len(recording.seconds) - n_sent
        rest = f", {counted(left, 'row')} left" if left else ""
        typer.echo(f"{to}: {counted(n_sent, 'row')} sent{rest}", err=True)
    if stop.interrupted:
        raise typer.Exit(EXIT_INTERRUPTED)
