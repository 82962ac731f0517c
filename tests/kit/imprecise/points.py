"""The point-based engine: every instant of every event is an event of its own, and matches are gathered afterwards."""

from __future__ import annotations

import heapq
from typing import NamedTuple

from tests.kit.imprecise import formula
from tests.kit.imprecise.case import Outcome, Policy, Query, Results, TimedEvent
from tests.kit.imprecise.chain import Chain, forbids
from tests.kit.imprecise.formula import Times
from tests.kit.imprecise.waiting import Waiting
from tests.kit.imprecise.watermark import Clock

Point = tuple[int, TimedEvent]


class Expansion:
    """Instants of events, released in order of time as far as no earlier one can come any more."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: list[tuple[int, int, TimedEvent]] = []
        self._n_events = 0

    def push(self, event: TimedEvent) -> list[Point]:
        for instant in event.instants():
            heapq.heappush(self._waiting, (instant, self._n_events, event))
        self._n_events += 1
        return self._up_to(self._clock.watermark)

    def rest(self) -> list[Point]:
        return self._up_to(None)

    def _up_to(self, latest: int | None) -> list[Point]:
        released = []
        while self._waiting and (latest is None or self._waiting[0][0] <= latest):
            instant, _, event = heapq.heappop(self._waiting)
            released.append((instant, event))
        return released


class Partial(NamedTuple):
    shape: tuple[int, ...]
    events: tuple[TimedEvent, ...]
    times: Times


class PointEngine:
    """Copies a partial match for each point that extends it, whatever the policy; confidence sorts out the rest.

    With `latest_next`, under NEXT, points are left out after which some other event has certainly been next: NELT, the
    "next event's latest time". It spares work and decides nothing.
    """

    def __init__(self, query: Query, widest: int, *, latest_next: bool = False) -> None:
        self.query = query
        self.clock = Clock(widest)
        self.waiting = Waiting(query, self.clock, self._weigh)
        self.n_partial = self.n_complete = self.n_runs = self.peak_runs = 0
        self.latest_next = latest_next and query.policy is Policy.NEXT
        self._expansion = Expansion(self.clock)
        self._partial: list[Partial] = []

    def push(self, event: TimedEvent) -> Results:
        if not self.clock.admits(event):
            return {}
        self.waiting.see(event)
        if self.latest_next:
            self._partial = [one for one in self._partial if not self._overtaken(one, event)]
        self._match(self._expansion.push(event))
        return self.waiting.due()

    def finish(self) -> Results:
        self._match(self._expansion.rest())
        return self.waiting.due(at_end=True)

    def _match(self, points: list[Point]) -> None:
        for instant, event in points:
            self._extend(instant, event)
        if self.query.window is not None:
            alive = self.clock.watermark - self.query.window + 1
            self._partial = [one for one in self._partial if one.times[0] > alive]

    def _extend(self, instant: int, event: TimedEvent) -> None:
        made = [
            Partial((*one.shape, step), (*one.events, event), (*one.times, instant))
            for one in self._partial
            if one.times[-1] < instant and event not in one.events
            for step in self.query.next_steps(one.shape)
            if self.query.fits(event, self.query.steps[step], one.events[0])
        ]
        if self.query.fits(event, self.query.steps[0], event):
            made.append(Partial((0,), (event,), (instant,)))
        for one in made:
            if not self._fits_window(one) or (self.latest_next and self._already_overtaken(one)):
                continue
            self.n_runs += 1
            if self.query.is_complete(one.shape):
                self.n_complete += 1
                self.waiting.add(*one)
            if self.query.next_steps(one.shape):
                self.n_partial += 1
                self._partial.append(one)
        self.peak_runs = max(self.peak_runs, len(self._partial))

    def _fits_window(self, one: Partial) -> bool:
        """An instant is set aside for each step that is still missing."""
        window = self.query.window
        return window is None or one.times[-1] - one.times[0] + self.query.n_missing(one.shape) < window

    def _already_overtaken(self, one: Partial) -> bool:
        return any(self._overtaken(one, event) for event in self.waiting.stream)

    def _overtaken(self, one: Partial, event: TimedEvent) -> bool:
        """Whether an event certainly lies in a gap that selection keeps it out of."""
        return event not in one.events and any(
            event.lower > one.events[number - 1].upper
            and event.upper < one.times[number]
            and forbids(self.query, one.shape[number - 1], one.shape[number], event, one.events[0])
            for number in range(1, len(one.shape))
        )

    def _weigh(self, chain: Chain, points: list[Times]) -> Outcome | None:
        if self.latest_next:
            points = [
                times for times in points if not self._already_overtaken(Partial(chain.shape, chain.events, times))
            ]
        return formula.total(chain, points)
