"""Failures of the machine that may pass: the work is tried again, after growing pauses."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import typer

from inkling.cli.terminal.failures import diagnostics_of
from inkling.errors import Diagnostic

PAUSES_S = (1.0, 5.0, 20.0)
"""Seconds before each new attempt; after the last one, the failure is reported."""

OF_RUNS = frozenset({"INK0591", "INK0592"})
"""Workers that died or did not start."""

OF_STREAMS = OF_RUNS | {"INK0522", "INK0571", "INK0610"}
"""The same, and brokers, databases and places for results that cannot be reached."""

Result = TypeVar("Result")


def retrying(work: Callable[[], Result]) -> Result:
    """The result of work on Spark, which is repeated if workers die or do not start."""
    retries = Retries(OF_RUNS)
    while True:
        try:
            return work()
        except Exception as problem:
            if not retries.pause_after(problem):
                raise


@dataclass(slots=True)
class Retries:
    """How often the work has failed without progress in between."""

    codes: frozenset[str]
    wanted: Callable[[], bool] = lambda: True
    pauses: tuple[float, ...] = PAUSES_S
    n_failed: int = field(default=0)

    def progressed(self) -> None:
        self.n_failed = 0

    def pause_after(self, problem: Exception) -> bool:
        """Whether to try again, after a pause that this function has waited for."""
        first = diagnostics_of(problem)[0]
        if first.code not in self.codes or self.n_failed == len(self.pauses) or not self.wanted():
            return False
        pause = self.pauses[self.n_failed]
        self.n_failed += 1
        typer.echo(
            f"{_sentence(first)}; trying again in {pause:.0f} s ({self.n_failed} of {len(self.pauses)})", err=True
        )
        until = time.monotonic() + pause
        while time.monotonic() < until:
            time.sleep(0.1)
            if not self.wanted():
                return False
        return True


def _sentence(diagnostic: Diagnostic) -> str:
    note = f": {diagnostic.notes[0]}" if diagnostic.notes else ""
    return f"{diagnostic.code}: {diagnostic.message}{note}"
