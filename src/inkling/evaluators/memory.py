"""The memory that the events of a run may take: an event that would take more ends the run with a message.

Joins ask for room before they take it (`require_room`). What other evaluators take, nobody knows in advance: within a
budget, the operating system denies memory beyond the limit, and the error names the event that was worked on.
"""

import os
import re
import resource
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from inkling.errors import InklingError, ResourceError
from inkling.foreign_errors import foreign_diagnostic
from inkling.machine import bytes_of, data_bytes, memory_bytes, size_text, used_bytes

VARIABLE = "INKLING_MEMORY"
"""The environment variable with the most bytes that a process may take; it travels to the workers of Spark."""

CODE = "INK0590"
SHARE = 0.75
"""The share of the machine that a process may take by default."""

NEVER_CHECKED = 64 << 20
"""Smaller requests are granted at once, so that the usual run never asks."""


ALWAYS_LEFT = 256 << 20
"""What a run may take even if its process takes all of the limit already."""

_HELPS = (
    "limit how many events belong together: `WITHIN`, `PARTITION BY`, a condition `b.key = a.key`, or "
    "`SEQ NEXT`; write `{1,5}` instead of `+`; `inkling check` names what grows",
    "`--memory` sets the limit, and `--keep-complete` writes the results of the other events",
)
_EXCEEDED = re.compile(r"`(?P<event>.+)` needs more memory than the run may take")


def exceeding_event(problem: Exception) -> str | None:
    """The event that needs more memory than the run may take, if this is the error."""
    first = problem.diagnostics[0] if isinstance(problem, InklingError) else foreign_diagnostic(problem)
    found = None if first is None or first.code != CODE else _EXCEEDED.fullmatch(first.message)
    return None if found is None else found["event"]


class _Budget(threading.local):
    """What this thread works on, and the limit that its run was given."""

    event: str = ""
    limit: int | None = None


_budget = _Budget()
_lock = threading.Lock()
_within: list[tuple[int, int] | None] = []
"""The limits of the process before each context that is open now; None where it changed nothing."""


def limit_bytes(memory: str | int | None = None) -> int:
    """The most bytes that this process may take: as given, by the environment, or a share of the machine."""
    if memory is not None:
        return bytes_of(memory) if isinstance(memory, str) else memory
    if _budget.limit is not None:
        return _budget.limit
    given = os.environ.get(VARIABLE, "")
    return int(given) if given else _usual_limit()


@cache
def _usual_limit() -> int:
    return int(SHARE * memory_bytes())


def working_on(event: str) -> None:
    """From now on, what this thread takes is taken by this event."""
    _budget.event = event


@contextmanager
def within_budget(memory: str | int | None = None) -> Iterator[None]:
    """In this context, memory beyond the limit is denied, with an error that names the event that needs it.

    Parameters
    ----------
    memory
        The limit, as a number of bytes or with a unit; by default that of the environment, or a share of the machine.
    """
    before, _budget.event = (_budget.limit, _budget.event), ""
    if memory is not None:
        _budget.limit = limit_bytes(memory)
    limit, taken = limit_bytes(), used_bytes()
    _deny_beyond(limit - taken)
    is_denying = True
    try:
        yield
    except MemoryError as problem:
        _deny_nothing()
        is_denying = False
        event, reason = _budget.event, (str(problem).splitlines() or [""])[0]
        traceback.clear_frames(problem.__traceback__)  # they hold what was taken
        if not event:
            raise
        raise exceeded(event, _of_denied(limit, taken, reason)) from None
    finally:
        if is_denying:
            _deny_nothing()
        _budget.limit, _budget.event = before


def _deny_beyond(n_bytes: int) -> None:
    """Let the operating system deny more than this, where it can, in the outermost context."""
    data = data_bytes()
    with _lock:
        limits = resource.getrlimit(resource.RLIMIT_DATA)
        changes = not _within and data is not None and limits[0] == resource.RLIM_INFINITY
        _within.append(limits if changes else None)
        if changes and data is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (data + max(n_bytes, ALWAYS_LEFT), limits[1]))


def _deny_nothing() -> None:
    with _lock:
        before = _within.pop()
        if before is not None:
            resource.setrlimit(resource.RLIMIT_DATA, before)


def _of_denied(limit: int, taken: int, reason: str) -> str:
    asked = f" ({reason[0].lower()}{reason[1:].rstrip('.')})" if reason else ""
    return (
        f"its partial matches and results take all of the {size_text(max(limit - taken, ALWAYS_LEFT))} that were left "
        f"of {size_text(limit)} when the run began{asked}"
    )


def exceeded(event: str, note: str) -> ResourceError:
    """The error for an event that needs more memory than the run may take."""
    return ResourceError.of(CODE, f"`{event}` needs more memory than the run may take", notes=(note,), helps=_HELPS)


def require_rest(event: str) -> None:
    """Raise an error if this process takes more than the limit already; for work in portions.

    Arrow reserves memory long before it uses it, which the operating system cannot deny any more.
    """
    used, limit = used_bytes(), limit_bytes()
    if used > limit and _within:
        raise exceeded(
            event, f"its results so far, and all else in this process, take {size_text(used)} of {size_text(limit)}"
        )


def require_room(event: str, n_partials: int, bytes_each: int) -> None:
    """Raise an error if the partial matches of an event do not fit into the memory that is left."""
    n_bytes = n_partials * bytes_each
    if n_bytes <= NEVER_CHECKED:
        return
    used, limit = used_bytes(), limit_bytes()
    if used + n_bytes > limit:
        raise exceeded(
            event,
            f"{n_partials:,} partial matches would take {size_text(n_bytes)}; "
            f"{size_text(max(0, limit - used))} of {size_text(limit)} are left",
        )
