"""Errors as messages: carets on stderr and an exit status, a trace only with `--debug`."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable
from itertools import takewhile
from typing import ParamSpec

import typer

from inkling.cli.messages import print_diagnostics
from inkling.errors import Diagnostic, InklingError, InternalError, ProgramError

EXIT_MISTAKE, EXIT_INPUT, EXIT_INTERNAL, EXIT_INTERRUPTED = 1, 3, 4, 130
"""Typer itself exits with 2 when the command line is wrong."""

RAISED = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception): ")
"""How the last line of a Python trace begins."""

SAID = re.compile(r"\binkling\.errors\.\w+: error\[(?P<code>INK(?!09)\d{4})\]: (?P<message>.+)")
SAID_MORE = re.compile(r"\s*= (?P<kind>note|help): (?P<text>.+)")
"""An error of inkling in the trace of a worker; what begins with INK09 is a mistake of its own."""

Options = ParamSpec("Options")


def with_messages(command: Callable[Options, None]) -> Callable[Options, None]:
    """The command; whatever it raises becomes a message and an exit status."""

    @functools.wraps(command)
    def guarded(*args: Options.args, **kwargs: Options.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except BrokenPipeError:
            _forget_stdout()
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except Exception as problem:
            if kwargs.get("debug"):
                raise
            print_diagnostics(diagnostics_of(problem))
            raise typer.Exit(exit_status(problem)) from None

    return guarded


def _told_by_worker(problem: Exception) -> Diagnostic | None:
    """What a worker on Spark said in its own words before it failed, if it did."""
    lines = iter(str(problem).splitlines())
    for line in lines:
        if found := SAID.search(line):
            more = [one for one in takewhile(bool, map(SAID_MORE.match, lines)) if one]
            by_kind = {kind: tuple(one["text"] for one in more if one["kind"] == kind) for kind in ("note", "help")}
            return Diagnostic(found["code"], found["message"], notes=by_kind["note"], helps=by_kind["help"])
    return None


def exit_status(problem: Exception) -> int:
    """1 for a mistake in the program, 3 for one in the input or the machine, 4 for one of inkling itself."""
    if not isinstance(problem, InklingError) and _told_by_worker(problem) is not None:
        return EXIT_INPUT
    match problem:
        case ProgramError():
            return EXIT_MISTAKE
        case InklingError() if not isinstance(problem, InternalError):
            return EXIT_INPUT
        case _:
            return EXIT_INTERNAL


def diagnostics_of(problem: Exception) -> tuple[Diagnostic, ...]:
    """What to say about a failure; one that nobody foresaw is a mistake of inkling."""
    if isinstance(problem, InklingError):
        return problem.diagnostics
    if (told := _told_by_worker(problem)) is not None:
        return (told,)
    return (
        Diagnostic(
            "INK0901",
            "inkling failed",
            notes=(_told(problem), "this is a bug in inkling, not in the program or its data"),
            helps=("run the same command with --debug and report what it prints",),
        ),
    )


def _told(problem: Exception) -> str:
    """The line that says what happened; for a failed worker, the last line of its trace."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    raised = [line for line in lines if RAISED.match(line)]
    if raised:
        return raised[-1]
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__


def _forget_stdout() -> None:
    """Whoever read the output has gone; Python must not try to flush the rest on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
