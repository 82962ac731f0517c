"""Matches that have been found wait here until nothing can change them, and with them the events that could."""

from __future__ import annotations

from collections.abc import Callable

from tests.kit.imprecise.case import Outcome, Query, Results, TimedEvent
from tests.kit.imprecise.chain import Chain
from tests.kit.imprecise.formula import Times
from tests.kit.imprecise.watermark import Clock, is_final, still_needed

Weigh = Callable[[Chain, list[Times]], Outcome | None]


class Waiting:
    """Signatures by their events, with the point matches that were found of them, if an engine finds these."""

    def __init__(self, query: Query, clock: Clock, weigh: Weigh) -> None:
        self.query = query
        self.clock = clock
        self.stream: list[TimedEvent] = []
        self.peak_live = 0
        self._weigh = weigh
        self._found: dict[tuple[tuple[int, ...], tuple[TimedEvent, ...]], list[Times]] = {}

    def see(self, event: TimedEvent) -> None:
        self.stream.append(event)
        self.peak_live = max(self.peak_live, len(self.stream))

    def add(self, shape: tuple[int, ...], events: tuple[TimedEvent, ...], times: Times | None = None) -> None:
        points = self._found.setdefault((shape, events), [])
        if times is not None:
            points.append(times)

    def due(self, *, reached: int | None = None, at_end: bool = False) -> Results:
        """The signatures that are final now; afterwards, what nothing can need any more is forgotten.

        An engine that holds events back has not `reached` the watermark.
        """
        if reached is None:
            reached = self.clock.watermark
        final = [
            (shape, events)
            for shape, events in self._found
            if at_end or is_final(events[0], self.query.window, reached)
        ]
        results = {}
        for shape, events in final:
            chain = Chain.of(self.query, shape, events, self.stream)
            if outcome := self._weigh(chain, self._found.pop((shape, events))):
                results[chain.signature] = outcome
        self.stream = [one for one in self.stream if still_needed(one, self.query, reached, self.clock.widest)]
        return results
