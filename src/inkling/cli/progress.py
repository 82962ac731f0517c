"""Progress on stderr, and only when a person is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def watched(quiet: bool) -> bool:
    """Whether somebody sees what is written to stderr."""
    return not quiet and sys.stderr.isatty()


@contextmanager
def counting(title: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar that is told how much of how much is done; None when nobody watches."""
    if not watched(quiet):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None)

        def told(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield told


@contextmanager
def working(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A spinner whose text can be changed; silent when nobody watches."""
    if not watched(quiet):
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(text)
