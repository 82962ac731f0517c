"""What waits for a partner under a consumption policy: how many events, and for how long at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inkling.logical import plan as p
from inkling.logical.binary import Choice, Node, Pair, Single, pairs_of, walk
from inkling.model.time import Span


def pairs_in(event: p.EventPlan) -> Iterator[Pair]:
    """The pairs that a policy makes of a pattern, inner ones first."""
    return (node for node in walk(pairs_of(event)) if isinstance(node, Pair))


def longest_wait(event: p.EventPlan, measure: Callable[[Span], int]) -> int | None:
    """The longest time from the start of anything stored until it can have no partner any more; None without limit."""
    longest = 0
    for pair in pairs_in(event):
        limits = [_length(window, measure) for window in pair.windows]
        limits += [] if event.keep is None else [measure(event.keep)]
        if not limits:
            return None
        longest = max(longest, min(limits))
    return longest


def n_waiting(event: p.EventPlan) -> int:
    """How many events can wait at most where one occurrence is stored on each side of a pair, for one key of each."""
    sides = [
        side for pair in pairs_in(event) for side in ((pair.left,) if pair.is_sequence else (pair.left, pair.right))
    ]
    return sum(map(_n_events, sides))


def _n_events(node: Node) -> int:
    match node:
        case Single():
            return 1
        case Choice(items=items):
            return max(map(_n_events, items))
        case Pair(left=left, right=right):
            return _n_events(left) + _n_events(right)


def _length(window: p.Window, measure: Callable[[Span], int]) -> int:
    assert not isinstance(window, p.EventCount), "limits of pairs are limits in time"
    return window.count - 1 if isinstance(window, p.Points) else measure(window)
