"""Whether matches are different results by construction, so that nobody has to compare them."""

from __future__ import annotations

from inkling.logical import plan as p
from inkling.model.batch import EventBatch


def all_differ(pattern: p.Pattern, batch: EventBatch) -> bool:
    """Whether no two matches have the same events.

    A sequence of single events is followed in one way by any events; but two rows may stand for one event, one for
    each fact that a table supplies.
    """
    one_row_per_event = not len(batch) or int(batch.event[-1]) == len(batch) - 1
    return one_row_per_event and _single_events(pattern)


def _single_events(pattern: p.Pattern) -> bool:
    match pattern:
        case p.Leaf():
            return True
        case p.Narrowed(pattern=inner):
            return _single_events(inner)
        case p.Sequence(parts=parts):
            return all(isinstance(part, p.Leaf | p.Absent | p.Deadline | p.StreamStart) for part in parts)
        case _:
            return False
