"""The progress of a program on a stream: a line per micro-batch, or on a terminal a few lines that stay in place."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from inkling.cli.terminal.messages import counted, log, watched
from inkling.machine import size_text
from inkling.model.time import Clock

if TYPE_CHECKING:
    from inkling.spark.streaming.progress import BatchProgress

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


class ProgressView(Protocol):
    """A function that shows the progress of a micro-batch."""

    def __call__(self, progress: BatchProgress) -> None: ...


@contextmanager
def live_line(
    clock: Clock, *, quiet: bool, metrics: Path | None = None, as_json: bool = False
) -> Iterator[ProgressView]:
    """A function that shows progress while the context lasts; all numbers are appended to `metrics` as JSON lines."""
    with _lines(clock, quiet=quiet, as_json=as_json) as show:
        if metrics is None:
            yield show
            return
        with metrics.open("a", encoding="utf-8") as file:

            def show_and_write(progress: BatchProgress) -> None:
                file.write(json.dumps(progress.to_dict()) + "\n")
                file.flush()
                show(progress)

            yield show_and_write


def _lines(clock: Clock, *, quiet: bool, as_json: bool) -> AbstractContextManager[ProgressView]:
    if as_json:
        return nullcontext(lambda progress: log("batch", **progress.to_dict()))
    return _terminal(clock) if watched(quiet) else _plain(clock, quiet=quiet)


@contextmanager
def _plain(clock: Clock, *, quiet: bool) -> Iterator[ProgressView]:
    def show(progress: BatchProgress) -> None:
        if not quiet:
            print("; ".join(parts(progress, clock)), file=sys.stderr)

    yield show


@contextmanager
def _terminal(clock: Clock) -> Iterator[ProgressView]:
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    spinner = Spinner("dots", Text("waiting for the first rows"))
    with Live(spinner, console=Console(stderr=True), refresh_per_second=4, transient=True):
        yield lambda progress: spinner.update(text=Text("\n  ".join(parts(progress, clock))))


def parts(progress: BatchProgress, clock: Clock) -> list[str]:
    """The progress of a micro-batch as phrases."""
    rates = f"{progress.input_rows_per_second:,.0f}/s in, {progress.processed_rows_per_second:,.0f}/s done"
    found = ", ".join(f"{name} {n:,}{withdrawn_note(progress, name)}" for name, n in progress.matches.items())
    ahead = f" ({progress.ahead:,} too far ahead)" if progress.ahead else ""
    aside = f"{progress.late:,} late, {progress.rejects:,} rejected{ahead}"
    drift = [f"drift: {', '.join(drifts(progress))}"] if progress.drift else []
    slow = f"{progress.pressure:.0%} of micro-batches took longer than the trigger"
    return [
        f"batch {progress.batch}: {counted(progress.rows, 'row')} in {progress.seconds:.1f} s ({rates})",
        *([slow] if progress.pressure else []),
        f"state: {counted(progress.state_rows, 'row')}, {size_text(progress.state_bytes)}",
        f"watermark: {_watermark(progress, clock)}",
        f"found: {found}; {aside}",
        *drift,
    ]


def withdrawn_note(progress: BatchProgress, event: str) -> str:
    """The number of withdrawn results of an event in words, if there are any."""
    n = progress.withdrawn.get(event)
    return f" ({n:,} withdrawn)" if n else ""


def drifts(progress: BatchProgress) -> Iterator[str]:
    """The log-loss of each model in bits per event, and by how much it exceeds the log-loss on its training data."""
    for name, drift in progress.drift.items():
        if drift["loss"] is None:
            yield f"{name} v{drift['version']} not measured yet"
        else:
            excess = drift["loss"] - drift["trained"]
            alarm = ": it no longer fits" if drift["is_alarming"] else ""
            yield f"{name} v{drift['version']} {drift['loss']:.2f} bits/event ({excess:+.2f}){alarm}"


def _watermark(progress: BatchProgress, clock: Clock) -> str:
    if progress.is_finished:
        return "the end"
    if progress.watermark is None:
        return "none yet"
    if clock is Clock.TICKS:
        behind = progress.behind_latest
        return f"{progress.watermark}" + (f", {behind:,.0f} ticks behind the latest row" if behind is not None else "")
    parts = [moment(progress.watermark)]
    if progress.behind_latest is not None:
        parts.append(f"{length(progress.behind_latest)} behind the latest row")
    if progress.behind_now is not None:
        parts.append(f"{length(progress.behind_now)} behind now")
    return ", ".join(parts)


def moment(microseconds: int) -> str:
    """A point in time to the second.

    >>> moment(1_772_445_600_500_000)
    '2026-03-02T10:00:00Z'
    """
    try:
        at = EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} µs since 1970"
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def length(seconds: float) -> str:
    """A length of time in the largest unit that fits.

    >>> length(0.25), length(90), length(7200), length(-5)
    ('0.2 s', '1.5 minutes', '2.0 hours', '-5.0 s')
    """
    for unit, name in _UNITS:
        if abs(seconds) >= unit:
            return f"{seconds / unit:,.1f} {name}s"
    return f"{seconds:.1f} s"
