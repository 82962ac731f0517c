"""Diagnostics and progress on stderr: colors and progress only on a terminal."""

import json
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from inkling.errors import Diagnostic, render
from inkling.masking import masked

STYLES = (
    (re.compile(r"^error\[INK\d{4}\]", re.MULTILINE), "1;31"),
    (re.compile(r"^warning\[INK\d{4}\]", re.MULTILINE), "1;33"),
    (re.compile(r"(?<=\| )\s*\^+.*$", re.MULTILINE), "31"),
    (re.compile(r"^ +--> .*$", re.MULTILINE), "2"),
    (re.compile(r"(?<== )(?:note|help)(?=: )"), "1;36"),
)


AS_JSON = False
"""Whether everything on stderr is a JSON object per line, for programs that collect logs."""


def log(about: str, level: str = "info", **fields: object) -> None:
    """Print a JSON object on stderr, with the time."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = json.dumps({"time": now, "level": level, "about": about, **fields}, ensure_ascii=False, default=str)
    print(masked(line), file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Print a line on stderr."""
    if AS_JSON:
        log("note", message=text)
    else:
        print(text, file=sys.stderr, flush=True)


def log_as_json() -> None:
    """From now on, everything on stderr is JSON, warnings of the library included."""
    global AS_JSON
    AS_JSON = True
    logging.basicConfig(handlers=[_JsonHandler()], level=logging.INFO, force=True)
    logging.getLogger("py4j").setLevel(logging.WARNING)


class _JsonHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        log("log", record.levelname.lower(), logger=record.name, message=record.getMessage())


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics on stderr, errors first."""
    if AS_JSON:
        for one in diagnostics:
            fields = {name: value for name, value in one.to_dict().items() if name != "severity"}
            log("diagnostic", str(one.severity), **fields)
        return
    text = render(diagnostics)
    print(colored(text) if sys.stderr.isatty() else text, file=sys.stderr)


def colored(text: str) -> str:
    """The text of diagnostics with terminal colors."""
    for words, style in STYLES:
        text = words.sub(lambda found, style=style: f"\x1b[{style}m{found[0]}\x1b[0m", text)  # type: ignore[misc]
    return text


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "event"), counted(1200, "event")
    ('1 event', '1,200 events')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def watched(quiet: bool) -> bool:
    """Whether progress is shown: stderr is a terminal, and the command is not quiet."""
    return not quiet and sys.stderr.isatty()


@contextmanager
def counting(title: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar, as a function of the work done and the total; None where progress is not shown."""
    if not watched(quiet):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield advance


@contextmanager
def working(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A spinner whose text can be changed; it shows nothing where progress is not shown."""
    if not watched(quiet):
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(text)
