"""Failures of a command as messages on stderr and an exit status; a traceback only with `--debug`.

Ctrl-C is a request to stop: work that must not be interrupted asks `StopRequest` whether to continue.
"""

import functools
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import ParamSpec

import typer

from inkling.cli.terminal.messages import print_diagnostics
from inkling.errors import Diagnostic, InklingError, InternalError, ProgramError
from inkling.evaluators.interrupts import is_interrupt
from inkling.foreign_errors import foreign_diagnostic

EXIT_ERROR, EXIT_INPUT, EXIT_INTERNAL, EXIT_INTERRUPTED = 1, 3, 4, 130
"""Typer itself exits with 2 when the command line is wrong."""

RAISED = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception): ")
"""The beginning of the last line of a Python traceback."""

IS_OWN_PROCESS = False
"""Whether this process runs one command and nothing else, so that a command may decide how it ends."""


def interruptible() -> None:
    """Answer Ctrl-C within a second, also while a compiled loop runs."""
    if IS_OWN_PROCESS:
        from inkling.evaluators.interrupts import answer_within_a_second

        answer_within_a_second()


Options = ParamSpec("Options")


def with_messages(command: Callable[Options, None]) -> Callable[Options, None]:
    """The command, with every exception turned into a message and an exit status."""

    @functools.wraps(command)
    def guarded(*args: Options.args, **kwargs: Options.kwargs) -> None:
        if IS_OWN_PROCESS:
            logging.getLogger().addFilter(_is_no_interrupt)
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except BrokenPipeError:
            _discard_stdout()
        except KeyboardInterrupt:
            raise _interrupted() from None
        except Exception as problem:
            if is_interrupt(problem):
                raise _interrupted() from None  # the interrupt came while a compiled loop returned
            if kwargs.get("debug"):
                raise
            print_diagnostics(diagnostics_of(problem))
            raise typer.Exit(exit_status(problem)) from None

    return guarded


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    """Whether a message of the log is about anything but Ctrl-C, of which py4j prints a traceback."""
    return not (record.exc_info and is_interrupt(record.exc_info[1]))


def _interrupted() -> typer.Exit:
    signal.alarm(0)
    typer.echo("interrupted", err=True)
    return typer.Exit(EXIT_INTERRUPTED)


def exit_status(problem: Exception) -> int:
    """1 for an error in the program, 3 for one in the input or the machine, 4 for a bug in inkling."""
    if not isinstance(problem, InklingError) and foreign_diagnostic(problem) is not None:
        return EXIT_INPUT
    match problem:
        case ProgramError():
            return EXIT_ERROR
        case InklingError() if not isinstance(problem, InternalError):
            return EXIT_INPUT
        case _:
            return EXIT_INTERNAL


def diagnostics_of(problem: Exception) -> tuple[Diagnostic, ...]:
    """The diagnostics of a failure; an unexpected exception is a bug in inkling."""
    if isinstance(problem, InklingError):
        return problem.diagnostics
    if (reported := foreign_diagnostic(problem)) is not None:
        return (reported,)
    return (
        Diagnostic(
            "INK0901",
            "inkling failed",
            notes=(_summary(problem), "this is a bug in inkling, not in the program or its data"),
            helps=("run the same command with --debug and report what it prints",),
        ),
    )


def _summary(problem: Exception) -> str:
    """The line that names the exception; for a failed worker, the last line of its traceback."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    raised = [line for line in lines if RAISED.match(line)]
    if raised:
        return raised[-1]
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__


def _discard_stdout() -> None:
    """The reader of the output is gone, so Python must not flush the remaining output on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass(slots=True)
class StopRequest:
    """Whether the user asked the command to stop, and by which signal."""

    signal: int | None = None
    may_wait: bool = True

    @contextmanager
    def not_waiting(self) -> Iterator[None]:
        """In this context, Ctrl-C interrupts at once: nothing has begun that must end in order."""
        self.may_wait = False
        try:
            yield
        finally:
            self.may_wait = True

    @property
    def wanted(self) -> bool:
        return self.signal is not None

    @property
    def interrupted(self) -> bool:
        return self.signal == signal.SIGINT


@contextmanager
def stopping_politely() -> Iterator[StopRequest]:
    """In this context, Ctrl-C and SIGTERM only set the request to stop; a second Ctrl-C interrupts at once."""
    stop = StopRequest()

    def note(number: int, frame: FrameType | None) -> None:
        again, stop.signal = stop.interrupted, number
        if number == signal.SIGINT and (again or not stop.may_wait):
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
