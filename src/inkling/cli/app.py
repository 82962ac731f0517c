"""The commands under one name, and what becomes of errors: a message for people and an exit status for scripts."""

from __future__ import annotations

import typer

from inkling import __version__
from inkling.cli.failures import FailuresAsMessages
from inkling.cli.options import Debug

app = typer.Typer(
    name="inkling",
    cls=FailuresAsMessages,
    help="Recognizes complex events in streams.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inkling {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
    ),
    debug: Debug = False,
) -> None:
    """Recognizes complex events in streams."""


def main() -> None:
    """What the `inkling` command runs."""
    app()
