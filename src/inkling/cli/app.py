"""The commands under one name."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress

import typer

from inkling import __version__
from inkling.cli.bench import bench
from inkling.cli.calibrate import calibrate
from inkling.cli.check import check
from inkling.cli.demo import demo
from inkling.cli.explain import explain
from inkling.cli.explain_error import explain_error
from inkling.cli.failures import with_messages
from inkling.cli.fit import fit
from inkling.cli.fmt import fmt
from inkling.cli.generate import generate
from inkling.cli.infer import infer
from inkling.cli.model import model
from inkling.cli.replay import replay
from inkling.cli.run import run
from inkling.cli.score import score
from inkling.cli.stream import stream
from inkling.cli.why import why

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
    app.command(command.__name__.replace("_", "-"))(with_messages(command))
app.add_typer(model, name="model")
app.add_typer(infer, name="infer")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inkling {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Recognizes complex events in streams that cannot be fully trusted."""


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
