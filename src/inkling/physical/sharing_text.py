"""Who shares what, in words."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.physical.plan import SharedPart, Sharing


def shared_text(sharing: Sharing, event: str) -> str | None:
    """What an event has in common with others of its stage; None if nothing."""
    return "; ".join(_said(sharing, event)) or None


def largest_parts(sharing: Sharing) -> tuple[SharedPart, ...]:
    """Shared parts without those that are the beginning of a larger one of the same events."""
    return tuple(
        part
        for part in sharing.parts
        if not any(set(part.events) <= set(other.events) and _is_larger(other, part) for other in sharing.parts)
    )


def _is_larger(one: SharedPart, other: SharedPart) -> bool:
    """A whole pattern is the largest part of all."""
    return other.n_parts > 0 and (one.n_parts == 0 or one.n_parts > other.n_parts)


def _said(sharing: Sharing, event: str) -> Iterator[str]:
    twins = dict(sharing.twins)
    if event in twins:
        yield f"all its work with {twins[event]}"
    alike = [twin for twin, original in sharing.twins if original == event]
    if alike:
        yield f"all its work with {', '.join(alike)}"
    for part in largest_parts(sharing):
        if event in part.events:
            others = ", ".join(other for other in part.events if other != event)
            what = "its pattern" if part.n_parts == 0 else _first(part.n_parts)
            yield f"{what} with {others}"


def _first(n_parts: int) -> str:
    return "its first part" if n_parts == 1 else f"its first {n_parts} parts"
