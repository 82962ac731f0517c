"""The memory that partial matches may take: an event that would take more ends the run with a message."""

import os
import re
from functools import cache

from inkling.errors import InklingError, ResourceError
from inkling.foreign_errors import foreign_diagnostic
from inkling.machine import memory_bytes, size_text, used_bytes

VARIABLE = "INKLING_MEMORY"
"""The environment variable with the most bytes that a process may take; it travels to the workers of Spark."""

CODE = "INK0590"
SHARE = 0.75
"""The share of the machine that a process may take by default."""

NEVER_CHECKED = 64 << 20
"""Smaller requests are granted at once, so that the usual run never asks."""


_EXCEEDED = re.compile(r"`(?P<event>.+)` needs more memory than the run may take")


def exceeding_event(problem: Exception) -> str | None:
    """The event that needs more memory than the run may take, if this is the error."""
    first = problem.diagnostics[0] if isinstance(problem, InklingError) else foreign_diagnostic(problem)
    found = None if first is None or first.code != CODE else _EXCEEDED.fullmatch(first.message)
    return None if found is None else found["event"]


def limit_bytes() -> int:
    """The most bytes that this process may take."""
    given = os.environ.get(VARIABLE, "")
    return int(given) if given else _usual_limit()


@cache
def _usual_limit() -> int:
    return int(SHARE * memory_bytes())


def require_room(event: str, n_partials: int, bytes_each: int) -> None:
    """Raise an error if the partial matches of an event do not fit into the memory that is left."""
    n_bytes = n_partials * bytes_each
    if n_bytes <= NEVER_CHECKED:
        return
    used, limit = used_bytes(), limit_bytes()
    if used + n_bytes > limit:
        raise ResourceError.of(
            CODE,
            f"`{event}` needs more memory than the run may take",
            notes=(
                f"{n_partials:,} partial matches would take {size_text(n_bytes)}; "
                f"{size_text(max(0, limit - used))} of {size_text(limit)} are left",
            ),
            helps=(
                "limit how many events belong together: `WITHIN`, `PARTITION BY`, a condition `b.key = a.key`, or "
                "`SEQ NEXT`; write `{1,5}` instead of `+`; `inkling check` names what grows",
                "`--memory` sets the limit, and `--keep-complete` writes the results of the other events",
            ),
        )
