"""Whether results of an event depend on events that match nothing: STRICT, `_`, COMPLEMENT, WITHIN n EVENTS."""

from inkling.logical import plan as p


def only_any(pattern: p.Pattern) -> bool:
    """Whether every sequence of the pattern has the policy ANY, so that no event can prevent a match."""
    return all(part.policy is p.Policy.ANY for part in p.parts_of(pattern) if isinstance(part, p.Sequence))


def looks_at_scope(event: p.EventPlan) -> bool:
    """Whether events that match nothing can still change the result.

    STRICT, `_`, COMPLEMENT, WITHIN n EVENTS and forecasts count them; in a relation between segments, a key exists even
    if all of its segments are filtered out.
    """
    if event.forecast is not None:
        return True
    windows = [event.within]
    for part in p.parts_of(event.pattern):
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
