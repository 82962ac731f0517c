"""All commands under the name `inkling`."""

import atexit
import os
import sys
from contextlib import suppress

import typer

from inkling import __version__
from inkling.cli.commands.examples.bench import bench
from inkling.cli.commands.examples.demo import demo
from inkling.cli.commands.examples.generate import generate
from inkling.cli.commands.examples.replay import replay
from inkling.cli.commands.models.fit import fit
from inkling.cli.commands.models.infer import infer
from inkling.cli.commands.models.model import model
from inkling.cli.commands.models.score import score
from inkling.cli.commands.programs.check import check
from inkling.cli.commands.programs.explain import explain
from inkling.cli.commands.programs.explain_error import explain_error
from inkling.cli.commands.programs.fmt import fmt
from inkling.cli.commands.results.calibrate import calibrate
from inkling.cli.commands.results.chances import chances
from inkling.cli.commands.results.run import run
from inkling.cli.commands.results.stream import stream
from inkling.cli.commands.results.why import why
from inkling.cli.options import with_groups
from inkling.cli.terminal.failures import with_messages

app = typer.Typer(
    name="inkling",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    run,
    stream,
    fit,
    score,
    check,
    explain,
    why,
    chances,
    fmt,
    demo,
    generate,
    replay,
    calibrate,
    bench,
    explain_error,
)
for command in COMMANDS:
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
    """The entry point of the `inkling` command.

    Threads of libraries may still be running when a command is done. Finalizing the interpreter around them sometimes
    aborts, and a run that succeeded looks like a failure; so the process exits without finalizing.
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
