"""Which parts of a pattern depend on events other than their own."""

from __future__ import annotations

from collections.abc import Iterator

from inkling.logical import plan as p


def parts_of(pattern: p.Pattern) -> Iterator[p.Part]:
    """The pattern and everything inside it, absences and deadlines included."""
    yield pattern
    if isinstance(pattern, p.Sequence):
        for part in pattern.parts:
            if isinstance(part, p.Absent):
                yield part
                yield from parts_of(part.pattern)
            elif isinstance(part, p.Deadline | p.StreamStart):
                yield part
            else:
                yield from parts_of(part)
    else:
        for inner in p.sub_patterns(pattern):
            yield from parts_of(inner)


def only_any(pattern: p.Pattern) -> bool:
    """Whether every sequence of the pattern skips freely, so that no event stands in another's way."""
    return all(part.policy is p.Policy.ANY for part in parts_of(pattern) if isinstance(part, p.Sequence))


def looks_at_scope(event: p.EventPlan) -> bool:
    """Whether events that match nothing can still change the result.

    STRICT, `_`, COMPLEMENT and WITHIN n EVENTS count them, and so do forecasts; a key whose segments are all filtered
    out is still there.
    """
    if event.forecast is not None:
        return True
    windows = [event.within]
    for part in parts_of(event.pattern):
        match part:
            case p.Sequence(policy=p.Policy.STRICT) | p.OtherRun() | p.Quantified() | p.Leaf(sources=()):
                return True
            case p.Narrowed(within=within):
                windows.append(within)
            case _:
                pass
    return any(isinstance(window, p.EventCount) for window in windows)


def read_sources(event: p.EventPlan) -> tuple[str, ...]:
    """Streams and events whose rows can change the result, in name order."""
    if looks_at_scope(event):
        return event.sources
    return tuple(sorted({source for leaf in p.leaves(event.pattern) for source in leaf.sources}))
