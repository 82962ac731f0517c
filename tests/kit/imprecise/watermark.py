"""How far time has certainly come: every event that is still to arrive lies after the watermark."""

from __future__ import annotations

from tests.kit.imprecise.case import Query, TimedEvent

NOT_YET = -(1 << 62)


class Clock:
    """`widest` is the greatest number of instants of an interval; rows that break the promise are set aside."""

    def __init__(self, widest: int) -> None:
        self.widest = widest  # U_max
        self.newest_lower = NOT_YET  # now.lower
        self.late: list[TimedEvent] = []
        self.oversized: list[TimedEvent] = []

    @property
    def watermark(self) -> int:
        return self.newest_lower - self.widest

    def admits(self, event: TimedEvent) -> bool:
        """Advance, unless the event comes too late or is too wide."""
        if event.upper - event.lower + 1 > self.widest:
            self.oversized.append(event)
            return False
        if event.lower <= self.watermark:
            self.late.append(event)
            return False
        self.newest_lower = max(self.newest_lower, event.lower)
        return True


def is_final(anchor: TimedEvent, window: int | None, reached: int) -> bool:
    """Whether nothing after `reached` can take part in a match that starts with `anchor`, or undo it."""
    return window is not None and reached >= anchor.upper + window - 1


def still_needed(event: TimedEvent, query: Query, reached: int, widest: int) -> bool:
    """Whether an event may have to do with a match that is not final yet."""
    if query.window is None:
        return True
    windows = 2 if query.absences[0] else 1
    return event.upper >= reached - windows * query.window - widest
