"""All commands under the name `inkling`."""

import atexit
import os
import sys
import traceback
from contextlib import suppress
from types import TracebackType

import typer

from inkling import __version__
from inkling.cli.commands.table import CONTEXT, Commands
from inkling.cli.terminal import failures
from inkling.masking import masked

app = typer.Typer(
    name="inkling",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings=CONTEXT,
)


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


def _print_traceback(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    """The traceback of `--debug`, without secrets of addresses."""
    typer.echo(masked("".join(traceback.format_exception(kind, problem, trace))), nl=False, err=True)


def main() -> None:
    """The entry point of the `inkling` command.

    Threads of libraries may still be running when a command is done. Finalizing the interpreter around them sometimes
    aborts, and a run that succeeded looks like a failure; so the process exits without finalizing.
    """
    sys.excepthook = _print_traceback
    failures.IS_OWN_PROCESS = True
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
