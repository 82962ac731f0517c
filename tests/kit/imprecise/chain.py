"""A candidate match: events for all of its steps, and what must stay out of the gaps between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tests.kit.imprecise.case import Policy, Query, Range, Signature, TimedEvent, signature_of

Blocker = tuple[TimedEvent, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Chain:
    """Region `r` lies before element `r`; region 0 before all of them, the last one after all of them.

    Each blocker is an event outside of the match with the regions that it must not fall into.
    """

    query: Query
    shape: tuple[int, ...]
    events: tuple[TimedEvent, ...]
    blockers: tuple[Blocker, ...] = ()

    @classmethod
    def of(
        cls, query: Query, shape: Sequence[int], events: Sequence[TimedEvent], stream: Iterable[TimedEvent]
    ) -> Chain:
        """A candidate among all events that may interfere."""
        if not query.has_blockers:
            return cls(query, tuple(shape), tuple(events))
        inside = set(events)
        kept_out = (
            (event, regions)
            for event in stream
            if event not in inside and (regions := tuple(_regions(query, shape, event, events[0])))
        )
        return cls(query, tuple(shape), tuple(events), tuple(kept_out))

    def __len__(self) -> int:
        return len(self.events)

    @property
    def signature(self) -> Signature:
        return signature_of(self.shape, self.events)

    @property
    def window(self) -> int:
        """The window, or one that never binds."""
        if self.query.window is not None:
            return self.query.window
        return max(event.upper for event in self.events) - self.events[0].lower + len(self.events)

    @property
    def boxes(self) -> tuple[Range, ...]:
        return tuple((event.lower, event.upper) for event in self.events)

    @property
    def full_support(self) -> bool:
        return all(event.full_support for event in self.events) and all(one.full_support for one, _ in self.blockers)

    def region(self, number: int, times: Sequence[int]) -> Range:
        """The instants of a region when the elements happened at `times`."""
        if number == 0:
            return times[-1] - self.window + 1, times[0] - 1
        if number == len(self.events):
            return times[-1] + 1, times[0] + self.window - 1
        return times[number - 1] + 1, times[number] - 1

    def reduced(self, ranges: Sequence[Range]) -> Chain:
        """Without gaps that a blocker cannot reach as long as elements are kept within `ranges`."""
        last = len(self.events)

        def reached(event: TimedEvent, region: int) -> bool:
            return region in (0, last) or (event.upper > ranges[region - 1][0] and event.lower < ranges[region][1])

        left = ((event, tuple(one for one in regions if reached(event, one))) for event, regions in self.blockers)
        return replace(self, blockers=tuple((event, regions) for event, regions in left if regions))


def forbids(query: Query, before: int, after: int, event: TimedEvent, first: TimedEvent) -> bool:
    """Whether selection keeps an event out of the gap between an element for step `before` and one for `after`."""
    match query.policy:
        case Policy.ANY:
            return False
        case Policy.NEXT:
            awaited = query.next_steps((before,)) if query.steps[before].repeated else (after,)
            return any(query.fits(event, query.steps[step], first) for step in awaited)
        case Policy.STRICT:
            return True
        case Policy.PARTITION:
            return event.key == first.key


def _regions(query: Query, shape: Sequence[int], event: TimedEvent, first: TimedEvent) -> Iterator[int]:
    def absent(step: int) -> bool:
        return any(query.fits(event, one, first) for one in query.absences[step])

    if absent(0):
        yield 0
    for number in range(1, len(shape)):
        before, after = shape[number - 1], shape[number]
        if forbids(query, before, after, event, first) or (before != after and absent(after)):
            yield number
    if absent(len(query.steps)):
        yield len(shape)
