"""The commands under one name."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress

import typer

from inkling import __version__
from inkling.cli.commands.bench import bench
from inkling.cli.commands.calibrate import calibrate
from inkling.cli.commands.check import check
from inkling.cli.commands.demo import demo
from inkling.cli.commands.explain import explain
from inkling.cli.commands.explain_error import explain_error
from inkling.cli.commands.fit import fit
from inkling.cli.commands.fmt import fmt
from inkling.cli.commands.generate import generate
from inkling.cli.commands.infer import infer
from inkling.cli.commands.model import model
from inkling.cli.commands.replay import replay
from inkling.cli.commands.run import run
from inkling.cli.commands.score import score
from inkling.cli.commands.stream import stream
from inkling.cli.commands.why import why
from inkling.cli.options import with_groups
from inkling.cli.terminal.failures import with_messages

app = typer.Typer(
    name="inkling",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    run,
    stream,
    fit,
    score,
    check,
    explain,
    why,
    fmt,
    demo,
    generate,
    replay,
    calibrate,
    bench,
    explain_error,
):
    app.command(command.__name__.replace("_", "-"))(with_messages(with_groups(command)))
app.add_typer(model, name="model")
app.add_typer(infer, name="infer")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inkling {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Recognize and forecast complex events in uncertain streams."""


def main() -> None:
    """What the `inkling` command runs.

    Threads of libraries may still be about to end when it is done. Taking the interpreter apart around them has been
    seen to abort, so that a run that had succeeded looked as if it had failed; so it is left as it is.
    """
    try:
        app()
        status: object = 0
    except SystemExit as ended:
        status = ended.code
    if isinstance(status, str):
        typer.echo(status, err=True)
    atexit._run_exitfuncs()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 0 if status is None else 1)
